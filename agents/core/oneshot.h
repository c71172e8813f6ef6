/* SPDX-License-Identifier: Apache-2.0 */
/*
 * B40 timer.oneshot: one absolute timed wait of 100 us, 1 ms and 10 ms each, n
 * of each.  Where a wait begins is swept through the system's tick (1 ms where
 * it has none) in steps of an eighth, so that no phase is favoured.  Samples
 * of `oneshot.100us` and so on are the first counter reading after the wait
 * minus the deadline; early ones are negative, kept, and counted.
 */
#ifndef AGENTS_CORE_ONESHOT_H
#define AGENTS_CORE_ONESHOT_H

#include "agents/core/window.h"

int oneshot_prepare(struct window *window);
uint32_t oneshot_estimate_ms(const struct window *window);
int oneshot_run(struct window *window);

#endif
