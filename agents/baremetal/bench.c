/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/baremetal/bench.h"

#include "agents/baremetal/instret.h"
#include "agents/baremetal/timer.h"
#include "agents/core/counter.h"
#include "agents/core/grid.h"

#define PERIOD_DEFAULT_US 1000u
#define PERIOD_MAX_US	  10000000u
#define LEAD_MS		  20u

struct split {
	struct window_series *isr;
	struct window_series *thread;
	struct window_series *instret; /* NULL where instructions are not counted exactly */
};

static int split_prepare(struct window *window)
{
	struct split *split = arena_take(window->arena, 2 * sizeof(*split));

	if (window->plan.period_us == 0)
		window->plan.period_us = PERIOD_DEFAULT_US;
	if (window->plan.period_us > PERIOD_MAX_US)
		return WIRE_ERROR_BAD_RANGE;
	if (!split)
		return WIRE_ERROR_NO_MEMORY;
	split[0].isr = window_add_counts(window, "cold", window_cold_count(window));
	split[0].thread = window_add_counts(window, "cold.thread", window_cold_count(window));
	split[1].isr = window_add_counts(window, "isr", window->plan.n);
	split[1].thread = window_add_counts(window, "thread", window->plan.n);
	if (instret_get_rate()) {
		split[0].instret =
			window_add_counts(window, "cold.instret", window_cold_count(window));
		split[1].instret = window_add_counts(window, "instret", window->plan.n);
	}
	window->bench_data = split;
	window->cold = split[0].isr;
	window->samples = split[1].isr;
	return 0;
}

static uint32_t split_estimate_ms(const struct window *window)
{
	uint64_t releases = (uint64_t)window->plan.n + window_cold_count(window);
	uint64_t estimate = releases * window->plan.period_us / 1000 + 4 * LEAD_MS;

	return estimate > UINT32_MAX ? UINT32_MAX : (uint32_t)estimate;
}

static void split_run_grid(struct window *window, const struct split *split, struct grid *grid)
{
	struct agent_port *port = window->port;
	struct timer_wake wake = {.thread = counter_read()};
	struct agent_anchor anchor;

	port->ops->anchor(port, counter_scale(LEAD_MS, port->counter_rate_hz, 1000), &anchor);
	grid_init(grid, anchor.release_counts, window->plan.period_us, port->counter_rate_hz);
	if (window->plan.arbitrary_phase)
		grid->next += grid_phase(window->plan.seed, grid->whole);
	while (split->isr->count < split->isr->capacity) {
		uint64_t release = grid_next(grid, wake.thread);

		/* A release that has passed is programmed too: its interrupt comes at once. */
		timer_sleep_until(release, &wake);
		window_store_counts(split->isr, grid_judge(grid, release, wake.isr));
		window_store_counts(split->thread, (int64_t)(wake.thread - wake.isr));
		if (split->instret)
			window_store_counts(
				split->instret, (int64_t)(wake.thread_instret - wake.isr_instret));
	}
}

static int split_run(struct window *window)
{
	const struct split *split = window->bench_data;
	struct text *counters = &window->counters;
	struct grid cold;
	struct grid grid;

	split_run_grid(window, &split[0], &cold);
	split_run_grid(window, &split[1], &grid);
	text_put(counters, "phase", window->plan.arbitrary_phase ? "arbitrary" : "aligned");
	text_put_u64s(counters,
		"phase_counts period_us period_counts bracket_counts tick_counts missed early "
		"back_to_back cold_missed",
		(const uint64_t[]){
			window->plan.arbitrary_phase ? grid_phase(window->plan.seed, grid.whole)
						     : 0,
			window->plan.period_us,
			grid.whole,
			0,
			timer_get_period(),
			grid.missed,
			grid.early,
			grid.back_to_back,
			cold.missed,
		});
	text_put(counters, "instret", instret_get_state());
	if (split->instret)
		text_put_u64(counters, "instret_per_instruction", instret_get_rate());
	return 0;
}

/* ---------------------------------------------------------------- containment */

#define INTACT 0x5a5a5a5au

struct held {
	volatile uint32_t value; /* of somebody else */
};

static int contain_prepare(struct window *window)
{
	window->bench_data = arena_take(window->arena, sizeof(struct held));
	window->samples = window_add_counts(window, "held.memory", 1);
	return window->bench_data ? 0 : WIRE_ERROR_NO_MEMORY;
}

static uint32_t contain_estimate_ms(const struct window *window)
{
	(void)window;
	return 10;
}

/* As a pointer gone astray would: there is one memory and one mode for all. */
static int contain_run(struct window *window)
{
	struct held *held = window->bench_data;
	bool is_intact;

	held->value = INTACT;
	*(volatile uint8_t *)held = 0;
	is_intact = held->value == INTACT;
	window_store_counts(window->samples, is_intact);
	text_put(&window->counters, "victim.memory",
		is_intact ? "intact" : "overwritten, and nobody was told");
	text_put(&window->counters, "victim.process", "unsupported: no processes");
	return 0;
}

static const char no_threads[] = "no threads";

#define NO_THREADS(number, row)                                                                    \
	{                                                                                          \
		.id = (number), .name = (row), .unsupported = no_threads                           \
	}

const struct bench bench_table[] = {
	{
		.id = 5,
		.name = "irq.split",
		.prepare = split_prepare,
		.estimate_ms = split_estimate_ms,
		.run = split_run,
	},
	NO_THREADS(11, "mutex.pair"),
	NO_THREADS(12, "sem.pair"),
	NO_THREADS(13, "yield.switch"),
	NO_THREADS(20, "sem.handoff"),
	NO_THREADS(21, "sem.handoff.low"),
	NO_THREADS(22, "mutex.handoff"),
	NO_THREADS(30, "thread.create"),
	NO_THREADS(31, "thread.join"),
	NO_THREADS(32, "create.join"),
	{.id = 41, .name = "timer.set", .unsupported = "one timer, always there"},
	NO_THREADS(50, "pi.bound"),
	{.id = 60, .name = "malloc", .unsupported = "no heap"},
	{
		.id = 90,
		.name = "containment",
		.prepare = contain_prepare,
		.estimate_ms = contain_estimate_ms,
		.run = contain_run,
	},
};

const size_t bench_table_size = sizeof(bench_table) / sizeof(bench_table[0]);
