/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run of the harness without a board's power, card and loader: what its
 * windows need to be pulled and stored.  Functions return 0 or a negative
 * errno; stored_error() has the text.
 */
#ifndef TESTS_BENCH_STORED_H
#define TESTS_BENCH_STORED_H

#include "harness/run_window.h"

struct stored {
	struct store *store;
	struct run_request request;
	struct run_result result;
	struct lab_board config;
	struct board board; /* its console is the caller's, and may be NULL */
	struct run run;
	struct plan_window plan; /* wake.idle with n samples */
};

/* A new database with a job and a run in it.  Close in any case. */
int stored_open(struct stored *stored, const char *path, uint32_t n);
void stored_close(struct stored *stored);
const char *stored_error(const struct stored *stored);

/* Whether that window has these values. */
bool stored_has(struct stored *stored, unsigned number, const int32_t *values, size_t count);

#endif
