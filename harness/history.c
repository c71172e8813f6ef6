/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/history.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "harness/stats.h"

/*
 * Twice the gain in log-likelihood that a step must bring.  Of 2,000 histories
 * without one 5 % may show one: found by tests/check_history.c.
 */
#define GAIN_MIN 18.0

double history_median(const double *values, size_t from, size_t until)
{
	double *copy = until > from ? malloc((until - from) * sizeof(*copy)) : NULL;
	double median = NAN;

	if (copy) {
		memcpy(copy, values + from, (until - from) * sizeof(*copy));
		median = stats_median(copy, until - from);
	}
	free(copy);
	return median;
}

/* ------------------------------------------------------- running deviations */

/* The lower half as a heap with its highest on top, the upper with its lowest (negated). */
struct half {
	double *values;
	size_t count;
	double sum;
};

static void half_push(struct half *half, double value)
{
	size_t at = half->count++;

	half->sum += value;
	while (at > 0 && half->values[(at - 1) / 2] < value) {
		half->values[at] = half->values[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	half->values[at] = value;
}

static double half_pop(struct half *half)
{
	double top = half->values[0], last = half->values[--half->count];
	size_t at = 0;

	half->sum -= top;
	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= half->count)
			break;
		if (child + 1 < half->count && half->values[child + 1] > half->values[child])
			child++;
		if (half->values[child] <= last)
			break;
		half->values[at] = half->values[child];
		at = child;
	}
	if (half->count)
		half->values[at] = last;
	return top;
}

/* costs[i]: the sum of distances from their median of the first i + 1 of `count` values. */
static void run_costs(
	const double *values, size_t count, int direction, double *room, double *costs)
{
	struct half low = {.values = room}, high = {.values = room + count + 1};

	for (size_t i = 0; i < count; i++) {
		double value = direction > 0 ? values[i] : values[count - 1 - i], median;

		if (low.count == 0 || value <= low.values[0])
			half_push(&low, value);
		else
			half_push(&high, -value);
		if (low.count > high.count + 1)
			half_push(&high, -half_pop(&low));
		else if (high.count > low.count)
			half_push(&low, -half_pop(&high));
		median = low.values[0];
		costs[i] = median * (double)low.count - low.sum - high.sum -
			   median * (double)high.count;
	}
}

/* ------------------------------------------------------------------- steps */

/* Room for one segment of any length. */
struct work {
	double *room, *before, *after;
};

/* The best place to cut values[0..count), and twice its gain in log-likelihood; 0: none. */
static size_t find_cut(struct work *work, const double *values, size_t count, double *gain)
{
	size_t best = 0;
	double lowest = INFINITY, whole;

	*gain = 0;
	if (count < 2 * HISTORY_SIDE_MIN)
		return 0;
	run_costs(values, count, 1, work->room, work->before);
	run_costs(values, count, -1, work->room, work->after);
	whole = work->before[count - 1];
	for (size_t cut = HISTORY_SIDE_MIN; cut + HISTORY_SIDE_MIN <= count; cut++) {
		double cost = work->before[cut - 1] + work->after[count - cut - 1];

		if (cost < lowest) {
			lowest = cost;
			best = cut;
		}
	}
	/* Equal values on each side would make it infinite. */
	*gain = 2 * (double)count * log((whole + 1e-9) / (lowest + 1e-9));
	return best;
}

static bool is_change(
	const double *values, size_t from, size_t cut, size_t until, double resolution)
{
	double before = history_median(values, from, cut);
	double after = history_median(values, cut, until);

	return fabs(after / before - 1) > HISTORY_CHANGE_MIN &&
	       fabs(after - before) > HISTORY_COUNTS_MIN * resolution * (1 + 1e-9);
}

static int compare_places(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return (x > y) - (x < y);
}

struct segment {
	size_t from, until;
};

static void find_steps(struct history *history, struct work *work, const double *values,
	const double *logs, size_t count, double resolution)
{
	struct segment open[HISTORY_STEPS_MAX + 1] = {{0, count}};
	size_t open_count = 1;

	while (open_count > 0 && history->step_count < HISTORY_STEPS_MAX) {
		struct segment s = open[--open_count];
		double gain;
		size_t cut = find_cut(work, logs + s.from, s.until - s.from, &gain);

		if (cut == 0 || gain < GAIN_MIN ||
			!is_change(values, s.from, s.from + cut, s.until, resolution))
			continue;
		history->steps[history->step_count++] = s.from + cut;
		if (open_count + 2 <= HISTORY_STEPS_MAX + 1) {
			open[open_count++] = (struct segment){s.from, s.from + cut};
			open[open_count++] = (struct segment){s.from + cut, s.until};
		}
	}
	qsort(history->steps, history->step_count, sizeof(history->steps[0]), compare_places);
}

/* ------------------------------------------------------------------ newest */

/* Student's t at 99.5 %, by its expansion in 1 / freedom: within 1 % from 9 on. */
static double student(double freedom)
{
	const double z = 2.5758293;
	double z3 = z * z * z, z5 = z3 * z * z;

	return z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom);
}

static void judge_newest(struct history *history, const double *logs, size_t count)
{
	size_t from = history->step_count ? history->steps[history->step_count - 1] : 0;
	size_t n = count - 1 - from;
	double mean = 0, squares = 0, half;

	history->newest = HISTORY_TOO_FEW;
	history->low = history->high = NAN;
	if (count == 0 || count - 1 < from + HISTORY_SIDE_MIN)
		return;
	for (size_t i = from; i + 1 < count; i++)
		mean += logs[i] / (double)n;
	for (size_t i = from; i + 1 < count; i++)
		squares += (logs[i] - mean) * (logs[i] - mean);
	half = student((double)n - 1) * sqrt(squares / ((double)n - 1) * (1 + 1 / (double)n));
	history->low = exp(mean - half);
	history->high = exp(mean + half);
	history->newest = logs[count - 1] > mean + half	  ? HISTORY_ABOVE
			  : logs[count - 1] < mean - half ? HISTORY_BELOW
							  : HISTORY_WITHIN;
}

int history_find(struct history *history, const double *values, size_t count, double resolution)
{
	struct work work = {malloc((2 * count + 4) * sizeof(double)),
		malloc((count + 1) * sizeof(double)), malloc((count + 1) * sizeof(double))};
	double *logs = malloc((count + 1) * sizeof(*logs));
	int rc = work.room && work.before && work.after && logs ? 0 : -ENOMEM;

	*history = (struct history){.low = NAN, .high = NAN};
	for (size_t i = 0; rc == 0 && i < count; i++)
		logs[i] = log(values[i] > 0 ? values[i] : resolution > 0 ? resolution / 2 : 1e-9);
	if (rc == 0 && count > 0) {
		/* The newest may be the first of something: it makes no step alone. */
		find_steps(history, &work, values, logs, count, resolution);
		judge_newest(history, logs, count);
		if (fabs(values[count - 1] -
			    history_median(values,
				    history->step_count ? history->steps[history->step_count - 1]
							: 0,
				    count)) <= HISTORY_COUNTS_MIN * resolution &&
			history->newest != HISTORY_TOO_FEW)
			history->newest = HISTORY_WITHIN;
	}
	free(work.room);
	free(work.before);
	free(work.after);
	free(logs);
	return rc;
}
