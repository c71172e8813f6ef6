/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Linux agent with one row in place of wake.idle: its samples are given
 * beforehand.  Everything else is the agent's own.
 */
#ifndef TESTS_BENCH_SERVED_H
#define TESTS_BENCH_SERVED_H

#include <stdint.h>

#include "tests/samples.h"

#define SERVED_HZ 24000000u /* of the counter that the samples are counts of */

/* Shared with the parent. */
struct served {
	const struct samples *samples;
	uint64_t last_release_us; /* monotonic: when the last sample had been stored */
};

/* Serves the terminal at `path` until the host quits: an exit code. */
int served_run(struct served *served, const char *path);

#endif
