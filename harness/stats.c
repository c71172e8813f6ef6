/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	double p;
} quantiles[STATS_QUANTILES] = {
	[STATS_P50] = {"p50", 0.50},
	[STATS_P90] = {"p90", 0.90},
	[STATS_P95] = {"p95", 0.95},
	[STATS_P99] = {"p99", 0.99},
	[STATS_P999] = {"p99.9", 0.999},
	[STATS_P9999] = {"p99.99", 0.9999},
};

#define DIGIT_BITS   11 /* three of them are 32 and one to spare */
#define DIGIT_VALUES ((size_t)1 << DIGIT_BITS)

static size_t digit_of(int32_t value, unsigned shift)
{
	return ((uint32_t)value ^ 0x80000000u) >> shift & (DIGIT_VALUES - 1);
}

static int compare_counts(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* ceil(p n), with p n taken as exact where binary fractions are a hair off. */
static size_t rank_of(double p, size_t n)
{
	size_t rank = (size_t)ceil(p * (double)n - 1e-9 * (double)n);

	return rank < 1 ? 1 : rank > n ? n : rank;
}

/* One pass over eleven bits; the sign is flipped so that negative ones come first. */
static void sort_digit(const int32_t *from, int32_t *to, size_t count, unsigned shift)
{
	size_t starts[DIGIT_VALUES + 1] = {0};

	for (size_t i = 0; i < count; i++)
		starts[digit_of(from[i], shift) + 1]++;
	for (size_t digit = 0; digit < DIGIT_VALUES; digit++)
		starts[digit + 1] += starts[digit];
	for (size_t i = 0; i < count; i++)
		to[starts[digit_of(from[i], shift)]++] = from[i];
}

/* Runs have millions of samples: by digits, since comparing takes ten times as long. */
static int32_t *sorted_copy(const int32_t *samples, size_t count)
{
	int32_t *copy = malloc(count * sizeof(*copy));
	int32_t *spare = count < DIGIT_VALUES ? NULL : malloc(count * sizeof(*spare));

	if (copy && count < DIGIT_VALUES) {
		memcpy(copy, samples, count * sizeof(*copy));
		qsort(copy, count, sizeof(*copy), compare_counts);
	} else if (copy && spare) {
		sort_digit(samples, copy, count, 0);
		sort_digit(copy, spare, count, DIGIT_BITS);
		sort_digit(spare, copy, count, 2 * DIGIT_BITS);
	} else {
		free(copy);
		copy = NULL;
	}
	free(spare);
	return copy;
}

int stats_sort(int32_t *samples, size_t count)
{
	int32_t *sorted = sorted_copy(samples, count);

	if (!sorted)
		return -ENOMEM;
	memcpy(samples, sorted, count * sizeof(*samples));
	free(sorted);
	return 0;
}

/* Distances from the median grow from it to both sides: the nearer one is taken until half are. */
static int32_t find_mad(const int32_t *sorted, size_t count)
{
	size_t right = rank_of(0.5, count) - 1, left = right;
	int64_t median = sorted[right], distance = 0;

	for (size_t rank = rank_of(0.5, count); rank > 0; rank--) {
		int64_t below = left > 0 ? median - sorted[left - 1] : INT64_MAX;
		int64_t above = right < count ? sorted[right] - median : INT64_MAX;

		distance = below < above ? below : above;
		left -= below < above;
		right += below >= above;
	}
	return (int32_t)(distance > INT32_MAX ? INT32_MAX : distance);
}

static double find_lag1(const int32_t *samples, size_t count, double mean, double squares)
{
	double products = 0;

	for (size_t i = 1; i < count; i++)
		products += (samples[i - 1] - mean) * (samples[i] - mean);
	return squares > 0 ? products / squares : 0;
}

int stats_summarise(
	const int32_t *samples, size_t count, uint64_t period_counts, struct stats_summary *summary)
{
	int32_t *sorted;
	double mean = 0, squares = 0;

	memset(summary, 0, sizeof(*summary));
	if (count == 0)
		return -EINVAL;
	sorted = sorted_copy(samples, count);
	if (!sorted)
		return -ENOMEM;
	summary->n = count;
	summary->min = sorted[0];
	summary->max = sorted[count - 1];
	for (size_t i = 0; i < count; i++) {
		double delta = samples[i] - mean;

		mean += delta / (double)(i + 1);
		squares += delta * (samples[i] - mean);
		summary->early += samples[i] < 0;
		summary->missed +=
			period_counts && samples[i] >= 0 && (uint64_t)samples[i] >= period_counts;
	}
	while (samples[summary->max_index] != summary->max)
		summary->max_index++;
	summary->mean = mean;
	summary->sd = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
	for (int q = 0; q < STATS_QUANTILES; q++)
		summary->quantiles[q] = sorted[rank_of(quantiles[q].p, count) - 1];
	summary->mad = find_mad(sorted, count);
	summary->lag1 = find_lag1(samples, count, mean, squares);
	free(sorted);
	return 0;
}

size_t stats_skip_releases(
	const int32_t *samples, size_t count, uint64_t period_counts, int32_t *kept)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		kept[used++] = samples[i];
		if (period_counts && samples[i] > 0)
			i += (size_t)((uint64_t)samples[i] / period_counts);
	}
	return used;
}

const char *stats_quantile_name(enum stats_quantile quantile)
{
	return quantiles[quantile].name;
}

double stats_quantile_p(enum stats_quantile quantile)
{
	return quantiles[quantile].p;
}

int stats_quantile_find(const char *name)
{
	for (int q = 0; q < STATS_QUANTILES; q++)
		if (strcmp(quantiles[q].name, name) == 0)
			return q;
	return -EINVAL;
}

int stats_quantile_is_few(enum stats_quantile quantile, size_t n)
{
	return (double)n * (1 - quantiles[quantile].p) < 10 - 1e-9;
}

double stats_median(double *values, size_t count)
{
	if (count == 0)
		return NAN;
	qsort(values, count, sizeof(*values), compare_doubles);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

int32_t stats_median_counts(const int32_t *samples, size_t count)
{
	int32_t *sorted, median;

	if (count == 0)
		return 0;
	sorted = sorted_copy(samples, count);
	if (!sorted)
		return -1;
	median = sorted[rank_of(0.5, count) - 1];
	free(sorted);
	return median;
}
