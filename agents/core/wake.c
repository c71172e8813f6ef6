/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/core/wake.h"

#include "agents/core/agent.h"
#include "agents/core/counter.h"
#include "agents/core/grid.h"

#define PERIOD_DEFAULT_US 1000u
#define PERIOD_MAX_US	  10000000u
#define LEAD_MS		  20u

int wake_prepare(struct window *window)
{
	if (window->plan.period_us == 0)
		window->plan.period_us = PERIOD_DEFAULT_US;
	if (window->plan.n == 0)
		return WIRE_ERROR_BAD_RANGE;
	if (window->plan.period_us > PERIOD_MAX_US) {
		window->refused = window->plan.period_us;
		return WIRE_ERROR_BAD_RANGE;
	}
	window->cold = window_add_counts(window, "cold", window_cold_count(window));
	window->samples = window_add_counts(window, "latency", window->plan.n);
	return 0;
}

uint32_t wake_estimate_ms(const struct window *window)
{
	uint64_t releases = (uint64_t)window->plan.n + window_cold_count(window);
	/* Two leads, and at most a tick each before a grid begins. */
	uint64_t estimate = releases * window->plan.period_us / 1000 + 4 * LEAD_MS;

	return estimate > UINT32_MAX ? UINT32_MAX : (uint32_t)estimate;
}

/* One grid of its own for the series: a stall of the warm-up must not reach the samples. */
static void run_grid(struct window *window, struct window_series *series, struct grid *grid,
	struct agent_anchor *anchor)
{
	struct agent_port *port = window->port;
	uint64_t now;

	port->ops->anchor(port, counter_scale(LEAD_MS, port->counter_rate_hz, 1000), anchor);
	grid_init(grid, anchor->release_counts, window->plan.period_us, port->counter_rate_hz);
	if (window->plan.arbitrary_phase)
		grid->next += grid_phase(window->plan.seed, grid->whole);
	now = grid->next - 1; /* the anchor lies ahead */
	while (series->count < series->capacity) {
		uint64_t release = grid_next(grid, now);

		now = port->ops->wait_until(port, release);
		window_store_counts(series, grid_judge(grid, release, now));
	}
}

int wake_run(struct window *window)
{
	struct text *counters = &window->counters;
	struct agent_anchor anchor;
	struct grid cold;
	struct grid grid;

	run_grid(window, window->cold, &cold, &anchor);
	run_grid(window, window->samples, &grid, &anchor);
	text_put(counters, "phase", window->plan.arbitrary_phase ? "arbitrary" : "aligned");
	text_put_u64s(counters,
		"phase_counts period_us period_counts first_release bracket_counts tick_counts "
		"missed early back_to_back cold_missed",
		(const uint64_t[]){
			window->plan.arbitrary_phase ? grid_phase(window->plan.seed, grid.whole)
						     : 0,
			window->plan.period_us,
			grid.whole,
			anchor.release_counts,
			anchor.bracket_counts,
			anchor.tick_counts,
			grid.missed,
			grid.early,
			grid.back_to_back,
			cold.missed,
		});
	return 0;
}
