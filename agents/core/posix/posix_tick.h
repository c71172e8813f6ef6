/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For systems whose clock may move by ticks only: where CLOCK_MONOTONIC has no
 * more resolution than its tick, a grid is tied to the counter by watching the
 * clock move, and tied anew when the clock has lost ticks.  Where it has, these
 * are posix_anchor() and posix_wait_until().
 *
 * A port embeds struct posix_tick behind its struct posix_port, calls
 * posix_tick_init() once, and its operations call the two below.
 */
#ifndef AGENTS_CORE_POSIX_POSIX_TICK_H
#define AGENTS_CORE_POSIX_POSIX_TICK_H

#include <stdint.h>

#include "agents/core/posix/posix_port.h"

struct posix_tick {
	uint64_t step_ns;     /* the smallest step that the clock was seen to take */
	uint64_t tick_counts; /* 0: the clock has its own resolution */
	uint64_t lost_ticks;  /* that grids were moved by since posix_tick_reset() */
};

/*
 * Watches the clock for some ticks (posix->tick_ns and the counter's rate must
 * be set): takes 2 to 3 ticks where it is counted, less where it is not.
 */
void posix_tick_init(struct posix_tick *tick, const struct posix_port *posix);

static inline void posix_tick_reset(struct posix_tick *tick)
{
	tick->lost_ticks = 0;
}

/*
 * As posix_anchor(): the event lies at the start of the bracket, since the whole
 * handler of the tick runs between the last old and the first new reading.
 */
void posix_tick_anchor(struct posix_tick *tick, struct agent_port *port, uint64_t lead_counts,
	struct agent_anchor *anchor);

/*
 * As posix_wait_until(), and at once where the deadline has passed.  A clock that
 * counts its ticks and missed some never catches up: the sample shows the
 * overrun, and the grid goes on from the clock's new place.
 */
uint64_t posix_tick_wait_until(
	struct posix_tick *tick, struct agent_port *port, uint64_t deadline_counts);

/* Whole ticks that a clock at `ns` lies behind the counter at `counts`. */
uint64_t posix_tick_count_lost(const struct posix_tick *tick, const struct posix_port *posix,
	uint64_t counts, uint64_t ns);

#endif
