/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loads: one thread of the lowest priority does rounds of work, never
 * measured, always counted.  `ipc` and `mixed` have a partner for ping-pong.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "agents/core/counter.h"
#include "agents/core/grid.h"
#include "agents/core/posix/posix_port.h"

#define PINGS_A_ROUND	 8u
#define WRITES_A_ROUND	 16u
#define PERIOD_LEAST_US	 2000u
#define PERIOD_SPREAD_US 16000u
#define NS_PER_S	 1000000000u
#define PPM		 1000000u

static bool must_stop(struct posix_load *load)
{
	return atomic_load_explicit(&load->must_stop, memory_order_relaxed);
}

static void count_round(struct posix_load *load)
{
	atomic_fetch_add_explicit(&load->rounds, 1, memory_order_relaxed);
}

/* ---------------------------------------------------------------- work */

/* Once over the 4 kB; never sleeps and never enters the kernel. */
static uint64_t mix(uint64_t state, uint64_t *data, size_t words)
{
	for (size_t i = 0; i < words; i++) {
		state = state * 6364136223846793005u + data[i];
		data[i] = state >> 7;
	}
	return state;
}

static void work_cpu(struct posix_load *load)
{
	load->state = mix(load->state, load->data, sizeof(load->data) / sizeof(load->data[0]));
}

static void work_io(struct posix_load *load)
{
	const struct posix_os *os = load->port->os;

	if (os->io_write && os->io_write(load->port) == 0)
		load->writes++;
}

/* The blocks of a round, and then they are made to last. */
static void work_io_lasting(struct posix_load *load)
{
	const struct posix_os *os = load->port->os;

	for (unsigned int i = 0; i < WRITES_A_ROUND; i++)
		work_io(load);
	if (os->io_sync(load->port) == 0)
		load->syncs++;
}

/* Counts with the load's own rounds: they are of one size. */
static void *run_helper(void *context)
{
	struct posix_helper *helper = context;
	uint64_t data[512] = {0};
	uint64_t state = 1;

	while (!must_stop(helper->load)) {
		state = mix(state, data, sizeof(data) / sizeof(data[0]));
		count_round(helper->load);
	}
	return NULL;
}

/* A byte through a pipe, or a post where there are none. */
static int give(int fd, sem_t *semaphore)
{
	const char byte = 0;

	if (fd < 0)
		return sem_post(semaphore);
	return write(fd, &byte, 1) == 1 ? 0 : -1;
}

static int take(int fd, sem_t *semaphore)
{
	char byte;
	ssize_t got;

	if (fd < 0) {
		while (sem_wait(semaphore) != 0)
			if (errno != EINTR)
				return -1;
		return 0;
	}
	do {
		got = read(fd, &byte, 1);
	} while (got < 0 && errno == EINTR);
	return got == 1 ? 0 : -1;
}

static void *run_partner(void *context)
{
	struct posix_load *load = context;

	/* The load waits for each answer: only when it is gone nobody does. */
	while (take(load->ping[0], &load->pinged) == 0 && !atomic_load(&load->is_alone)) {
		if (give(load->pong[1], &load->ponged) != 0)
			break;
	}
	return NULL;
}

static void *run_child(void *context)
{
	return context;
}

static void work_ipc(struct posix_load *load)
{
	pthread_t child;

	for (unsigned int i = 0; i < PINGS_A_ROUND; i++) {
		if (give(load->ping[1], &load->pinged) != 0 ||
			take(load->pong[0], &load->ponged) != 0)
			return;
		load->pings++;
	}
	if (posix_start_thread(load->port, &child, POSIX_PRIORITY_LOAD, load->stack_child,
		    run_child, load) == 0) {
		pthread_join(child, NULL);
		load->creates++;
	}
}

/* ---------------------------------------------------------------- busy and idle */

uint64_t posix_load_period(const struct posix_port *port, uint32_t seed)
{
	uint64_t us = PERIOD_LEAST_US + grid_phase(seed, PERIOD_SPREAD_US);

	return counter_scale(us, port->agent.counter_rate_hz, 1000000);
}

/*
 * Busy for its share of each period by the counter; what one sleep takes too
 * long is made up for in the next period, so that the share holds on systems
 * that sleep by ticks.
 */
static void run_share(struct posix_load *load, uint32_t percent, bool is_heavy)
{
	uint64_t rate = load->port->agent.counter_rate_hz;
	uint64_t start = counter_read();
	uint64_t end = start;

	while (!must_stop(load)) {
		uint64_t from = counter_read();
		uint64_t period = posix_load_period(load->port, load->seed + load->periods++);
		uint64_t goal;
		uint64_t now;

		/* A stall of more than a period is left out, not made up for in one go. */
		if ((int64_t)(from - end) > (int64_t)period) {
			start += from - end;
			end = from;
		}
		end += period;
		goal = (end - start) * percent / 100;
		do {
			if (is_heavy) {
				churn_dirty(&load->churn);
				work_io(load);
			} else {
				work_cpu(load);
			}
			count_round(load);
			now = counter_read();
		} while (load->busy + (now - from) < goal && now - from < period &&
			 !must_stop(load));
		load->busy += now - from;
		if ((int64_t)(end - now) > 0)
			posix_sleep_ns(counter_scale(end - now, NS_PER_S, rate));
		load->total = counter_read() - start;
	}
}

static void run_endless(struct posix_load *load)
{
	bool is_mixed = load->kind == MESSAGE_LOAD_MIXED;

	while (!must_stop(load)) {
		if (is_mixed || load->kind == MESSAGE_LOAD_CPU ||
			load->kind == MESSAGE_LOAD_THERMAL)
			work_cpu(load);
		if (load->kind == MESSAGE_LOAD_IO)
			work_io_lasting(load);
		if (is_mixed || load->kind == MESSAGE_LOAD_CACHE)
			churn_dirty(&load->churn);
		if (is_mixed || load->kind == MESSAGE_LOAD_IPC)
			work_ipc(load);
		count_round(load);
	}
}

static void *run_load(void *context)
{
	struct posix_load *load = context;

	load->state = 1;
	if (load->kind == MESSAGE_LOAD_LIGHT)
		run_share(load, 25, false);
	else if (load->kind == MESSAGE_LOAD_MODERATE)
		run_share(load, 50, false);
	else if (load->kind == MESSAGE_LOAD_HEAVY)
		run_share(load, 75, true);
	else
		run_endless(load);
	return NULL;
}

/* ---------------------------------------------------------------- operations */

static bool has_churn(const struct posix_load *load)
{
	return load->kind == MESSAGE_LOAD_CACHE || load->kind == MESSAGE_LOAD_HEAVY ||
	       load->kind == MESSAGE_LOAD_MIXED;
}

static bool has_partner(const struct posix_load *load)
{
	return load->kind == MESSAGE_LOAD_IPC || load->kind == MESSAGE_LOAD_MIXED;
}

const char *posix_load_check(const struct agent_port *port, enum message_load kind)
{
	struct posix_port *posix = (struct posix_port *)(uintptr_t)port;
	const struct posix_os *os = posix->os;

	if (kind != MESSAGE_LOAD_IO)
		return NULL;
	return os->io_write && os->io_sync && os->io_where && os->io_where(posix)
		       ? NULL
		       : "no file to write to";
}

/* The load's own thread has one processor; each other one gets a helper. */
static int prepare_helpers(struct posix_load *load, struct window *window)
{
	const struct posix_os *os = load->port->os;
	unsigned int others = os->processors ? os->processors() - 1 : 0;

	load->helper_count = others < POSIX_HELPERS_MAX ? others : POSIX_HELPERS_MAX;
	for (unsigned int i = 0; i < load->helper_count; i++) {
		load->helpers[i].load = load;
		load->helpers[i].stack = arena_take(window->arena, POSIX_STACK_SIZE);
		if (!load->helpers[i].stack)
			return WIRE_ERROR_NO_MEMORY;
	}
	return 0;
}

int posix_load_prepare(struct agent_port *port, struct window *window)
{
	struct posix_port *posix = (struct posix_port *)port;
	struct posix_load *load = &posix->load;

	/* Everything anew: the window before it, or the program before it, may have left anything.
	 */
	memset(load, 0, sizeof(*load));
	load->port = posix;
	load->kind = window->plan.load;
	load->seed = window->plan.seed;
	load->ping[0] = load->ping[1] = load->pong[0] = load->pong[1] = -1;
	if (has_churn(load) && churn_init(&load->churn, window) != 0)
		return WIRE_ERROR_NO_MEMORY;
	if (has_partner(load)) {
		load->stack_partner = arena_take(window->arena, POSIX_STACK_SIZE);
		load->stack_child = arena_take(window->arena, POSIX_STACK_SIZE);
		if (!load->stack_partner || !load->stack_child)
			return WIRE_ERROR_NO_MEMORY;
	}
	return load->kind == MESSAGE_LOAD_THERMAL ? prepare_helpers(load, window) : 0;
}

static void close_pipes(struct posix_load *load)
{
	for (int i = 0; i < 2; i++) {
		if (load->ping[i] >= 0)
			close(load->ping[i]);
		if (load->pong[i] >= 0)
			close(load->pong[i]);
		load->ping[i] = load->pong[i] = -1;
	}
}

static void open_pipes(struct posix_load *load)
{
	const struct posix_os *os = load->port->os;

	if (os->open_pipe && os->open_pipe(load->ping) == 0 && os->open_pipe(load->pong) != 0)
		close_pipes(load);
	load->has_pipes = load->pong[1] >= 0;
}

static int start_partner(struct posix_load *load)
{
	int error;

	sem_init(&load->pinged, 0, 0);
	sem_init(&load->ponged, 0, 0);
	open_pipes(load);
	/* Before the partner: a fork may have to look at every thread's stack, and need not find
	 * it. */
	load->has_forks =
		load->port->os->forks_start && load->port->os->forks_start(load->port) == 0;
	error = posix_start_thread(load->port, &load->partner, POSIX_PRIORITY_LOAD,
		load->stack_partner, run_partner, load);
	if (error) {
		if (load->has_forks)
			load->port->os->forks_stop(load->port);
		close_pipes(load);
	}
	return error;
}

static void stop_partner(struct posix_load *load)
{
	atomic_store(&load->is_alone, true);
	if (load->has_forks)
		load->forks = load->port->os->forks_stop(load->port);
	give(load->ping[1], &load->pinged);
	pthread_join(load->partner, NULL);
	close_pipes(load);
	sem_destroy(&load->pinged);
	sem_destroy(&load->ponged);
}

static void stop_helpers(struct posix_load *load)
{
	atomic_store(&load->must_stop, true);
	while (load->helpers_running > 0)
		pthread_join(load->helpers[--load->helpers_running].thread, NULL);
}

static int start_helpers(struct posix_load *load)
{
	for (unsigned int i = 0; i < load->helper_count; i++) {
		struct posix_helper *helper = &load->helpers[i];

		if (posix_start_thread(load->port, &helper->thread, POSIX_PRIORITY_LOAD,
			    helper->stack, run_helper, helper) != 0) {
			stop_helpers(load);
			return -1;
		}
		load->helpers_running++;
	}
	return 0;
}

int posix_load_start(struct agent_port *port, struct window *window)
{
	struct posix_port *posix = (struct posix_port *)port;
	struct posix_load *load = &posix->load;

	/* A port without load_prepare would run an earlier load, or none. */
	if (load->port != posix || load->kind != window->plan.load)
		return window_fail(window, WIRE_ERROR_FAILED, "the load was not prepared");
	if (start_helpers(load) != 0 || (has_partner(load) && start_partner(load) != 0))
		return WIRE_ERROR_FAILED;
	load->is_running = posix_start_thread(posix, &load->thread, POSIX_PRIORITY_LOAD,
				   posix->load_stack, run_load, load) == 0;
	if (!load->is_running)
		stop_helpers(load);
	if (!load->is_running && has_partner(load))
		stop_partner(load);
	return load->is_running ? 0 : WIRE_ERROR_FAILED;
}

void posix_load_stop(struct agent_port *port)
{
	struct posix_load *load = &((struct posix_port *)port)->load;

	if (!load->is_running)
		return;
	atomic_store(&load->must_stop, true);
	/* The load may wait for its partner, so the partner goes last. */
	pthread_join(load->thread, NULL);
	stop_helpers(load);
	if (has_partner(load))
		stop_partner(load);
	load->is_running = false;
}

uint64_t posix_load_work(struct agent_port *port)
{
	struct posix_port *posix = (struct posix_port *)port;

	return atomic_load_explicit(&posix->load.rounds, memory_order_relaxed);
}

void posix_load_write(struct agent_port *port, struct text *text)
{
	const struct posix_load *load = &((struct posix_port *)port)->load;

	if (has_churn(load))
		churn_write(&load->churn, text);
	if (has_partner(load)) {
		text_put(text, "load_ipc", load->has_pipes ? "pipe" : "semaphore");
		text_put_u64(text, "load_pings", load->pings);
		text_put_u64(text, "load_creates", load->creates);
		if (load->has_forks)
			text_put_u64(text, "load_forks", load->forks);
		else
			text_put(text, "load_forks", "none: no processes");
	}
	if (load->periods > 0) {
		text_put_u64(text, "load_periods", load->periods);
		text_put_u64(text, "load_busy_ppm",
			load->total ? counter_scale(load->busy, PPM, load->total) : 0);
	}
	if (load->kind == MESSAGE_LOAD_HEAVY || load->kind == MESSAGE_LOAD_IO)
		text_put_u64(text, "load_writes", load->writes);
	if (load->kind == MESSAGE_LOAD_IO) {
		text_put_u64(text, "load_syncs", load->syncs);
		text_put(text, "load_file", load->port->os->io_where(load->port));
	}
	if (load->kind == MESSAGE_LOAD_THERMAL)
		text_put_u64(text, "load_threads", load->helper_count + 1);
}
