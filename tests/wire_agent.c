/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/wire_agent.h"

#include <stdlib.h>
#include <string.h>

#include "agents/core/counter.h"
#include "tests/vectors.h"

#define ARENA_SIZE   (1u << 20)
#define RECEIVE_RING 64u
#define BOOT_NS	     1500000000u

/* -------------------------------------------------------- handing over */

/* Caller holds the mutex: lets the other side run until it hands back. */
static void hand_over(struct wire_agent *agent, bool to_agent)
{
	agent->is_agents_turn = to_agent;
	pthread_cond_broadcast(&agent->turned);
	while (agent->is_agents_turn == to_agent && !(to_agent && agent->is_over))
		pthread_cond_wait(&agent->turned, &agent->mutex);
}

static void wait_until_ns(struct wire_agent *agent, uint64_t at_ns, bool wants_bytes)
{
	agent->wake_ns = at_ns;
	agent->wants_bytes = wants_bytes;
	if (!agent->is_closing)
		hand_over(agent, false);
	agent->wants_bytes = false;
}

/* ---------------------------------------------------------------- port */

static int port_read(struct agent_port *port, uint8_t *data, size_t capacity, uint32_t timeout_ms)
{
	struct wire_agent *agent = (struct wire_agent *)port;
	size_t size;

	if (agent->input_size == 0 && timeout_ms > 0)
		wait_until_ns(agent, agent->line->now_ns + timeout_ms * 1000000ull, true);
	if (agent->is_closing)
		return -1;
	size = agent->input_size < capacity ? agent->input_size : capacity;
	memcpy(data, agent->input, size);
	agent->input_size -= size;
	memmove(agent->input, agent->input + size, agent->input_size);
	return (int)size;
}

static int port_write(struct agent_port *port, const uint8_t *data, size_t size)
{
	struct wire_agent *agent = (struct wire_agent *)port;

	wire_line_send(agent->line, data, size);
	wait_until_ns(agent, agent->line->to_host.free_ns, false);
	return agent->is_closing ? -1 : 0;
}

static int port_set_baud(struct agent_port *port, uint32_t baud)
{
	wire_line_set_target_baud(((struct wire_agent *)port)->line, baud);
	return 0;
}

static void port_anchor(struct agent_port *port, uint64_t lead_counts, struct agent_anchor *anchor)
{
	(void)port;
	*anchor = (struct agent_anchor){.release_counts = counter_read() + lead_counts};
}

static uint64_t port_wait_until(struct agent_port *port, uint64_t deadline_counts)
{
	(void)port;
	while (counter_read() < deadline_counts)
		;
	return counter_read();
}

static void port_sleep_ms(struct agent_port *port, uint32_t ms)
{
	struct wire_agent *agent = (struct wire_agent *)port;

	wait_until_ns(agent, agent->line->now_ns + ms * 1000000ull, false);
}

static uint64_t port_clock_ns(struct agent_port *port)
{
	return ((struct wire_agent *)port)->line->now_ns;
}

static void port_window(struct agent_port *port, struct window *window)
{
	(void)port;
	(void)window;
}

static void port_facts(struct agent_port *port, struct text *text)
{
	(void)port;
	text_put(text, "platform", "simulated");
}

int32_t wire_agent_value(uint32_t seed, uint32_t at)
{
	uint64_t state = (uint64_t)seed << 32 | at;

	return (int32_t)(vectors_random(&state) % 5000);
}

static int bench_prepare(struct window *window)
{
	window->samples = window_add_counts(window, "latency", window->plan.n);
	return window->samples ? 0 : WIRE_ERROR_NO_MEMORY;
}

static uint32_t bench_estimate_ms(const struct window *window)
{
	(void)window;
	return 500;
}

static int bench_run(struct window *window)
{
	window->port->ops->sleep_ms(window->port, 500);
	for (uint32_t i = 0; i < window->plan.n; i++)
		window_store_counts(window->samples, wire_agent_value(window->plan.seed, i));
	return 0;
}

/* ---------------------------------------------------------------- line */

static void *run(void *context)
{
	struct wire_agent *agent = context;

	pthread_mutex_lock(&agent->mutex);
	while (!agent->is_agents_turn)
		pthread_cond_wait(&agent->turned, &agent->mutex);
	agent_run(&agent->port);
	agent->is_over = true;
	agent->is_agents_turn = false;
	pthread_cond_broadcast(&agent->turned);
	pthread_mutex_unlock(&agent->mutex);
	return NULL;
}

static void receive(void *context, uint8_t byte)
{
	struct wire_agent *agent = context;

	if (agent->boot_ns > 0)
		return;
	if (agent->input_size >= RECEIVE_RING) {
		agent->overruns++;
		return;
	}
	agent->input[agent->input_size++] = byte;
}

static uint64_t agent_wake_ns(const struct wire_agent *agent)
{
	if (agent->boot_ns > 0)
		return agent->boot_ns;
	if (agent->is_over)
		return WIRE_NEVER;
	return agent->wants_bytes && agent->input_size > 0 ? agent->line->now_ns : agent->wake_ns;
}

static uint64_t wake_ns(void *context)
{
	const struct wire_agent *agent = context;
	uint64_t at_ns = agent_wake_ns(agent);

	return agent->reset_ns > 0 && agent->reset_ns < at_ns ? agent->reset_ns : at_ns;
}

static void turn(struct wire_agent *agent)
{
	pthread_mutex_lock(&agent->mutex);
	hand_over(agent, true);
	pthread_mutex_unlock(&agent->mutex);
}

static void start(struct wire_agent *agent)
{
	agent->is_closing = agent->is_over = agent->is_agents_turn = false;
	agent->wants_bytes = false;
	agent->wake_ns = agent->line->now_ns;
	agent->input_size = 0;
	pthread_create(&agent->thread, NULL, run, agent);
}

static void stop(struct wire_agent *agent)
{
	agent->is_closing = true;
	if (!agent->is_over)
		turn(agent);
	pthread_join(agent->thread, NULL);
}

/* Power stays: a loader speaks at the console's rate, then the agent starts anew. */
static void reset(struct wire_agent *agent)
{
	static const uint8_t banner[] = "\r\nU-Boot SPL 2024.01\r\nTrying to boot from MMC1\r\n";

	agent->reset_ns = 0;
	agent->resets++;
	if (agent->boot_ns == 0)
		stop(agent);
	/* What stood in the UART is gone. */
	agent->line->to_host.head = agent->line->to_host.tail;
	agent->line->to_host.free_ns = agent->line->now_ns;
	wire_line_set_target_baud(agent->line, agent->port.console_baud);
	wire_line_send(agent->line, banner, sizeof(banner) - 1);
	agent->boot_ns = agent->line->now_ns + BOOT_NS;
}

static void act(void *context)
{
	struct wire_agent *agent = context;

	if (agent->reset_ns > 0 && agent->line->now_ns >= agent->reset_ns) {
		reset(agent);
		return;
	}
	if (agent->boot_ns > 0) {
		agent->boot_ns = 0;
		start(agent);
	}
	turn(agent);
}

void wire_agent_init(struct wire_agent *agent, struct wire_line *line)
{
	static const struct agent_port_ops ops = {
		.console_read = port_read,
		.console_write = port_write,
		.console_set_baud = port_set_baud,
		.anchor = port_anchor,
		.wait_until = port_wait_until,
		.sleep_ms = port_sleep_ms,
		.clock_ns = port_clock_ns,
		.window_begin = port_window,
		.window_end = port_window,
		.facts = port_facts,
	};
	static const struct bench benches[] = {
		{
			.id = WIRE_AGENT_BENCH,
			.name = "seeded",
			.prepare = bench_prepare,
			.estimate_ms = bench_estimate_ms,
			.run = bench_run,
		},
	};

	memset(agent, 0, sizeof(*agent));
	agent->arena = malloc(ARENA_SIZE);
	agent->port = (struct agent_port){
		.ops = &ops,
		.counter_rate_hz = 1000000000,
		.system = "simulated",
		.version = "1",
		.mode = "U+MMU thread",
		.benches = benches,
		.bench_count = 1,
		.console_baud = line->target_baud,
		.baud_base = WIRE_AGENT_BASE,
		.arena = agent->arena,
		.arena_size = ARENA_SIZE,
	};
	agent->line = line;
	pthread_mutex_init(&agent->mutex, NULL);
	pthread_cond_init(&agent->turned, NULL);
	line->end = (struct wire_end){
		.context = agent, .receive = receive, .wake_ns = wake_ns, .act = act};
	start(agent);
}

void wire_agent_fini(struct wire_agent *agent)
{
	if (agent->boot_ns == 0)
		stop(agent);
	pthread_mutex_destroy(&agent->mutex);
	pthread_cond_destroy(&agent->turned);
	free(agent->arena);
}
