/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/rtsmart/rtsmart_port.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "agents/core/build.h"
#include "agents/core/counter.h"

#ifndef SAMEBOARD_PLATFORM
#define SAMEBOARD_PLATFORM "unknown"
#endif
#ifndef SAMEBOARD_TICK_HZ
#define SAMEBOARD_TICK_HZ 1000
#endif

#define SILENCE_LIMIT_S 600u
#define NS_PER_S	1000000000u
#define MEASURED_NS	200000000u

/*
 * 0 is the highest of 32 (or 256).  The console's worker has 23: the measured
 * threads block above it, the load never sleeps and lies below.
 */
enum rtsmart_priority {
	RTSMART_PRIORITY_HIGH = 15,
	RTSMART_PRIORITY_MIDDLE = 17,
	RTSMART_PRIORITY_LOW = 19,
	RTSMART_PRIORITY_LOAD = 28,
};

static struct rtsmart_port *rtsmart_port(struct agent_port *port)
{
	return (struct rtsmart_port *)port;
}

/* ---------------------------------------------------------------- operations */

static int port_read(struct agent_port *port, uint8_t *data, size_t capacity, uint32_t timeout_ms)
{
	(void)port;
	return rtsmart_console_read(data, capacity, timeout_ms);
}

static int port_write(struct agent_port *port, const uint8_t *data, size_t size)
{
	return rtsmart_console_write(rtsmart_port(port)->console, data, size);
}

static void port_anchor(struct agent_port *port, uint64_t lead_counts, struct agent_anchor *anchor)
{
	posix_tick_anchor(&rtsmart_port(port)->tick, port, lead_counts, anchor);
}

static uint64_t port_wait_until(struct agent_port *port, uint64_t deadline_counts)
{
	return posix_tick_wait_until(&rtsmart_port(port)->tick, port, deadline_counts);
}

static void port_enter_kernel(struct agent_port *port)
{
	(void)port;
	(void)getpid();
}

static void port_window_begin(struct agent_port *port, struct window *window)
{
	(void)window;
	posix_tick_reset(&rtsmart_port(port)->tick);
}

static void port_window_end(struct agent_port *port, struct window *window)
{
	struct text *text = &window->counters;

	/* A user program is told none of these. */
	text_put(text, "interrupts", "unknown");
	text_put(text, "page_faults", "unknown");
	text_put(text, "context_switches", "unknown");
	text_put(text, "uart_rx", "unknown");
	text_put(text, "uart_tx", "unknown");
	/* A message goes to the console as it is formatted: the host would hear it. */
	text_put(text, "kernel_messages", "none");
	text_put_u64(text, "lost_ticks", rtsmart_port(port)->tick.lost_ticks);
}

static void put_build(struct text *text)
{
	build_put_facts(text);
	text_put(text, "agent_libc", "musl");
}

static void port_facts(struct agent_port *port, struct text *text)
{
	const struct rtsmart_port *rtsmart = rtsmart_port(port);
	const struct posix_schedule *schedules = rtsmart->posix.schedules;

	text_put(text, "kernel_version", rtsmart->name.version);
	text_put(text, "machine", rtsmart->name.machine);
	text_put(text, "platform", SAMEBOARD_PLATFORM);
	text_put(text, "protection", "U+MMU process");
	text_put(text, "address_space", "virtual, one per process");
	text_put(text, "scheduler", "fixed priority, 0 is the highest");
	text_put(text, "priorities",
		rtsmart->posix.priorities_are_permitted ? "fixed" : "inherited");
	text_put_i64(text, "priority.high", schedules[POSIX_PRIORITY_HIGH].priority);
	text_put_i64(text, "priority.middle", schedules[POSIX_PRIORITY_MIDDLE].priority);
	text_put_i64(text, "priority.low", schedules[POSIX_PRIORITY_LOW].priority);
	text_put_i64(text, "priority.load", schedules[POSIX_PRIORITY_LOAD].priority);
	text_put_u64(text, "tick_ns", rtsmart->posix.tick_ns);
	text_put_u64(text, "tick_hz", SAMEBOARD_TICK_HZ);
	text_put_u64(text, "clock_step_ns", rtsmart->tick.step_ns);
	text_put(text, "clock_source", rtsmart->tick.tick_counts ? "counted ticks" : "counter");
	text_put(text, "clock_event", "unknown");
	text_put(text, "clock_discipline", "off");
	text_put(text, "counter_rate_source",
		rtsmart->rate_is_known ? "measured by the clock: a known one"
				       : "measured by the clock");
	text_put(text, "thread_states", "unknown");
	text_put(text, "mlock", "none");
	text_put(text, "instret", "unsupported: user mode");
	put_build(text);
}

static const struct agent_port_ops rtsmart_ops = {
	.console_read = port_read,
	.console_write = port_write,
	.anchor = port_anchor,
	.wait_until = port_wait_until,
	.sleep_ms = posix_sleep_ms,
	.clock_ns = posix_clock_ns,
	.load_check = posix_load_check,
	.load_prepare = posix_load_prepare,
	.load_start = posix_load_start,
	.load_stop = posix_load_stop,
	.load_work = posix_load_work,
	.load_write = posix_load_write,
	.kernel_entry = port_enter_kernel,
	.window_begin = port_window_begin,
	.window_end = port_window_end,
	.facts = port_facts,
};

/* ---------------------------------------------------------------- threads */

static long port_thread_id(void)
{
	return 0;
}

static int port_thread_is_blocked(struct posix_port *port, long id)
{
	(void)port;
	(void)id;
	return -1;
}

static const struct posix_os rtsmart_os = {
	.thread_id = port_thread_id,
	.thread_is_blocked = port_thread_is_blocked,
	.no_create = "thread ids come back only when the system idles, and there are 64",
};

static void set_priorities(struct posix_port *posix)
{
	struct sched_param param = {.sched_priority = RTSMART_PRIORITY_HIGH};

	posix->schedules[POSIX_PRIORITY_HIGH] =
		(struct posix_schedule){SCHED_FIFO, RTSMART_PRIORITY_HIGH};
	posix->schedules[POSIX_PRIORITY_MIDDLE] =
		(struct posix_schedule){SCHED_FIFO, RTSMART_PRIORITY_MIDDLE};
	posix->schedules[POSIX_PRIORITY_LOW] =
		(struct posix_schedule){SCHED_FIFO, RTSMART_PRIORITY_LOW};
	posix->schedules[POSIX_PRIORITY_LOAD] =
		(struct posix_schedule){SCHED_FIFO, RTSMART_PRIORITY_LOAD};
	posix->priorities_are_permitted =
		pthread_setschedparam(pthread_self(), SCHED_FIFO, &param) == 0;
}

/* ---------------------------------------------------------------- life */

uint64_t rtsmart_port_snap_rate(uint64_t measured_hz, bool *is_known)
{
	/* QEMU's virt, Allwinner's D1, Kendryte's K230. */
	static const uint64_t known_hz[] = {10000000, 24000000, 27000000};

	for (size_t i = 0; i < sizeof(known_hz) / sizeof(known_hz[0]); i++) {
		uint64_t allowed = known_hz[i] / 200;

		if (measured_hz + allowed >= known_hz[i] && measured_hz <= known_hz[i] + allowed) {
			*is_known = true;
			return known_hz[i];
		}
	}
	*is_known = false;
	return measured_hz;
}

/* No call of this system tells it to a program. */
static uint64_t measure_rate(void)
{
	uint64_t begin_ns = posix_clock_ns(NULL);
	uint64_t begin = counter_read();
	uint64_t ns;

	do {
		ns = posix_clock_ns(NULL) - begin_ns;
	} while (ns < MEASURED_NS);
	return counter_scale(counter_read() - begin, NS_PER_S, ns);
}

void rtsmart_port_init(struct rtsmart_port *port, struct rtsmart_console *console, void *arena,
	size_t arena_size, uint8_t *load_stack)
{
	struct posix_port *posix = &port->posix;
	struct agent_port *agent = &posix->agent;

	memset(port, 0, sizeof(*port));
	port->console = console;
	if (uname(&port->name) != 0)
		strcpy(port->name.release, "unknown");
	agent->ops = &rtsmart_ops;
	agent->counter_rate_hz = rtsmart_port_snap_rate(measure_rate(), &port->rate_is_known);
	agent->system = "rtsmart";
	agent->version = port->name.release;
	agent->mode = "U+MMU thread";
	agent->benches = posix_benches;
	agent->bench_count = posix_bench_count;
	agent->kernel_entry_name = "getpid";
	agent->silence_limit_s = SILENCE_LIMIT_S;
	agent->arena = arena;
	agent->arena_size = arena_size;
	posix->os = &rtsmart_os;
	posix->load_stack = load_stack;
	posix->tick_ns = NS_PER_S / SAMEBOARD_TICK_HZ;
	posix->granularity_ns = posix->tick_ns;
	set_priorities(posix);
	posix_tick_init(&port->tick, posix);
}
