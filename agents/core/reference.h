/* SPDX-License-Identifier: Apache-2.0 */
/*
 * B99: fixed work whose duration tells whether the machine is in the same
 * state: a chain of dependent additions (one cycle each on every core known,
 * hence the measured MHz), a pointer chase through 256 KiB in random order,
 * and reading plus writing memory.  Each sample of `integer`, `chase` and
 * `bandwidth` is the counts one piece of work took; each part lasts
 * duration_ms (default 1000) or REFERENCE_SAMPLES_MAX pieces, at least one.
 * What a piece is stands in the counters: `integer_adds`, `chase_hops`,
 * `bandwidth_bytes`.
 */
#ifndef AGENTS_CORE_REFERENCE_H
#define AGENTS_CORE_REFERENCE_H

#include "agents/core/window.h"

#define REFERENCE_SAMPLES_MAX 2000u

int reference_prepare(struct window *window);
uint32_t reference_estimate_ms(const struct window *window);
int reference_run(struct window *window);

#endif
