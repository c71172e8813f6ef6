/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/baremetal/port.h"

#include "agents/baremetal/bench.h"
#include "agents/baremetal/console.h"
#include "agents/baremetal/cpu.h"
#include "agents/baremetal/instret.h"
#include "agents/baremetal/rtc.h"
#include "agents/baremetal/sbi.h"
#include "agents/baremetal/testbuild.h"
#include "agents/baremetal/timer.h"
#include "agents/baremetal/trap.h"
#include "agents/core/counter.h"

#define CODE_SIZE (128u * 1024)

extern uint8_t _start[];
extern uint8_t _end[];

static int port_console_read(
	struct agent_port *port, uint8_t *data, size_t capacity, uint32_t timeout_ms)
{
	uint64_t deadline = counter_read() + counter_scale(timeout_ms, port->counter_rate_hz, 1000);
	size_t size;

	testbuild_enter_service();
	for (;;) {
		cpu_close_interrupts();
		size = uart_read(data, capacity);
		if (size > 0 || counter_read() >= deadline)
			break;
		timer_wait_interrupt(deadline);
	}
	cpu_open_interrupts();
	return (int)size;
}

static int port_console_write(struct agent_port *port, const uint8_t *data, size_t size)
{
	(void)port;
	uart_write(data, size);
	return 0;
}

static int port_console_set_baud(struct agent_port *port, uint32_t baud)
{
	return uart_set_divisor((port->baud_base + baud / 2) / baud);
}

static void port_anchor(struct agent_port *port, uint64_t lead_counts, struct agent_anchor *anchor)
{
	uint64_t period = timer_get_period();
	uint64_t release = timer_get_next_tick();
	uint64_t earliest = counter_read() + lead_counts;

	(void)port;
	while (release < earliest)
		release += period;
	/* The compare value itself, so nothing is left to guess. */
	*anchor = (struct agent_anchor){
		.release_counts = release,
		.tick_counts = period,
		.kernel_tick_counts = period,
	};
}

static uint64_t port_wait_until(struct agent_port *port, uint64_t deadline_counts)
{
	struct timer_wake wake;
	uint64_t now = counter_read();

	(void)port;
	if (now >= deadline_counts)
		return now;
	timer_sleep_until(deadline_counts, &wake);
	return wake.thread;
}

static void port_sleep_ms(struct agent_port *port, uint32_t ms)
{
	(void)port;
	/* By the tick, as the OS clock goes: what reads it then reads it just after it moved. */
	if (ms > 0)
		timer_sleep_ticks((uint64_t)ms * 1000 / TIMER_TICK_US);
}

static uint64_t port_clock_ns(struct agent_port *port)
{
	(void)port;
	return timer_get_ticks() * TIMER_TICK_US * 1000;
}

static uint64_t port_uptime_counts(struct agent_port *port)
{
	return counter_read() - ((struct baremetal_port *)port)->machine->entry_counts;
}

static void port_window_begin(struct agent_port *port, struct window *window)
{
	struct baremetal_port *self = (struct baremetal_port *)port;

	(void)window;
	self->begin.lines = console_count_lines();
	self->begin.uart = uart_get_counts();
	self->begin.interrupts = trap_count_interrupts();
	self->begin.ticks = timer_get_ticks();
}

static void port_window_end(struct agent_port *port, struct window *window)
{
	const struct port_snapshot *begin = &((struct baremetal_port *)port)->begin;
	struct uart_counts uart;
	uint64_t ticks = timer_get_ticks();
	uint64_t interrupts = trap_count_interrupts();

	uart = uart_get_counts();
	/* Nothing here can page or switch: a fault ends the system. */
	text_put_u64s(&window->counters,
		"interrupts ticks page_faults context_switches uart_rx uart_tx uart_overruns "
		"kernel_messages",
		(const uint64_t[]){
			interrupts - begin->interrupts,
			ticks - begin->ticks,
			0,
			0,
			uart.received - begin->uart.received,
			uart.sent - begin->uart.sent,
			uart.overruns - begin->uart.overruns,
			console_count_lines() - begin->lines,
		});
}

static void port_enter_kernel(struct agent_port *port)
{
	(void)port;
}

/* The image with its stack, and what the agent has taken behind it. */
static uint64_t port_memory_used(struct agent_port *port)
{
	return (uint64_t)(_end - _start) + port->code_size + port->arena_size;
}

static void put_watchdog(const struct machine *machine, struct text *text)
{
	if (!machine->board->watchdogs[0])
		text_put(text, "watchdog", "none");
	else if (machine->watchdogs_running)
		text_put(text, "watchdog", "was running, stopped at entry");
	else
		text_put(text, "watchdog", "was off at entry");
}

/* A number of the tree's, where 0 means that the tree does not say. */
static void put_known(struct text *text, const char *key, uint64_t value)
{
	if (value)
		text_put_u64(text, key, value);
	else
		text_put(text, key, "unknown");
}

static void port_facts(struct agent_port *port, struct text *text)
{
	const struct machine *machine = ((struct baremetal_port *)port)->machine;

	text_put(text, "platform", machine->board->compatible);
	text_put_lines(text, "protection=S-flat\n"
			     "address_space=single, MMU off\n"
			     "scheduler=none\n"
			     "preemption=none\n"
			     "timer_path=SBI set_timer\n"
			     "wake_path=wfi, interrupt, main loop\n"
			     "clocksource=ticks\n"
			     "build.compiler=gcc " __VERSION__ "\n"
			     "build.flags=" BAREMETAL_FLAGS "\n"
#ifdef TESTBUILD_NAME
			     "build.test=" TESTBUILD_NAME "\n"
#endif
	);
	text_put_u64s(text,
		"tick_us tick_counts uptime_at_entry_us hart sbi_implementation sbi_version "
		"sbi_time",
		(const uint64_t[]){
			TIMER_TICK_US,
			timer_get_period(),
			counter_scale(machine->entry_counts, 1000000, machine->counter_rate_hz),
			machine->hart,
			sbi_get_implementation(),
			sbi_get_version(),
			(uint64_t)sbi_probe_extension(SBI_EXTENSION_TIME),
		});
	put_watchdog(machine, text);
	put_known(text, "memory_bytes", machine->memory_size);
	put_known(text, "uart_clock_hz", machine->uart_clock_hz);
	text_put(text, "instret", instret_get_state());
	if (instret_get_rate())
		text_put_u64(text, "instret_per_instruction", instret_get_rate());
	text_put(text, "plan", machine->plan_size ? "card" : "host");
}

static const struct agent_port_ops port_ops = {
	.console_read = port_console_read,
	.console_write = port_console_write,
	.console_set_baud = port_console_set_baud,
	.anchor = port_anchor,
	.wait_until = port_wait_until,
	.sleep_ms = port_sleep_ms,
	.clock_ns = port_clock_ns,
	.uptime_counts = port_uptime_counts,
	.kernel_entry = port_enter_kernel,
	.memory_used = port_memory_used,
	.window_begin = port_window_begin,
	.window_end = port_window_end,
	.facts = port_facts,
};

/* Without the UART's clock no rate is known, and the agent leaves it alone. */
static void set_rates(struct baremetal_port *port)
{
	uint32_t base = (uint32_t)(port->machine->uart_clock_hz / 16);
	uint32_t divisor = uart_get_divisor();

	if (base == 0 || divisor == 0)
		return;
	port->agent.baud_base = base;
	port->agent.console_baud = base / divisor;
}

/* All memory here can be executed: some of the arena is for the walk through the cache. */
static void take_code(struct agent_port *agent)
{
	if (agent->arena_size < 2 * CODE_SIZE)
		return;
	agent->code = agent->arena;
	agent->code_size = CODE_SIZE;
	agent->arena = agent->code + CODE_SIZE;
	agent->arena_size -= CODE_SIZE;
}

void port_init(
	struct baremetal_port *port, const struct machine *machine, void *arena, size_t arena_size)
{
	*port = (struct baremetal_port){
		.agent =
			{
				.ops = &port_ops,
				.counter_rate_hz = machine->counter_rate_hz,
				.system = "baremetal",
				.version = SAMEBOARD_VERSION,
				.mode = "S-flat",
				.benches = bench_table,
				.bench_count = bench_table_size,
				.kernel_entry_name = "plain call",
				.device = rtc_init(
					machine->board->rtc_base, machine->board->rtc_source),
				.caches = machine->caches,
				.plan = machine->plan_size ? machine->plan : NULL,
				.plan_size = machine->plan_size,
				.arena = arena,
				.arena_size = arena_size,
			},
		.machine = machine,
	};
	set_rates(port);
	take_code(&port->agent);
}
