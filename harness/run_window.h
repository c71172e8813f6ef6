/* SPDX-License-Identifier: Apache-2.0 */
/* One window of a run on its way from the target to the store. */
#ifndef SAMEBOARD_HARNESS_RUN_WINDOW_H
#define SAMEBOARD_HARNESS_RUN_WINDOW_H

#include "harness/clockfit.h"
#include "harness/run_internal.h"

struct run_series {
	struct series_entry entry;
	void *data; /* in host byte order; text has a NUL behind it */
};

struct run_window {
	const struct plan_window *plan;
	unsigned number;
	int64_t started_ms, ended_ms;
	struct peer_window peer;
	bool is_unheard; /* pulled after the host that should have listened was gone */
	struct run_series *series;
	size_t series_count;
	const char *counters; /* text of that series, "" if none */
	char *evidence;	      /* what its gates were judged by, as JSON; NULL before */
};

/* Pull index and series.  0 or the error that run_fail_peer() was given. */
int run_window_pull(struct run *run, struct run_window *window, const char *doing);
void run_window_fini(struct run_window *window);

/* What the host knows of a system's price, into the window of that bench; others stay as they are.
 */
int run_window_add_price(struct run *run, struct run_window *window);

/* NULL where there is no series of that name. */
const struct run_series *run_window_find(const struct run_window *window, const char *name);

/* Median of a series of counts, 0 where there is none. */
int32_t run_window_median(const struct run_window *window, const char *name);

/* The clock audit of a window that has its two series of stamps. */
int run_window_fit_audit(
	const struct run_window *window, uint64_t counter_hz, struct clockfit_audit *fit);

/* The gates of the window, into the run's set, and its evidence. */
void run_window_judge(struct run *run, struct run_window *window);

/* Samples, metrics and events in one transaction. */
int run_window_store(struct run *run, const struct run_window *window);

#endif
