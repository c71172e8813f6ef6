/* SPDX-License-Identifier: Apache-2.0 */
/*
 * B90 containment: somebody writes where nothing of its own is; who goes on?
 * Each row is one value, 1 for `went on` and 0 for `did not`.  `held.process`:
 * the agent, beside a process that writes wildly; `held.thread`: a measuring
 * thread, beside a thread of its own process that does (both in processes of
 * their own, where there are any).  `held.memory`: the agent's own memory, when one of its
 * threads writes into what another thread holds; it is either intact or not.
 */
#include "agents/core/counter.h"
#include "agents/core/posix/posix_port.h"

#define INTACT 0x5a5a5a5a5a5a5a5au

struct victim {
	struct posix_port *port;
	uint8_t *stack;
	volatile uint64_t *held; /* by the measuring thread */
	struct window_series *process;
	struct window_series *thread;
	struct window_series *memory;
};

int posix_victim_prepare(struct window *window)
{
	struct victim *victim = arena_take(window->arena, sizeof(*victim));
	struct posix_port *port = (struct posix_port *)window->port;

	if (!victim)
		return WIRE_ERROR_NO_MEMORY;
	victim->port = port;
	victim->stack = arena_take(window->arena, POSIX_STACK_SIZE);
	victim->held = arena_take(window->arena, sizeof(*victim->held));
	victim->memory = window_add_counts(window, "held.memory", 1);
	window->bench_data = victim;
	window->samples = victim->memory;
	if (!victim->stack || !victim->held || !victim->memory)
		return WIRE_ERROR_NO_MEMORY;
	if (!port->os->victim_begin || !port->os->victim_run)
		return 0;
	victim->process = window_add_counts(window, "held.process", 1);
	victim->thread = window_add_counts(window, "held.thread", 1);
	if (!victim->process || !victim->thread)
		return WIRE_ERROR_NO_MEMORY;
	for (int i = 0; i < POSIX_VICTIMS; i++)
		if (port->os->victim_begin(port, (enum posix_victim)i) != 0)
			return window_fail(window, WIRE_ERROR_FAILED,
				"a process for the victim cannot be made");
	return 0;
}

uint32_t posix_victim_estimate_ms(const struct window *window)
{
	(void)window;
	return 1000 * POSIX_VICTIMS;
}

/* As a pointer gone astray would: nobody stops it, or it never comes back. */
static void *run_victim(void *context)
{
	struct victim *victim = context;

	*victim->held = ~INTACT;
	return NULL;
}

static int write_to_memory(struct window *window, struct victim *victim)
{
	pthread_t thread;
	int error;

	*victim->held = INTACT;
	error = posix_start_thread(
		victim->port, &thread, POSIX_PRIORITY_LOW, victim->stack, run_victim, victim);
	if (error)
		return posix_fail(window, "victim", error);
	pthread_join(thread, NULL);
	window_store_counts(victim->memory, *victim->held == INTACT);
	text_put(&window->counters, "victim.memory",
		*victim->held == INTACT ? "intact" : "overwritten, and nobody was told");
	return 0;
}

static int write_astray(struct window *window, struct victim *victim, enum posix_victim kind)
{
	bool is_process = kind == POSIX_VICTIM_PROCESS;
	struct posix_fate fate = {0};

	if (victim->port->os->victim_run(victim->port, kind, &fate) != 0)
		return window_fail(
			window, WIRE_ERROR_FAILED, "the victim neither died nor went on");
	window_store_counts(is_process ? victim->process : victim->thread,
		is_process ? fate.agent_survived : fate.measurer_survived);
	text_put_i64(&window->counters,
		is_process ? "victim.process.signal" : "victim.thread.signal", fate.signal);
	return 0;
}

int posix_victim_run(struct window *window)
{
	struct victim *victim = window->bench_data;
	int status = write_to_memory(window, victim);

	for (int i = 0; status == 0 && victim->process && i < POSIX_VICTIMS; i++)
		status = write_astray(window, victim, (enum posix_victim)i);
	if (!victim->process)
		text_put(&window->counters, "victim.process", "unsupported: no processes");
	return status;
}
