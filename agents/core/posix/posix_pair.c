/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of one operation (cost.h): B11 mutex.pair, an uncontended lock and
 * unlock, plain and priority inheriting; B12 sem.pair, a post and a wait
 * without a waiter; B41 timer.set, a timer created, set and deleted; B60
 * malloc, 128 bytes taken and given back.
 */
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "agents/core/cost.h"
#include "agents/core/posix/posix_port.h"

#define MALLOC_BYTES 128u

struct pair {
	pthread_mutex_t mutex;
	sem_t semaphore;
};

static int prepare(struct window *window, const struct cost_operation *operations, uint32_t count)
{
	struct pair *pair = arena_take(window->arena, sizeof(*pair));

	return pair ? cost_prepare(window, operations, count, pair) : WIRE_ERROR_NO_MEMORY;
}

/* ---------------------------------------------------------------- mutex */

static int begin_plain(struct window *window, void *context)
{
	struct pair *pair = context;
	int error = posix_init_mutex(&pair->mutex, PTHREAD_PRIO_NONE);

	return error ? posix_fail(window, "mutex", error) : 0;
}

static int begin_inheriting(struct window *window, void *context)
{
	struct pair *pair = context;
	int error = posix_init_mutex(&pair->mutex, PTHREAD_PRIO_INHERIT);

	return error ? posix_fail(window, "mutex with inheritance", error) : 0;
}

static void lock_and_unlock(void *context, uint32_t operations)
{
	struct pair *pair = context;

	for (uint32_t i = 0; i < operations; i++) {
		pthread_mutex_lock(&pair->mutex);
		pthread_mutex_unlock(&pair->mutex);
	}
}

static void end_mutex(void *context)
{
	pthread_mutex_destroy(&((struct pair *)context)->mutex);
}

static const struct cost_operation mutex_operations[] = {
	{
		.cold = "cold.plain",
		.plain = "pair.plain",
		.hot = "pair.plain.hot",
		.dirty = "pair.plain.dirty",
		.begin = begin_plain,
		.run = lock_and_unlock,
		.end = end_mutex,
	},
	{
		.cold = "cold.pi",
		.plain = "pair.pi",
		.hot = "pair.pi.hot",
		.dirty = "pair.pi.dirty",
		.begin = begin_inheriting,
		.run = lock_and_unlock,
		.end = end_mutex,
	},
};

int posix_pair_prepare_mutex(struct window *window)
{
	return prepare(window, mutex_operations, posix_has_inheritance() ? 2 : 1);
}

/* ---------------------------------------------------------------- semaphore */

static int begin_semaphore(struct window *window, void *context)
{
	(void)window;
	return sem_init(&((struct pair *)context)->semaphore, 0, 0) == 0 ? 0 : WIRE_ERROR_FAILED;
}

static void post_and_wait(void *context, uint32_t operations)
{
	struct pair *pair = context;

	for (uint32_t i = 0; i < operations; i++) {
		sem_post(&pair->semaphore);
		sem_wait(&pair->semaphore);
	}
}

static void end_semaphore(void *context)
{
	sem_destroy(&((struct pair *)context)->semaphore);
}

static const struct cost_operation semaphore_operation = {
	.cold = "cold",
	.plain = "pair",
	.hot = "pair.hot",
	.dirty = "pair.dirty",
	.begin = begin_semaphore,
	.run = post_and_wait,
	.end = end_semaphore,
};

int posix_pair_prepare_semaphore(struct window *window)
{
	return prepare(window, &semaphore_operation, 1);
}

/* ---------------------------------------------------------------- timer */

#if defined(_POSIX_TIMERS) && _POSIX_TIMERS > 0
static void set_timer(void *context, uint32_t operations)
{
	const struct itimerspec hour = {.it_value.tv_sec = 3600};
	struct sigevent nothing = {.sigev_notify = SIGEV_NONE};

	(void)context;
	for (uint32_t i = 0; i < operations; i++) {
		timer_t timer;

		if (timer_create(CLOCK_MONOTONIC, &nothing, &timer) != 0)
			continue;
		timer_settime(timer, 0, &hour, NULL);
		timer_delete(timer);
	}
}

static int begin_timer(struct window *window, void *context)
{
	struct sigevent nothing = {.sigev_notify = SIGEV_NONE};
	timer_t timer;

	(void)context;
	if (timer_create(CLOCK_MONOTONIC, &nothing, &timer) != 0)
		return window_fail(window, WIRE_ERROR_FAILED, "a timer cannot be created");
	timer_delete(timer);
	return 0;
}

static const struct cost_operation timer_operation = {
	.cold = "cold",
	.plain = "set",
	.begin = begin_timer,
	.run = set_timer,
};

int posix_pair_prepare_timer(struct window *window)
{
	return prepare(window, &timer_operation, 1);
}

const char *posix_pair_check_timer(const struct agent_port *port)
{
	(void)port;
	return NULL;
}
#else
int posix_pair_prepare_timer(struct window *window)
{
	(void)window;
	return WIRE_ERROR_UNSUPPORTED;
}

const char *posix_pair_check_timer(const struct agent_port *port)
{
	(void)port;
	return "no timers";
}
#endif

/* ---------------------------------------------------------------- malloc */

static void take_and_give(void *context, uint32_t operations)
{
	(void)context;
	for (uint32_t i = 0; i < operations; i++) {
		void *memory = malloc(MALLOC_BYTES);

		/* Or the compiler leaves both out. */
		__asm__ volatile("" : "+r"(memory) : : "memory");
		free(memory);
	}
}

static const struct cost_operation malloc_operation = {
	.cold = "cold",
	.plain = "malloc",
	.run = take_and_give,
};

int posix_pair_prepare_malloc(struct window *window)
{
	return prepare(window, &malloc_operation, 1);
}
