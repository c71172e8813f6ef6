/* SPDX-License-Identifier: Apache-2.0 */
/*
 * B70 noise: the measuring thread reads the counter and does nothing else; two
 * neighbouring readings further apart than twice the floor (but at least 4
 * counts) are a gap: somebody else had the processor.  `gap` holds each gap's
 * counts and `gap_at` when it began, the first NOISE_GAPS_MAX of them; `lost`
 * holds all counts lost in each slice, whatever was kept.  A slice spins for a
 * second (or what is left of duration_ms, default 60000), then the thread
 * sleeps for 20 ms, which is not measured: a kernel that cannot run its own
 * threads for a minute would measure its own alarm.
 */
#ifndef AGENTS_CORE_NOISE_H
#define AGENTS_CORE_NOISE_H

#include "agents/core/window.h"

#define NOISE_GAPS_MAX 10000u

int noise_prepare(struct window *window);
uint32_t noise_estimate_ms(const struct window *window);
int noise_run(struct window *window);

#endif
