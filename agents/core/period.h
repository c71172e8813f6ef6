/* SPDX-License-Identifier: Apache-2.0 */
/*
 * B07 wake.period: a job of fixed work (the same additions on every system) is
 * released on a grid under the mixed load, for duration_ms (default 10000) at
 * each of 100, 200, 500 us, 1, 2, 5, 10 ms.  Each sample of `period.100us` and
 * so on is the end of the job minus its release, the first PERIOD_SAMPLES_MAX
 * of them; a job that ends a whole period late or more has missed, and
 * `missed.period.100us` counts all that did.  None is skipped: late jobs run
 * back to back.  Where the system cannot keep up at all, a grid is given up a
 * quarter of its duration after its end, and the jobs that never ran count as
 * missed (`unserved.period.100us`).
 */
#ifndef AGENTS_CORE_PERIOD_H
#define AGENTS_CORE_PERIOD_H

#include "agents/core/window.h"

#define PERIOD_SAMPLES_MAX 20000u

int period_prepare(struct window *window);
uint32_t period_estimate_ms(const struct window *window);
int period_run(struct window *window);

#endif
