/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/core/oneshot.h"

#include "agents/core/agent.h"
#include "agents/core/counter.h"

#define STEPS		8u
#define TICK_NONE_US	1000u
#define LEAD_MS		5u
#define TICK_LONGEST_MS 10u

static const struct {
	const char *cold;
	const char *samples;
	uint32_t wait_us;
} lengths[] = {
	{"cold.100us", "oneshot.100us", 100},
	{"cold.1ms", "oneshot.1ms", 1000},
	{"cold.10ms", "oneshot.10ms", 10000},
};

#define LENGTHS (sizeof(lengths) / sizeof(lengths[0]))

struct oneshot {
	struct window_series *cold[LENGTHS];
	struct window_series *samples[LENGTHS];
	uint64_t origin; /* of the tick, counts */
	uint64_t tick;	 /* counts */
	uint32_t early;
};

int oneshot_prepare(struct window *window)
{
	struct oneshot *oneshot = arena_take(window->arena, sizeof(*oneshot));

	if (window->plan.n == 0)
		return WIRE_ERROR_BAD_RANGE;
	if (!oneshot)
		return WIRE_ERROR_NO_MEMORY;
	for (size_t i = 0; i < LENGTHS; i++) {
		/* A whole sweep at least, since all of them are alike in length. */
		oneshot->cold[i] = window_add_counts(window, lengths[i].cold, STEPS);
		oneshot->samples[i] = window_add_counts(window, lengths[i].samples, window->plan.n);
	}
	window->bench_data = oneshot;
	window->samples = oneshot->samples[0];
	return 0;
}

uint32_t oneshot_estimate_ms(const struct window *window)
{
	uint64_t estimate = 100;

	/* Half a tick to reach the phase, and half of one more where a wait goes by ticks. */
	for (size_t i = 0; i < LENGTHS; i++)
		estimate += ((uint64_t)window->plan.n + STEPS) *
			    (lengths[i].wait_us + TICK_LONGEST_MS * 1000) / 1000;
	return estimate > UINT32_MAX ? UINT32_MAX : (uint32_t)estimate;
}

/* Spins, since a timed wait cannot be trusted to reach a phase. */
static uint64_t reach_phase(const struct oneshot *oneshot, uint32_t step)
{
	uint64_t phase = oneshot->tick * step / STEPS;
	uint64_t now = counter_read();
	uint64_t at = now + oneshot->tick - (now - oneshot->origin - phase) % oneshot->tick;

	do {
		now = counter_read();
	} while ((int64_t)(now - at) < 0);
	return at;
}

static void fill(struct window *window, struct oneshot *oneshot, struct window_series *series,
	uint32_t wait_us)
{
	struct agent_port *port = window->port;
	uint64_t wait = counter_scale(wait_us, port->counter_rate_hz, 1000000);

	while (series->count < series->capacity) {
		uint64_t deadline = reach_phase(oneshot, series->count % STEPS) + wait;
		uint64_t now = port->ops->wait_until(port, deadline);

		oneshot->early += (int64_t)(now - deadline) < 0;
		window_store_counts(series, (int64_t)(now - deadline));
	}
}

int oneshot_run(struct window *window)
{
	struct agent_port *port = window->port;
	struct oneshot *oneshot = window->bench_data;
	struct agent_anchor anchor = {0};

	oneshot->early = 0;
	for (size_t i = 0; i < LENGTHS; i++) {
		port->ops->anchor(
			port, counter_scale(LEAD_MS, port->counter_rate_hz, 1000), &anchor);
		oneshot->tick = anchor.kernel_tick_counts ? anchor.kernel_tick_counts
							  : counter_scale(TICK_NONE_US,
								    port->counter_rate_hz, 1000000);
		/* Back by whole ticks, so that it lies in the past. */
		oneshot->origin = anchor.release_counts -
				  oneshot->tick * (port->counter_rate_hz / oneshot->tick + 1);
		fill(window, oneshot, oneshot->cold[i], lengths[i].wait_us);
		fill(window, oneshot, oneshot->samples[i], lengths[i].wait_us);
	}
	text_put_u64s(&window->counters,
		"sweep_steps sweep_counts bracket_counts tick_counts early",
		(const uint64_t[]){
			STEPS,
			oneshot->tick,
			anchor.bracket_counts,
			anchor.tick_counts,
			oneshot->early,
		});
	return 0;
}
