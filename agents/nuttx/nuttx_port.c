/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/nuttx/nuttx_port.h"

#include <nuttx/config.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "agents/core/counter.h"
#include "agents/nuttx/nuttx_console.h"
#include "agents/nuttx/nuttx_facts.h"
#include "agents/nuttx/nuttx_proc.h"

#define SILENCE_LIMIT_S 600u
#define PRIORITY_STEP	5

/* NuttX takes 0 and 256 and then hangs. */
_Static_assert(
	CONFIG_SAMEBOARD_PRIORITY_LOAD >= 1 && CONFIG_SAMEBOARD_PRIORITY_HIGH <= 255 &&
		CONFIG_SAMEBOARD_PRIORITY_LOAD < CONFIG_SAMEBOARD_PRIORITY_HIGH - 2 * PRIORITY_STEP,
	"priorities of NuttX are 1 to 255, the load's below the measured ones");

static struct nuttx_port *nuttx_port(struct agent_port *port)
{
	return (struct nuttx_port *)port;
}

/* ---------------------------------------------------------------- operations */

static int port_read(struct agent_port *port, uint8_t *data, size_t capacity, uint32_t timeout_ms)
{
	(void)port;
	return nuttx_console_read(data, capacity, timeout_ms);
}

static int port_write(struct agent_port *port, const uint8_t *data, size_t size)
{
	(void)port;
	return nuttx_console_write(data, size);
}

static void port_anchor(struct agent_port *port, uint64_t lead_counts, struct agent_anchor *anchor)
{
	posix_tick_anchor(&nuttx_port(port)->tick, port, lead_counts, anchor);
}

static uint64_t port_wait_until(struct agent_port *port, uint64_t deadline_counts)
{
	return posix_tick_wait_until(&nuttx_port(port)->tick, port, deadline_counts);
}

/* Where no kernel stands apart it is a plain call, and the row says so. */
static void port_enter_kernel(struct agent_port *port)
{
	(void)port;
	(void)getpid();
}

static int port_open_pipe(int ends[2])
{
#if defined(CONFIG_PIPES)
	return pipe(ends);
#else
	(void)ends;
	return -1;
#endif
}

static void port_window_begin(struct agent_port *port, struct window *window)
{
	struct nuttx_port *nuttx = nuttx_port(port);

	(void)window;
	posix_tick_reset(&nuttx->tick);
	/* Reading begins the counts anew. */
	nuttx->has_interrupts = nuttx_proc_count_interrupts() != NUTTX_PROC_UNKNOWN;
}

static void put_count(struct text *text, const char *key, bool is_known, uint64_t count)
{
	if (is_known)
		text_put_u64(text, key, count);
	else
		text_put(text, key, "unknown");
}

static void port_window_end(struct agent_port *port, struct window *window)
{
	struct nuttx_port *nuttx = nuttx_port(port);
	struct text *text = &window->counters;
	int waiting = nuttx_console_count_waiting();
	uint64_t interrupts = nuttx_proc_count_interrupts();

	put_count(text, "interrupts", nuttx->has_interrupts && interrupts != NUTTX_PROC_UNKNOWN,
		interrupts);
	text_put_u64(text, "lost_ticks", nuttx->tick.lost_ticks);
#if defined(CONFIG_PAGING) || defined(CONFIG_LEGACY_PAGING)
	text_put(text, "page_faults", "unknown");
#else
	text_put(text, "page_faults", "none");
#endif
	text_put(text, "context_switches", "unknown");
	put_count(text, "uart_rx", waiting >= 0, (uint64_t)waiting);
	text_put(text, "uart_tx", "unknown");
	/* A message goes to the console as it is formatted: the host would hear it. */
#if defined(CONFIG_RAMLOG_SYSLOG) || defined(CONFIG_SYSLOG_FILE) || defined(CONFIG_SYSLOG_RPMSG)
	text_put(text, "kernel_messages", "unknown");
#else
	text_put(text, "kernel_messages", "none");
#endif
}

static void port_facts(struct agent_port *port, struct text *text)
{
	nuttx_facts_write(nuttx_port(port), text);
}

static const struct agent_port_ops nuttx_ops = {
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
	return (long)gettid();
}

static int port_thread_is_blocked(struct posix_port *port, long id)
{
	struct nuttx_port *nuttx = (struct nuttx_port *)port;

	return nuttx->states_are_known ? nuttx_proc_is_blocked(id) : -1;
}

static const struct posix_os nuttx_os = {
	.thread_id = port_thread_id,
	.thread_is_blocked = port_thread_is_blocked,
	.open_pipe = port_open_pipe,
	/* A joiner of higher priority goes on before the end of the thread's exit. */
	.stack_outlives_join = true,
};

static void set_priorities(struct posix_port *posix)
{
	const int high = CONFIG_SAMEBOARD_PRIORITY_HIGH;
	struct sched_param param = {.sched_priority = high};

	posix->schedules[POSIX_PRIORITY_HIGH] = (struct posix_schedule){SCHED_FIFO, high};
	posix->schedules[POSIX_PRIORITY_MIDDLE] =
		(struct posix_schedule){SCHED_FIFO, high - PRIORITY_STEP};
	posix->schedules[POSIX_PRIORITY_LOW] =
		(struct posix_schedule){SCHED_FIFO, high - 2 * PRIORITY_STEP};
	posix->schedules[POSIX_PRIORITY_LOAD] =
		(struct posix_schedule){SCHED_FIFO, CONFIG_SAMEBOARD_PRIORITY_LOAD};
	posix->priorities_are_permitted =
		pthread_setschedparam(pthread_self(), SCHED_FIFO, &param) == 0;
}

/* ---------------------------------------------------------------- life */

void nuttx_port_init(struct nuttx_port *port, void *arena, size_t arena_size, uint8_t *load_stack)
{
	struct posix_port *posix = &port->posix;
	struct agent_port *agent = &posix->agent;

	memset(port, 0, sizeof(*port));
	if (uname(&port->name) != 0)
		strcpy(port->name.release, "unknown");
	agent->ops = &nuttx_ops;
	agent->counter_rate_hz = CONFIG_SAMEBOARD_COUNTER_HZ;
	agent->system = "nuttx";
	agent->version = port->name.release;
	agent->mode = nuttx_facts_mode();
	agent->benches = posix_benches;
	agent->bench_count = posix_bench_count;
#if defined(CONFIG_BUILD_FLAT)
	agent->kernel_entry_name = "plain call";
#else
	agent->kernel_entry_name = "getpid";
#endif
	agent->silence_limit_s = SILENCE_LIMIT_S;
	agent->arena = arena;
	agent->arena_size = arena_size;
	posix->os = &nuttx_os;
	posix->load_stack = load_stack;
	/* clock_getres() says 1 ms whatever the truth: the configuration knows. */
	posix->tick_ns = (uint64_t)CONFIG_USEC_PER_TICK * 1000;
	posix->granularity_ns = posix->tick_ns;
	set_priorities(posix);
	port->states_are_known = nuttx_proc_is_blocked(port_thread_id()) == 0;
	if (agent->counter_rate_hz)
		posix_tick_init(&port->tick, posix);
}
