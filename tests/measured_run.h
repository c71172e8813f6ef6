/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs in a store as if they had been measured: samples with the figures that a
 * run stores with them.  Whatever cannot be done fails the test.
 */
#ifndef TESTS_MEASURED_RUN_H
#define TESTS_MEASURED_RUN_H

#include <stddef.h>
#include <stdint.h>

#include "tests/store_fixture.h"

#define MEASURED_HZ 24000000

struct measured_window {
	unsigned number, bench;
	const char *name, *load, *phase, *series; /* NULL phase: none */
	const int32_t *samples;
	size_t count;
	uint32_t period_us; /* 0: 1000 */
	double floor;	    /* counts */
	double bracket;	    /* counts; 0: none */
};

/* A job of a suite, whose text is given. */
int64_t measured_begin_job(struct store *store, const char *suite, const char *suite_json);

void measured_add_window(struct store *store, int64_t run, const struct measured_window *window);

/* Into the open window what a run stores of such samples. */
void measured_add_metrics(struct store *store, int64_t run, const char *series,
	const int32_t *samples, size_t count, uint64_t period_counts);

/* A series of tests/data/latency (1 to 12) in counts, each `scale` times; the caller frees it. */
int32_t *measured_read_series(int number, double scale, size_t *count);

/* wake.idle of that series as window 1, and the end of the run. */
void measured_close_with(
	struct store *store, int64_t run, int number, double scale, enum verdict verdict);

#endif
