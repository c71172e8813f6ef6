/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/inference.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define RESAMPLES 2000
#define POWER	  0.8
#define SEED	  UINT64_C(0x73616d6562)

/* The sides as logarithms, and room for all differences between them. */
struct logs {
	double before[INFERENCE_RUNS_MAX], after[INFERENCE_RUNS_MAX];
	size_t before_count, after_count;
	double *differences;
};

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static int take_logs(const double *values, size_t count, double *logs)
{
	if (count == 0 || count > INFERENCE_RUNS_MAX)
		return -EINVAL;
	for (size_t i = 0; i < count; i++) {
		if (!(values[i] > 0) || isinf(values[i]))
			return -EINVAL;
		logs[i] = log(values[i]);
	}
	return 0;
}

static int logs_init(struct logs *logs, const struct inference_sides *sides)
{
	*logs = (struct logs){
		.before_count = sides->before_count, .after_count = sides->after_count};
	if (take_logs(sides->before, sides->before_count, logs->before) != 0 ||
		take_logs(sides->after, sides->after_count, logs->after) != 0)
		return -EINVAL;
	logs->differences =
		malloc(logs->before_count * logs->after_count * sizeof(*logs->differences));
	return logs->differences ? 0 : -ENOMEM;
}

/* ---------------------------------------------------------------- ranks */

/*
 * Distribution of the sum of ranks of the first side, over all ways to choose
 * it: ways[k][s] ways to choose k of the runs seen so far with the sum s of
 * doubled midranks, which are whole numbers.  Relative, so that nothing grows
 * beyond a double.
 */
static double two_sided_p(const unsigned *doubled, size_t count, size_t chosen, unsigned observed)
{
	unsigned sum_max = (unsigned)(count * (count + 1));
	double *ways = calloc((chosen + 1) * (sum_max + 1), sizeof(*ways));
	double total = 0, as_far = 0;
	unsigned middle = (unsigned)(chosen * (count + 1));
	unsigned distance = observed > middle ? observed - middle : middle - observed;

	if (!ways)
		return NAN;
	ways[0] = 1;
	for (size_t i = 0; i < count; i++)
		for (size_t k = chosen < i + 1 ? chosen : i + 1; k > 0; k--)
			for (unsigned s = doubled[i]; s <= sum_max; s++)
				ways[k * (sum_max + 1) + s] +=
					ways[(k - 1) * (sum_max + 1) + s - doubled[i]];
	for (unsigned s = 0; s <= sum_max; s++) {
		double here = ways[chosen * (sum_max + 1) + s];

		total += here;
		if ((s > middle ? s - middle : middle - s) >= distance)
			as_far += here;
	}
	free(ways);
	return as_far / total;
}

struct ranked {
	double value;
	bool is_before;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return compare_doubles(&x->value, &y->value);
}

/* NaN when memory is out. */
static double mann_whitney_p(const struct logs *logs)
{
	struct ranked all[2 * INFERENCE_RUNS_MAX];
	unsigned doubled[2 * INFERENCE_RUNS_MAX];
	size_t count = 0;
	unsigned sum = 0;

	for (size_t i = 0; i < logs->before_count; i++)
		all[count++] = (struct ranked){logs->before[i], true};
	for (size_t i = 0; i < logs->after_count; i++)
		all[count++] = (struct ranked){logs->after[i], false};
	qsort(all, count, sizeof(all[0]), compare_ranked);
	for (size_t first = 0, end; first < count; first = end) {
		for (end = first + 1; end < count && all[end].value <= all[first].value; end++)
			;
		/* The ranks first + 1 .. end share their mean. */
		for (size_t i = first; i < end; i++) {
			doubled[i] = (unsigned)(first + 1 + end);
			sum += all[i].is_before ? doubled[i] : 0;
		}
	}
	return two_sided_p(doubled, count, logs->before_count, sum);
}

/* ---------------------------------------------------------------- shift */

static void swap(double *a, double *b)
{
	double kept = *a;

	*a = *b;
	*b = kept;
}

/*
 * The value that sorting would put at `rank`; what lies before it then is not above it.
 * Thousands of resamples need one value each, and sorting them takes ten times as long.
 */
static double select_rank(double *values, size_t count, size_t rank)
{
	size_t low = 0, high = count - 1;

	while (low < high) {
		double pivot = values[low + (high - low) / 2];
		size_t i = low, j = high;

		for (;;) {
			while (values[i] < pivot)
				i++;
			while (pivot < values[j])
				j--;
			if (i >= j)
				break;
			swap(&values[i++], &values[j--]);
		}
		/* values[low..j] are not above the pivot, those behind j not below it. */
		if (i == j && rank == i)
			return values[rank];
		if (rank <= j && !(i == j && rank > j))
			high = j;
		else
			low = j + 1;
	}
	return values[rank];
}

static size_t find_differences(struct logs *logs, const double *before, const double *after)
{
	size_t count = 0;

	for (size_t i = 0; i < logs->before_count; i++)
		for (size_t j = 0; j < logs->after_count; j++)
			logs->differences[count++] = after[j] - before[i];
	return count;
}

static double median_difference(struct logs *logs, const double *before, const double *after)
{
	size_t count = find_differences(logs, before, after);
	double upper = select_rank(logs->differences, count, count / 2), lower = -INFINITY;

	if (count % 2)
		return upper;
	for (size_t i = 0; i < count / 2; i++)
		lower = fmax(lower, logs->differences[i]);
	return (lower + upper) / 2;
}

static void resample(const double *from, double *to, size_t count, uint64_t *state)
{
	for (size_t i = 0; i < count; i++)
		to[i] = from[next_random(state) % count];
}

int inference_compare(const struct inference_sides *sides, struct inference_change *change)
{
	struct logs logs;
	int rc = logs_init(&logs, sides);

	*change = (struct inference_change){NAN, NAN, NAN, NAN};
	if (rc != 0)
		return rc;
	change->p = mann_whitney_p(&logs);
	change->ratio = exp(median_difference(&logs, logs.before, logs.after));
	free(logs.differences);
	return isnan(change->p) ? -ENOMEM : 0;
}

int inference_find_interval(const struct inference_sides *sides, struct inference_change *change)
{
	double before[INFERENCE_RUNS_MAX], after[INFERENCE_RUNS_MAX];
	double *shifts = malloc(RESAMPLES * sizeof(*shifts));
	uint64_t state = SEED;
	struct logs logs;
	int rc = logs_init(&logs, sides);

	if (rc == 0 && !shifts)
		rc = -ENOMEM;
	for (size_t i = 0; rc == 0 && i < RESAMPLES; i++) {
		resample(logs.before, before, logs.before_count, &state);
		resample(logs.after, after, logs.after_count, &state);
		shifts[i] = median_difference(&logs, before, after);
	}
	if (rc == 0) {
		qsort(shifts, RESAMPLES, sizeof(*shifts), compare_doubles);
		change->ratio_low = exp(shifts[RESAMPLES * 25 / 1000]);
		change->ratio_high = exp(shifts[RESAMPLES * 975 / 1000 - 1]);
	}
	free(shifts);
	free(logs.differences);
	return rc;
}

/* ------------------------------------------------------- what could be shown */

/* Of the pairs, how many must lie above for the test to reject without ties; 0: no number does. */
static size_t pairs_to_reject(size_t before_count, size_t after_count, double alpha)
{
	unsigned doubled[2 * INFERENCE_RUNS_MAX];
	size_t count = before_count + after_count, pairs = before_count * after_count;
	size_t low = pairs / 2 + 1, high = pairs + 1;

	for (size_t i = 0; i < count; i++)
		doubled[i] = (unsigned)(2 * (i + 1));
	/* The more lie above, the smaller is p. */
	while (low < high) {
		size_t above = low + (high - low) / 2;
		unsigned smallest = (unsigned)(before_count * (before_count + 1));
		unsigned sum = smallest + (unsigned)(2 * (pairs - above));

		if (two_sided_p(doubled, count, before_count, sum) < alpha)
			high = above;
		else
			low = above + 1;
	}
	return low <= pairs ? low : 0;
}

int inference_detectable(const struct inference_sides *sides, double alpha, double *ratio)
{
	double before[INFERENCE_RUNS_MAX], after[INFERENCE_RUNS_MAX], *needed;
	struct logs logs;
	uint64_t state = SEED;
	size_t above;
	double shift;
	int rc = logs_init(&logs, sides);

	*ratio = INFINITY;
	if (rc != 0)
		return rc;
	above = pairs_to_reject(logs.before_count, logs.after_count, alpha);
	needed = malloc(RESAMPLES * sizeof(*needed));
	if (!needed)
		rc = -ENOMEM;
	shift = rc == 0 ? median_difference(&logs, logs.before, logs.after) : 0;
	for (size_t i = 0; rc == 0 && above > 0 && i < RESAMPLES; i++) {
		size_t pairs = logs.before_count * logs.after_count;

		resample(logs.before, before, logs.before_count, &state);
		resample(logs.after, after, logs.after_count, &state);
		find_differences(&logs, before, after);
		/* Sorted upwards: all but (pairs - above) of them must become positive. */
		needed[i] = shift - select_rank(logs.differences, pairs, pairs - above);
	}
	if (rc == 0 && above > 0) {
		qsort(needed, RESAMPLES, sizeof(*needed), compare_doubles);
		shift = needed[(size_t)(RESAMPLES * POWER) - 1];
		*ratio = exp(shift > 0 ? shift : 0);
	}
	free(needed);
	free(logs.differences);
	return rc;
}

/* ---------------------------------------------------------- many rows at once */

struct indexed {
	double p;
	size_t at;
};

static int compare_indexed(const void *a, const void *b)
{
	const struct indexed *x = a, *y = b;
	int order = compare_doubles(&x->p, &y->p);

	return order ? order : (x->at > y->at) - (x->at < y->at);
}

static struct indexed *sort_p(const double *p, size_t count)
{
	struct indexed *sorted = calloc(count ? count : 1, sizeof(*sorted));

	for (size_t i = 0; sorted && i < count; i++)
		sorted[i] = (struct indexed){p[i], i};
	if (sorted)
		qsort(sorted, count, sizeof(*sorted), compare_indexed);
	return sorted;
}

void inference_adjust_holm(double *p, size_t count)
{
	struct indexed *sorted = sort_p(p, count);
	double highest = 0;

	for (size_t i = 0; i < count; i++) {
		double adjusted = sorted ? sorted[i].p * (double)(count - i) : 1;

		highest = fmin(1, fmax(highest, adjusted));
		p[sorted ? sorted[i].at : i] = highest;
	}
	free(sorted);
}

void inference_adjust_benjamini_hochberg(double *p, size_t count)
{
	struct indexed *sorted = sort_p(p, count);
	double lowest = 1;

	for (size_t i = count; i > 0; i--) {
		double adjusted = sorted ? sorted[i - 1].p * (double)count / (double)i : 1;

		lowest = fmin(lowest, adjusted);
		p[sorted ? sorted[i - 1].at : i - 1] = lowest;
	}
	free(sorted);
}
