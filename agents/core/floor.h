/* SPDX-License-Identifier: Apache-2.0 */
/*
 * B00: what two adjacent counter reads cost in the agent's own mode.  Every
 * window measures it before and after; nothing is ever subtracted.
 */
#ifndef AGENTS_CORE_FLOOR_H
#define AGENTS_CORE_FLOOR_H

#include "agents/core/window.h"

/* Fill the series to its capacity, beginning from nothing. */
void floor_sample(struct window_series *series);

/* The row of its own: n pairs, beside the floors every window has. */
int floor_prepare(struct window *window);
uint32_t floor_estimate_ms(const struct window *window);
int floor_run(struct window *window);

#endif
