/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways of a series over the line.  Each is timed from when its sender, which
 * has the values in memory, begins (encoding included) until the host has them
 * all; then they are compared.  Functions return 0 or a negative errno with
 * bench_rig_error().
 */
#ifndef TESTS_BENCH_WAY_H
#define TESTS_BENCH_WAY_H

#include "tests/bench/rig.h"
#include "tests/samples.h"

struct way_result {
	struct bench_counts line; /* bytes on the line in that time */
	double seconds;
	size_t encoded; /* bytes of all series of the window; 0: not this way */
};

/* Decimal counts, each with a line feed. */
int way_send_text(struct bench_rig *rig, const struct samples *samples, struct way_result *result);

/* A file of 32-bit values, by sz and rz. */
int way_send_zmodem(
	struct bench_rig *rig, const struct samples *samples, struct way_result *result);

/* The same, compressed by the sender and decompressed by the receiver. */
int way_send_zstd(struct bench_rig *rig, const struct samples *samples, struct way_result *result);

/*
 * A window of the real agent, whose benchmark has these values, pulled by the
 * harness into a store: from the last release to COMMIT.
 */
int way_send_window(
	struct bench_rig *rig, const struct samples *samples, struct way_result *result);

#endif
