/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What systems with POSIX threads share: the port's clock and load operations,
 * threads of fixed priority, and the table of benches.  A port embeds struct
 * posix_port as the first member of its own struct, fills the fields above the
 * line, and puts the functions below into its struct agent_port_ops.
 *
 * No function prints or exits.  The functions are called from the thread that
 * runs agent_run().
 */
#ifndef AGENTS_CORE_POSIX_POSIX_PORT_H
#define AGENTS_CORE_POSIX_POSIX_PORT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agents/core/agent.h"

#define POSIX_STACK_SIZE (128u * 1024)

/* H > M > L, all measured threads; the load lies below all of them. */
enum posix_priority {
	POSIX_PRIORITY_HIGH,
	POSIX_PRIORITY_MIDDLE,
	POSIX_PRIORITY_LOW,
	POSIX_PRIORITY_LOAD,
	POSIX_PRIORITIES,
};

struct posix_schedule {
	int policy;
	int priority;
};

struct posix_port;

/* What no standard has. */
struct posix_os {
	/* The calling thread, in a form that thread_is_blocked understands. */
	long (*thread_id)(void);
	/* 1: that thread sleeps in the kernel, 0: it does not, negative: cannot be known. */
	int (*thread_is_blocked)(struct posix_port *port, long id);
	/*
	 * A thread may still stand on its stack when it has been joined, so that
	 * nobody may use it again: posix_start_thread() then takes one of the system's.
	 */
	bool stack_outlives_join;
};

struct posix_load {
	pthread_t thread;
	atomic_bool must_stop;
	atomic_uint_fast64_t rounds;
	bool is_running;
	uint64_t data[512]; /* 4 kB */
};

struct posix_port {
	struct agent_port agent; /* first: the core hands it back */
	const struct posix_os *os;
	struct posix_schedule schedules[POSIX_PRIORITIES];
	bool priorities_are_permitted; /* false: every thread inherits, and facts say so */
	uint64_t tick_ns;	       /* the kernel's tick: a grid begins on a multiple; 0: none */
	uint64_t granularity_ns; /* of timed sleeps: 1 with high-resolution timers, else a tick */
	uint8_t *load_stack;	 /* POSIX_STACK_SIZE bytes for the load thread */
	/* ---- the module's own ---- */
	uint64_t anchor_counts;
	uint64_t anchor_ns;
	struct posix_load load;
};

/* struct agent_port_ops: CLOCK_MONOTONIC tied to the counter by the shortest of 32 brackets. */
void posix_anchor(struct agent_port *port, uint64_t lead_counts, struct agent_anchor *anchor);
uint64_t posix_wait_until(struct agent_port *port, uint64_t deadline_counts);
void posix_sleep_ms(struct agent_port *port, uint32_t ms);
uint64_t posix_clock_ns(struct agent_port *port);

/* struct agent_port_ops: an endless integer loop over 4 kB, without system calls. */
int posix_load_start(struct agent_port *port, enum message_load load);
void posix_load_stop(struct agent_port *port);
uint64_t posix_load_work(struct agent_port *port);

/*
 * A thread of that priority on a stack of the caller's (POSIX_STACK_SIZE
 * bytes, touched, free until the thread is joined) so that starting it faults
 * no page.  0 or a positive error number, as pthread_create().
 */
int posix_start_thread(struct posix_port *port, pthread_t *thread, enum posix_priority priority,
	uint8_t *stack, void *(*run)(void *context), void *context);

/* A mutex of PTHREAD_PRIO_NONE or PTHREAD_PRIO_INHERIT.  0 or a positive error number. */
int posix_init_mutex(pthread_mutex_t *mutex, int protocol);

/* The rows: wake.cpu, mutex.pair, sem.handoff, mutex.handoff, thread.create. */
extern const struct bench posix_benches[];
extern const size_t posix_bench_count;

/* The rows' functions, one file each. */
int posix_pair_prepare(struct window *window);
uint32_t posix_pair_estimate_ms(const struct window *window);
int posix_pair_run(struct window *window);

int posix_handoff_prepare_semaphore(struct window *window);
int posix_handoff_prepare_mutex(struct window *window);
uint32_t posix_handoff_estimate_ms(const struct window *window);
int posix_handoff_run(struct window *window);

int posix_create_prepare(struct window *window);
uint32_t posix_create_estimate_ms(const struct window *window);
int posix_create_run(struct window *window);

/* Sets window->failure and returns WIRE_ERROR_FAILED; `error` is an error number. */
int posix_fail(struct window *window, const char *what, int error);

#endif
