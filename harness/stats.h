/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptive statistics of one series of counts.  Percentiles are nearest
 * rank, x_(ceil(p n)), without interpolation; all values are in the unit of
 * the samples.  No errors but -ENOMEM and -EINVAL; no state.
 */
#ifndef SAMEBOARD_HARNESS_STATS_H
#define SAMEBOARD_HARNESS_STATS_H

#include <stddef.h>
#include <stdint.h>

enum stats_quantile {
	STATS_P50,
	STATS_P90,
	STATS_P95,
	STATS_P99,
	STATS_P999,
	STATS_P9999,
	STATS_QUANTILES,
};

struct stats_summary {
	size_t n;
	size_t early;  /* values below 0 */
	size_t missed; /* values of at least one period; 0 without a period */
	int32_t min, max;
	size_t max_index; /* of the first highest one, from 0 */
	double mean, sd;  /* sd: n - 1; 0 for one sample */
	int32_t mad;	  /* median distance from the median, both nearest rank */
	double lag1;	  /* autocorrelation of neighbours; 0 where nothing varies */
	int32_t quantiles[STATS_QUANTILES];
};

/* period_counts 0: no grid, nothing is missed.  -EINVAL for no samples. */
int stats_summarise(const int32_t *samples, size_t count, uint64_t period_counts,
	struct stats_summary *summary);

/* Upwards, in place; -ENOMEM. */
int stats_sort(int32_t *samples, size_t count);

/*
 * What a tool that skips missed releases (as cyclictest does) would have kept
 * of the same run: after a sample that is k whole periods late, the k releases
 * that passed meanwhile are left out.  `kept` has room for count; the number.
 */
size_t stats_skip_releases(
	const int32_t *samples, size_t count, uint64_t period_counts, int32_t *kept);

/* "p50", "p99.9"; its p; the quantile of a name, or -EINVAL. */
const char *stats_quantile_name(enum stats_quantile quantile);
double stats_quantile_p(enum stats_quantile quantile);
int stats_quantile_find(const char *name);

/* Fewer than 10 samples are expected above it: its place is chance. */
int stats_quantile_is_few(enum stats_quantile quantile, size_t n);

/* Median of doubles (mean of the two middle ones if even); sorts them in place. */
double stats_median(double *values, size_t count);

/* Median (nearest rank) of counts; 0 for none.  -1 when memory is out. */
int32_t stats_median_counts(const int32_t *samples, size_t count);

#endif
