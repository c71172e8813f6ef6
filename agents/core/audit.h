/* SPDX-License-Identifier: Apache-2.0 */
/*
 * B42 clock.audit: the system's clock against the free-running counter.  Two
 * series of equal length, `counter` (the reading just before) and `os_ns` (the
 * clock), a point each 50 ms for duration_ms (default 20000); `bracket` says
 * in counts how long each pair took.  Of five readings a point the one with
 * the shortest bracket is kept.  Nothing is fitted here: the host does.
 *
 * B98 sleep.check: the system's timed sleep of 1, 10, 100 and 1000 ms must
 * come back.  `latency` is how much longer than asked each took, in counts
 * (negative: early).  A dead timer never answers; the host keeps the deadline.
 */
#ifndef AGENTS_CORE_AUDIT_H
#define AGENTS_CORE_AUDIT_H

#include "agents/core/window.h"

int audit_prepare(struct window *window);
uint32_t audit_estimate_ms(const struct window *window);
int audit_run(struct window *window);

int audit_prepare_sleep(struct window *window);
uint32_t audit_estimate_sleep_ms(const struct window *window);
int audit_run_sleep(struct window *window);

#endif
