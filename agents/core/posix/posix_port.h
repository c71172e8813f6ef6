/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What systems with POSIX threads share: the port's clock and load operations,
 * threads of fixed priority, and the table of benches.  A port embeds struct
 * posix_port as the first member of its own struct, sets all of it to zero at
 * every start of the agent (statics may survive one), fills the fields above
 * the line, and puts the functions below into its struct agent_port_ops.
 *
 * A system without one of the calls that POSIX leaves to choice still builds
 * this folder: pipes, processes and files come by struct posix_os, timers by
 * _POSIX_TIMERS.  Needed are threads with priorities on the caller's stacks,
 * mutexes, unnamed semaphores, CLOCK_MONOTONIC with absolute sleeps,
 * sched_yield, malloc.
 *
 * No function prints or exits.  The functions are called from the thread that
 * runs agent_run().
 */
#ifndef AGENTS_CORE_POSIX_POSIX_PORT_H
#define AGENTS_CORE_POSIX_POSIX_PORT_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agents/core/agent.h"
#include "agents/core/churn.h"

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

/* Who writes where nothing of its own is, for containment. */
enum posix_victim {
	POSIX_VICTIM_PROCESS, /* a process beside the agent */
	POSIX_VICTIM_THREAD,  /* a thread of a process that also has a thread that measures */
	POSIX_VICTIMS,
};

/* How it ended. */
struct posix_fate {
	bool agent_survived;	/* the agent went on: always, or nobody would have read this */
	bool measurer_survived; /* the thread that measured beside the victim went on */
	int signal;		/* that the victim's process died of; 0: it did not */
};

/*
 * What no standard has, or what a system may leave out.  The first two are
 * always there; every other may be NULL, and then its row is unsupported or
 * its load goes without.  The functions return 0, or negative when they could
 * not.
 */
struct posix_os {
	/* The calling thread, in a form that thread_is_blocked understands. */
	long (*thread_id)(void);
	/* 1: that thread sleeps in the kernel, 0: it does not, negative: cannot be known. */
	int (*thread_is_blocked)(struct posix_port *port, long id);

	/* pipe(2), for the ping-pong of the loads; NULL: semaphores. */
	int (*open_pipe)(int ends[2]);
	/*
	 * A process beside the agent that forks and reaps, again and again, at the
	 * load's priority, until it is told to stop; then how many times it did.
	 * It must leave no page of the agent to be faulted in.  Called while the
	 * agent has one thread.  NULL: no processes.
	 */
	int (*forks_start)(struct posix_port *port);
	uint64_t (*forks_stop)(struct posix_port *port);
	/* 4 KiB to a file, for the heavy load; NULL: memory only. */
	int (*io_write)(struct posix_port *port);
	/* What io_write() wrote is to outlast the power; with io_write() makes the load `io`. */
	int (*io_sync)(struct posix_port *port);
	/* What the file lies on ("ext4"); NULL: there is no file. */
	const char *(*io_where)(struct posix_port *port);
	/* Processors that threads may run on; NULL: one. */
	unsigned int (*processors)(void);

	/*
	 * Containment.  begin() makes the victim wait, at ARM; run() lets it
	 * write, and waits for what becomes of it, which takes less than 1 s.
	 * begin() again gives an older victim up.  NULL: no processes.
	 */
	int (*victim_begin)(struct posix_port *port, enum posix_victim victim);
	int (*victim_run)(
		struct posix_port *port, enum posix_victim victim, struct posix_fate *fate);

	/*
	 * A thread may still stand on its stack when it has been joined, so that
	 * nobody may use it again: posix_start_thread() then takes one of the system's.
	 */
	bool stack_outlives_join;
	/* Why threads cannot be made and joined thousands of times; NULL: they can. */
	const char *no_create;
};

#define POSIX_HELPERS_MAX 15

/* A thread of `thermal` beside the load's own. */
struct posix_helper {
	struct posix_load *load;
	pthread_t thread;
	uint8_t *stack;
};

struct posix_load {
	struct posix_port *port;
	uint8_t kind; /* enum message_load */
	pthread_t thread;
	pthread_t partner; /* of ipc and mixed */
	atomic_bool must_stop;
	atomic_bool is_alone; /* the load itself is gone: so may its partner */
	atomic_uint_fast64_t rounds;
	bool is_running;
	bool has_pipes;
	bool has_forks;
	uint32_t seed;
	uint32_t periods;
	uint64_t state;
	uint64_t busy;	/* counts */
	uint64_t total; /* counts */
	uint64_t pings;
	uint64_t creates;
	uint64_t forks;
	uint64_t writes;
	uint64_t syncs;
	struct churn churn;
	uint8_t *stack_partner;
	uint8_t *stack_child;
	sem_t pinged; /* where there are no pipes */
	sem_t ponged;
	int ping[2]; /* -1: no pipes */
	int pong[2];
	uint64_t data[512]; /* 4 kB */
	struct posix_helper helpers[POSIX_HELPERS_MAX];
	unsigned int helper_count; /* of thermal: a thread for each other processor */
	unsigned int helpers_running;
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

/* Sleeps that long by CLOCK_MONOTONIC, in any thread. */
void posix_sleep_ns(uint64_t ns);

/*
 * The period of a load that is idle part of the time: between 2 and 18 ms, a
 * function of the seed, in counts.  No multiple of any tick.
 */
uint64_t posix_load_period(const struct posix_port *port, uint32_t seed);

/* struct agent_port_ops: all loads; all six belong together. */
const char *posix_load_check(const struct agent_port *port, enum message_load kind);
int posix_load_prepare(struct agent_port *port, struct window *window);
int posix_load_start(struct agent_port *port, struct window *window);
void posix_load_stop(struct agent_port *port);
uint64_t posix_load_work(struct agent_port *port);
void posix_load_write(struct agent_port *port, struct text *text);

/*
 * A thread of that priority on a stack of the caller's (POSIX_STACK_SIZE
 * bytes, touched, free until the thread is joined) so that starting it faults
 * no page.  0 or a positive error number, as pthread_create().
 */
int posix_start_thread(struct posix_port *port, pthread_t *thread, enum posix_priority priority,
	uint8_t *stack, void *(*run)(void *context), void *context);

/* A mutex of PTHREAD_PRIO_NONE or PTHREAD_PRIO_INHERIT.  0 or a positive error number. */
int posix_init_mutex(pthread_mutex_t *mutex, int protocol);

/* Whether a mutex of PTHREAD_PRIO_INHERIT can be made here. */
bool posix_has_inheritance(void);

/* The rows that need threads. */
extern const struct bench posix_benches[];
extern const size_t posix_bench_count;

/* The rows' functions, one file a family. */
int posix_pair_prepare_mutex(struct window *window);
int posix_pair_prepare_semaphore(struct window *window);
int posix_pair_prepare_timer(struct window *window);
const char *posix_pair_check_timer(const struct agent_port *port);
int posix_pair_prepare_malloc(struct window *window);

int posix_yield_prepare(struct window *window);
uint32_t posix_yield_estimate_ms(const struct window *window);
int posix_yield_run(struct window *window);

int posix_handoff_prepare_semaphore(struct window *window);
int posix_handoff_prepare_low(struct window *window);
int posix_handoff_prepare_mutex(struct window *window);
uint32_t posix_handoff_estimate_ms(const struct window *window);
int posix_handoff_run(struct window *window);

const char *posix_create_check(const struct agent_port *port);
int posix_create_prepare(struct window *window);
int posix_create_prepare_join(struct window *window);
int posix_create_prepare_both(struct window *window);
uint32_t posix_create_estimate_ms(const struct window *window);
int posix_create_run(struct window *window);

const char *posix_bound_check(const struct agent_port *port);
int posix_bound_prepare(struct window *window);
uint32_t posix_bound_estimate_ms(const struct window *window);
int posix_bound_run(struct window *window);

int posix_victim_prepare(struct window *window);
uint32_t posix_victim_estimate_ms(const struct window *window);
int posix_victim_run(struct window *window);

/* Sets window->failure and returns WIRE_ERROR_FAILED; `error` is an error number. */
int posix_fail(struct window *window, const char *what, int error);

#endif
