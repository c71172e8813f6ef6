/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/core/audit.h"

#include "agents/core/agent.h"
#include "agents/core/counter.h"

#define DURATION_DEFAULT_MS 20000u
#define STEP_MS		    50u
#define TRIES		    5u

struct audit {
	struct window_series *counter;
	struct window_series *os_ns;
	struct window_series *bracket;
};

int audit_prepare(struct window *window)
{
	struct audit *audit = arena_take(window->arena, sizeof(*audit));
	uint32_t points;

	if (window->plan.duration_ms == 0)
		window->plan.duration_ms = DURATION_DEFAULT_MS;
	points = window->plan.duration_ms / STEP_MS + 1;
	if (!audit)
		return WIRE_ERROR_NO_MEMORY;
	audit->counter = window_add_stamps(window, "counter", points);
	audit->os_ns = window_add_stamps(window, "os_ns", points);
	audit->bracket = window_add_counts(window, "bracket", points);
	window->bench_data = audit;
	return 0;
}

uint32_t audit_estimate_ms(const struct window *window)
{
	/* Each sleep may take a tick longer than asked. */
	return window->plan.duration_ms + window->plan.duration_ms / 4 + 4 * STEP_MS;
}

static void take_point(struct agent_port *port, struct audit *audit)
{
	uint64_t best = UINT64_MAX;
	uint64_t counter = 0;
	uint64_t os_ns = 0;

	for (unsigned int i = 0; i < TRIES; i++) {
		uint64_t before = counter_read();
		uint64_t ns = port->ops->clock_ns(port);
		uint64_t bracket = counter_read() - before;

		if (bracket < best) {
			best = bracket;
			counter = before;
			os_ns = ns;
		}
	}
	window_store_stamp(audit->counter, counter);
	window_store_stamp(audit->os_ns, os_ns);
	window_store_counts(audit->bracket, best > INT32_MAX ? INT64_MAX : (int64_t)best);
}

int audit_run(struct window *window)
{
	struct agent_port *port = window->port;
	struct audit *audit = window->bench_data;
	uint64_t length = counter_scale(window->plan.duration_ms, port->counter_rate_hz, 1000);
	uint64_t start = counter_read();

	take_point(port, audit);
	while (audit->counter->count < audit->counter->capacity &&
		counter_read() - start < length) {
		port->ops->sleep_ms(port, STEP_MS);
		take_point(port, audit);
	}
	text_put_u64s(&window->counters, "step_ms points",
		(const uint64_t[]){STEP_MS, audit->counter->count});
	return 0;
}

static const uint32_t sleeps_ms[] = {1, 10, 100, 1000};

#define SLEEP_COUNT (sizeof(sleeps_ms) / sizeof(sleeps_ms[0]))

int audit_prepare_sleep(struct window *window)
{
	window->samples = window_add_counts(window, "latency", SLEEP_COUNT);
	return 0;
}

uint32_t audit_estimate_sleep_ms(const struct window *window)
{
	uint32_t sum = 0;

	(void)window;
	for (unsigned int i = 0; i < SLEEP_COUNT; i++)
		sum += sleeps_ms[i] + 20;
	return sum;
}

int audit_run_sleep(struct window *window)
{
	struct agent_port *port = window->port;
	uint32_t early = 0;

	for (unsigned int i = 0; i < SLEEP_COUNT; i++) {
		uint64_t asked = counter_scale(sleeps_ms[i], port->counter_rate_hz, 1000);
		uint64_t start = counter_read();
		int64_t over;

		port->ops->sleep_ms(port, sleeps_ms[i]);
		over = (int64_t)(counter_read() - start - asked);
		early += over < 0;
		window_store_counts(window->samples, over);
	}
	text_put(&window->counters, "sleeps_ms", "1 10 100 1000");
	text_put_u64(&window->counters, "early", early);
	return 0;
}
