/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/core/posix/posix_tick.h"

#include <time.h>

#include "agents/core/counter.h"

#define NS_PER_S      1000000000u
#define WATCHED_TICKS 3u
#define BRACKET_TICKS 4u

void posix_tick_init(struct posix_tick *tick, const struct posix_port *posix)
{
	uint64_t rate = posix->agent.counter_rate_hz;
	uint64_t tick_counts = counter_scale(posix->tick_ns, rate, NS_PER_S);
	uint64_t begin = counter_read();
	uint64_t before = posix_clock_ns(NULL);
	uint64_t step = UINT64_MAX;

	while (counter_read() - begin < WATCHED_TICKS * tick_counts) {
		uint64_t now = posix_clock_ns(NULL);

		if (now != before && now - before < step)
			step = now - before;
		before = now;
	}
	/* A clock that did not move at all is counted, by a tick longer than was said. */
	tick->step_ns = step == UINT64_MAX ? posix->tick_ns : step;
	tick->tick_counts = tick->step_ns >= posix->tick_ns / 2 ? tick_counts : 0;
	tick->lost_ticks = 0;
}

/* The last reading of the counter before the clock was seen to move, and its bracket. */
static void watch_step(struct posix_port *posix, uint64_t *best)
{
	uint64_t last = counter_read();
	uint64_t old = posix_clock_ns(NULL);

	for (;;) {
		uint64_t before = counter_read();
		uint64_t ns = posix_clock_ns(NULL);

		if (ns != old) {
			uint64_t bracket = counter_read() - last;

			if (bracket < *best) {
				*best = bracket;
				posix->anchor_counts = last;
				posix->anchor_ns = ns;
			}
			return;
		}
		last = before;
	}
}

void posix_tick_anchor(struct posix_tick *tick, struct agent_port *port, uint64_t lead_counts,
	struct agent_anchor *anchor)
{
	struct posix_port *posix = (struct posix_port *)port;
	uint64_t best = UINT64_MAX;
	uint64_t ahead;

	if (tick->tick_counts == 0) {
		posix_anchor(port, lead_counts, anchor);
		return;
	}
	for (unsigned int i = 0; i < BRACKET_TICKS; i++)
		watch_step(posix, &best);
	/* From now: the ticks that were watched have passed. */
	ahead = (counter_read() - posix->anchor_counts + lead_counts) / tick->tick_counts + 1;
	anchor->release_counts = posix->anchor_counts + ahead * tick->tick_counts;
	anchor->bracket_counts = best;
	anchor->tick_counts = tick->tick_counts;
}

uint64_t posix_tick_count_lost(
	const struct posix_tick *tick, const struct posix_port *posix, uint64_t counts, uint64_t ns)
{
	uint64_t due = posix->anchor_counts +
		       counter_scale(ns - posix->anchor_ns, posix->agent.counter_rate_hz, NS_PER_S);

	if ((int64_t)(counts - due) < (int64_t)tick->tick_counts)
		return 0;
	return (counts - due) / tick->tick_counts;
}

/* The sample shows the overrun; the grid goes on from the clock's new place. */
static void follow_clock(struct posix_tick *tick, struct posix_port *posix, uint64_t now)
{
	uint64_t lost = posix_tick_count_lost(tick, posix, now, posix_clock_ns(NULL));

	tick->lost_ticks += lost;
	posix->anchor_counts += lost * tick->tick_counts;
}

uint64_t posix_tick_wait_until(
	struct posix_tick *tick, struct agent_port *port, uint64_t deadline_counts)
{
	uint64_t now = counter_read();

	/* A sleep that ends in the past takes a tick there: no release would ever catch up. */
	if ((int64_t)(now - deadline_counts) < 0)
		now = posix_wait_until(port, deadline_counts);
	if (tick->tick_counts && (int64_t)(now - deadline_counts) >= (int64_t)tick->tick_counts)
		follow_clock(tick, (struct posix_port *)port, now);
	return now;
}
