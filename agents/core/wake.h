/* SPDX-License-Identifier: Apache-2.0 */
/*
 * B01 and B02: absolute periodic wake-ups on a fixed release grid.  Each
 * sample of `latency` is the first counter reading after the sleep minus the
 * release d_i; `cold` holds the warm-up's.  The clock that sleeps is tied to
 * the counter once per grid by the port; how uncertain that is stands in the
 * counters as `bracket_counts`: true lateness lies in
 * [latency - bracket_counts, latency].
 */
#ifndef AGENTS_CORE_WAKE_H
#define AGENTS_CORE_WAKE_H

#include "agents/core/window.h"

int wake_prepare(struct window *window);
uint32_t wake_estimate_ms(const struct window *window);
int wake_run(struct window *window);

#endif
