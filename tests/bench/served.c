/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/served.h"

#include <stdio.h>
#include <stdlib.h>

#include "agents/core/counter.h"
#include "agents/linux/port.h"
#include "boardctl/monotonic.h"
#include "tests/bench/rig.h"

#define ARENA_SIZE (8u << 20)

/* One agent a process: its operations are given nothing but the port. */
static struct served *served_now;
static void (*window_end)(struct agent_port *port, struct window *window);

static int prepare(struct window *window)
{
	if (window->plan.n == 0 || window->plan.n > served_now->samples->count)
		return WIRE_ERROR_BAD_RANGE;
	window->samples = window_add_counts(window, "latency", window->plan.n);
	return window->samples ? 0 : WIRE_ERROR_NO_MEMORY;
}

static uint32_t estimate_ms(const struct window *window)
{
	(void)window;
	return 1;
}

static int run(struct window *window)
{
	const int32_t *values = served_now->samples->values;

	while (window->samples->count < window->samples->capacity)
		window_store_counts(window->samples, values[window->samples->count]);
	served_now->last_release_us = monotonic_get_us();
	return 0;
}

/* The counter of this machine may be a hundred times as fast as the one that is spoken of. */
static void scale_floor(struct window_series *floor, uint64_t hz)
{
	int32_t *values = floor->data;

	for (uint32_t i = 0; i < floor->count; i++)
		values[i] = (int32_t)((int64_t)values[i] * SERVED_HZ / (int64_t)hz);
}

static void end_window(struct agent_port *port, struct window *window)
{
	scale_floor(window->floor_before, port->counter_rate_hz);
	scale_floor(window->floor_after, port->counter_rate_hz);
	window_end(port, window);
}

static const struct bench row = {
	.id = 1,
	.name = "wake.idle",
	.prepare = prepare,
	.estimate_ms = estimate_ms,
	.run = run,
};

static int serve(struct console *console)
{
	uint8_t *memory = calloc(1, ARENA_SIZE + POSIX_STACK_SIZE);
	struct agent_port_ops ops;
	struct linux_port port;
	struct tuning tuning;
	enum agent_end end;

	if (!memory)
		return 1;
	tuning_apply(&tuning, true);
	port_init(&port, console, &tuning, true);
	port_set_memory(&port, memory, ARENA_SIZE, memory + ARENA_SIZE);
	ops = *port.posix.agent.ops;
	window_end = ops.window_end;
	ops.window_end = end_window;
	port.posix.agent.ops = &ops;
	port.posix.agent.benches = &row;
	port.posix.agent.bench_count = 1;
	end = agent_run(&port.posix.agent);
	port_fini(&port);
	tuning_restore(&tuning);
	free(memory);
	return end == AGENT_END_QUIT ? 0 : 1;
}

int served_run(struct served *served, const char *path)
{
	struct console console;
	int status = 1;

	served_now = served;
	if (console_open(&console, path, BENCH_BAUD) == 0)
		status = serve(&console);
	else
		fprintf(stderr, "agent: %s\n", console_error(&console));
	console_close(&console);
	return status;
}
