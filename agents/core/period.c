/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/core/period.h"

#include "agents/core/agent.h"
#include "agents/core/counter.h"
#include "agents/core/grid.h"

#define DURATION_DEFAULT_MS 10000u
#define LEAD_MS		    20u
#define WORK_ADDS	    4096u

static const struct {
	const char *name;
	uint32_t period_us;
} periods[] = {
	{"period.100us", 100},
	{"period.200us", 200},
	{"period.500us", 500},
	{"period.1ms", 1000},
	{"period.2ms", 2000},
	{"period.5ms", 5000},
	{"period.10ms", 10000},
};

#define PERIODS (sizeof(periods) / sizeof(periods[0]))

struct period {
	struct window_series *samples[PERIODS];
	uint32_t releases[PERIODS];
	uint32_t missed[PERIODS];
	uint32_t unserved[PERIODS];
};

int period_prepare(struct window *window)
{
	struct period *period = arena_take(window->arena, sizeof(*period));

	if (window->plan.duration_ms == 0)
		window->plan.duration_ms = DURATION_DEFAULT_MS;
	if (!period)
		return WIRE_ERROR_NO_MEMORY;
	for (size_t i = 0; i < PERIODS; i++) {
		uint64_t releases =
			(uint64_t)window->plan.duration_ms * 1000 / periods[i].period_us;

		if (releases == 0 || releases > UINT32_MAX) {
			window->refused = window->plan.duration_ms;
			return WIRE_ERROR_BAD_RANGE;
		}
		period->releases[i] = (uint32_t)releases;
		period->samples[i] = window_add_counts(window, periods[i].name,
			releases < PERIOD_SAMPLES_MAX ? (uint32_t)releases : PERIOD_SAMPLES_MAX);
	}
	window->bench_data = period;
	window->samples = period->samples[0];
	return 0;
}

uint32_t period_estimate_ms(const struct window *window)
{
	uint64_t each = (uint64_t)window->plan.duration_ms * 5 / 4 + 4 * LEAD_MS;

	return each * PERIODS > UINT32_MAX ? UINT32_MAX : (uint32_t)(each * PERIODS);
}

static void work(void)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < WORK_ADDS; i++) {
		sum += i;
		/* Not foreseen by the compiler, so that each is made. */
		__asm__ volatile("" : "+r"(sum));
	}
}

static void run_grid(struct window *window, struct period *period, size_t at)
{
	struct agent_port *port = window->port;
	uint64_t rate = port->counter_rate_hz;
	struct agent_anchor anchor;
	struct grid grid;
	uint32_t served = 0;
	uint64_t limit;
	uint64_t now;

	port->ops->anchor(port, counter_scale(LEAD_MS, rate, 1000), &anchor);
	grid_init(&grid, anchor.release_counts, periods[at].period_us, rate);
	limit = anchor.release_counts + counter_scale(window->plan.duration_ms, rate, 800);
	now = grid.next - 1;
	while (served < period->releases[at] && (int64_t)(now - limit) < 0) {
		uint64_t release = grid_next(&grid, now);

		port->ops->wait_until(port, release);
		work();
		now = counter_read();
		window_store_counts(period->samples[at], grid_judge(&grid, release, now));
		served++;
	}
	period->unserved[at] = period->releases[at] - served;
	period->missed[at] = grid.missed + period->unserved[at];
}

static void put(struct text *text, const char *what, size_t at, uint64_t value)
{
	text_append(text, what);
	text_append(text, periods[at].name);
	text_append(text, "=");
	text_append_u64(text, value);
	text_end_line(text);
}

int period_run(struct window *window)
{
	struct period *period = window->bench_data;
	struct text *counters = &window->counters;
	uint32_t shortest_us = 0;

	/* From the longest on: none begins behind a grid that could not be kept. */
	for (size_t i = PERIODS; i-- > 0;)
		run_grid(window, period, i);
	for (size_t i = PERIODS; i-- > 0 && period->missed[i] == 0;)
		shortest_us = periods[i].period_us;
	text_put_u64(counters, "work_adds", WORK_ADDS);
	for (size_t i = 0; i < PERIODS; i++) {
		put(counters, "releases.", i, period->releases[i]);
		put(counters, "missed.", i, period->missed[i]);
		put(counters, "unserved.", i, period->unserved[i]);
	}
	/* 0: even the longest was missed. */
	text_put_u64(counters, "shortest_kept_us", shortest_us);
	return 0;
}
