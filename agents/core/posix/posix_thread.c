/* SPDX-License-Identifier: Apache-2.0 */
#include <sched.h>

#include "agents/core/posix/posix_port.h"

static int set_schedule(pthread_attr_t *attributes, const struct posix_schedule *schedule)
{
	struct sched_param param = {.sched_priority = schedule->priority};
	int error = pthread_attr_setinheritsched(attributes, PTHREAD_EXPLICIT_SCHED);

	if (error == 0)
		error = pthread_attr_setschedpolicy(attributes, schedule->policy);
	if (error == 0)
		error = pthread_attr_setschedparam(attributes, &param);
	return error;
}

int posix_start_thread(struct posix_port *port, pthread_t *thread, enum posix_priority priority,
	uint8_t *stack, void *(*run)(void *context), void *context)
{
	pthread_attr_t attributes;
	int error = pthread_attr_init(&attributes);

	if (error)
		return error;
	if (port->os->stack_outlives_join)
		error = pthread_attr_setstacksize(&attributes, POSIX_STACK_SIZE);
	else
		error = pthread_attr_setstack(&attributes, stack, POSIX_STACK_SIZE);
	if (error == 0 && port->priorities_are_permitted)
		error = set_schedule(&attributes, &port->schedules[priority]);
	if (error == 0)
		error = pthread_create(thread, &attributes, run, context);
	pthread_attr_destroy(&attributes);
	return error;
}

int posix_init_mutex(pthread_mutex_t *mutex, int protocol)
{
	pthread_mutexattr_t attributes;
	int error = pthread_mutexattr_init(&attributes);

	if (error)
		return error;
	error = pthread_mutexattr_setprotocol(&attributes, protocol);
	if (error == 0)
		error = pthread_mutex_init(mutex, &attributes);
	pthread_mutexattr_destroy(&attributes);
	return error;
}

bool posix_has_inheritance(void)
{
	pthread_mutex_t mutex;

	if (posix_init_mutex(&mutex, PTHREAD_PRIO_INHERIT) != 0)
		return false;
	pthread_mutex_destroy(&mutex);
	return true;
}

int posix_fail(struct window *window, const char *what, int error)
{
	struct text text;

	text_init(&text, window->failure, sizeof(window->failure) - 1);
	text_append(&text, what);
	text_append(&text, ": error ");
	text_append_i64(&text, error);
	window->failure[text.size] = 0;
	return WIRE_ERROR_FAILED;
}
