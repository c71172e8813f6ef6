/* SPDX-License-Identifier: Apache-2.0 */
/*
 * B30 thread.create: `create` is from before pthread_create() to the first
 * instruction of the child, `caller` to the return in the creator.  The child
 * inherits the creator's priority, so on one core it begins when the creator
 * waits for it; its stack is the library's own, cached after the first.
 */
#include "agents/core/counter.h"
#include "agents/core/posix/posix_port.h"

struct create {
	struct window_series *cold;
	struct window_series *first;
	struct window_series *caller;
	volatile uint64_t child_began;
};

static void *run_child(void *context)
{
	uint64_t began = counter_read();
	struct create *create = context;

	create->child_began = began;
	return NULL;
}

/* The library's first stack is mapped here, not in the window. */
static int fill_cache(struct create *create)
{
	pthread_attr_t attributes;
	pthread_t child;
	int error = pthread_attr_init(&attributes);

	if (error)
		return error;
	error = pthread_attr_setstacksize(&attributes, POSIX_STACK_SIZE);
	if (error == 0)
		error = pthread_create(&child, &attributes, run_child, create);
	if (error == 0)
		error = pthread_join(child, NULL);
	pthread_attr_destroy(&attributes);
	return error;
}

int posix_create_prepare(struct window *window)
{
	struct create *create = arena_take(window->arena, sizeof(*create));

	if (window->plan.n == 0)
		return WIRE_ERROR_BAD_RANGE;
	if (!create)
		return WIRE_ERROR_NO_MEMORY;
	create->cold = window_add_counts(window, "cold", window_cold_count(window));
	create->first = window_add_counts(window, "create", window->plan.n);
	create->caller = window_add_counts(window, "caller", window->plan.n);
	window->bench_data = create;
	window->samples = create->first;
	if (!create->cold || !create->first || !create->caller)
		return WIRE_ERROR_NO_MEMORY;
	return fill_cache(create) ? WIRE_ERROR_FAILED : 0;
}

uint32_t posix_create_estimate_ms(const struct window *window)
{
	/* 1 ms each, far above any machine meant here; the host adds its margin. */
	return window->plan.n + window_cold_count(window) + 50;
}

static int create_one(struct create *create, const pthread_attr_t *attributes,
	struct window_series *first, struct window_series *caller)
{
	pthread_t child;
	uint64_t before = counter_read();
	int error = pthread_create(&child, attributes, run_child, create);
	uint64_t after = counter_read();

	if (error)
		return error;
	error = pthread_join(child, NULL);
	window_store_counts(first, (int64_t)(create->child_began - before));
	if (caller)
		window_store_counts(caller, (int64_t)(after - before));
	return error;
}

int posix_create_run(struct window *window)
{
	struct create *create = window->bench_data;
	pthread_attr_t attributes;
	int error = pthread_attr_init(&attributes);

	if (error)
		return posix_fail(window, "thread attributes", error);
	error = pthread_attr_setstacksize(&attributes, POSIX_STACK_SIZE);
	while (error == 0 && create->cold->count < create->cold->capacity)
		error = create_one(create, &attributes, create->cold, NULL);
	while (error == 0 && create->first->count < create->first->capacity)
		error = create_one(create, &attributes, create->first, create->caller);
	pthread_attr_destroy(&attributes);
	text_put(&window->counters, "stacks", "cached");
	text_put_u64(&window->counters, "stack_bytes", POSIX_STACK_SIZE);
	return error ? posix_fail(window, "thread", error) : 0;
}
