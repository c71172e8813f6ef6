/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of one operation in the measuring thread: syscall, mutex.pair, sem.pair,
 * timer.set, malloc.  An operation under 20 counts is batched so that a sample
 * spans at least 200; samples are the counts of the whole batch and the
 * counters say how many operations that are (`batch.pair.plain=K`, 1 where it
 * is not batched).  `hot` is the second of two such batches in a row; `dirty`
 * is a single operation after churn_dirty().
 */
#ifndef AGENTS_CORE_COST_H
#define AGENTS_CORE_COST_H

#include "agents/core/churn.h"

#define COST_ROWS_MAX 2u

/* One operation; all names are of series, static text. */
struct cost_operation {
	const char *cold;
	const char *plain;
	const char *hot; /* NULL: no hot and no dirty row */
	const char *dirty;
	/* Outside of the measurement; NULL: nothing to do.  0, or after window_fail(). */
	int (*begin)(struct window *window, void *context);
	void (*run)(void *context, uint32_t operations);
	void (*end)(void *context);
};

/* The context is handed to the operations; it must live as long as the window. */
int cost_prepare(struct window *window, const struct cost_operation *operations, uint32_t count,
	void *context);
uint32_t cost_estimate_ms(const struct window *window);
int cost_run(struct window *window);

/* B10: the port's kernel_entry, and which it was. */
int cost_prepare_syscall(struct window *window);
const char *cost_check_syscall(const struct agent_port *port);

#endif
