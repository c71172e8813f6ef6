/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A series as a line of a table.  Percentiles are nearest ranks, without
 * interpolation.  0, or -ENOMEM; -EINVAL where there are no values.
 */
#ifndef AGENTS_LINUX_BENCH_ROW_H
#define AGENTS_LINUX_BENCH_ROW_H

#include <stddef.h>
#include <stdint.h>

struct bench_row {
	const char *name;
	uint32_t n;
	double min, mean, p50, p90, p99, p99_9, max; /* counts */
};

int bench_row_make(struct bench_row *row, const char *name, const int32_t *values, uint32_t count);

/*
 * What is left when, as cyclictest does, every release is skipped that had
 * passed when the one before was served.
 */
int bench_row_make_skipped(
	struct bench_row *row, const int32_t *lateness, uint32_t count, uint64_t period);

#endif
