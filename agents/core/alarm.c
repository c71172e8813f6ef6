/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/core/alarm.h"

#include "agents/core/agent.h"

#define COLD_MAX 2u

struct alarm {
	struct window_series *cold;
	struct window_series *latency;
	struct window_series *isr;
	struct window_series *bracket;
};

const char *alarm_check(const struct agent_port *port)
{
	return port->device ? NULL : "no device with a clock and an interrupt of its own";
}

int alarm_prepare(struct window *window)
{
	struct alarm *alarm = arena_take(window->arena, sizeof(*alarm));
	uint32_t n = window->plan.n;
	uint32_t cold = window_cold_count(window);

	if (n == 0)
		return WIRE_ERROR_BAD_RANGE;
	if (!alarm)
		return WIRE_ERROR_NO_MEMORY;
	/* An alarm may take seconds: its warm-up is short. */
	alarm->cold = window_add_counts(window, "cold", cold < COLD_MAX ? cold : COLD_MAX);
	alarm->latency = window_add_counts(window, "latency", n);
	alarm->bracket = window_add_counts(window, "bracket", n);
	alarm->isr =
		window->port->device->stamps_handler ? window_add_counts(window, "isr", n) : NULL;
	window->bench_data = alarm;
	window->samples = alarm->latency;
	return 0;
}

uint32_t alarm_estimate_ms(const struct window *window)
{
	uint64_t alarms = (uint64_t)window->plan.n + COLD_MAX;
	uint64_t estimate = alarms * window->port->device->step_us / 1000 + 100;

	return estimate > UINT32_MAX ? UINT32_MAX : (uint32_t)estimate;
}

static int take_one(struct window *window, struct alarm *alarm, struct window_series *series)
{
	struct agent_port *port = window->port;
	struct agent_alarm came = {0};
	int status = port->device->wait(port, &came);

	if (status)
		return window_fail(window, status, "an alarm could not be set or did not come");
	window_store_counts(series, (int64_t)(came.thread_counts - came.due_counts));
	if (series == alarm->cold)
		return 0;
	window_store_counts(alarm->bracket, (int64_t)came.bracket_counts);
	if (alarm->isr)
		window_store_counts(alarm->isr, (int64_t)(came.isr_counts - came.due_counts));
	return 0;
}

int alarm_run(struct window *window)
{
	struct agent_port *port = window->port;
	struct alarm *alarm = window->bench_data;
	int status = port->device->begin(port);

	if (status)
		return window_fail(window, status, "the device cannot be used");
	while (status == 0 && alarm->cold->count < alarm->cold->capacity)
		status = take_one(window, alarm, alarm->cold);
	while (status == 0 && alarm->latency->count < alarm->latency->capacity)
		status = take_one(window, alarm, alarm->latency);
	port->device->end(port);
	text_put(&window->counters, "device", port->device->name);
	return status;
}
