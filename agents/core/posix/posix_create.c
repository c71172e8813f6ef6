/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads made and gone.  B30 thread.create: `create` is from before
 * pthread_create() to the first instruction of the child, `caller` to the
 * return in the creator.  B31 thread.join: `join` is pthread_join() of a child
 * that has ended.  B32 create.join: `join` is from before pthread_create() to
 * the return of pthread_join(), end to end.  The child inherits the creator's
 * priority, so on one core it begins when the creator waits for it; its stack
 * is the library's own, cached after the first.  `hot` is the second of two in
 * a row, `dirty` one after churn_dirty().
 */
#include <errno.h>

#include "agents/core/counter.h"
#include "agents/core/posix/posix_port.h"

#define END_MS 1u /* for a child to be gone that has said it goes */

enum kind {
	KIND_CREATE,
	KIND_JOIN,
	KIND_BOTH,
};

struct create {
	enum kind kind;
	pthread_attr_t attributes;
	sem_t ending;
	struct window_series *cold;
	struct window_series *plain;
	struct window_series *caller; /* of KIND_CREATE only */
	struct window_series *hot;
	struct window_series *dirty;
	struct churn churn;
	volatile uint64_t child_began;
};

static void *run_child(void *context)
{
	uint64_t began = counter_read();
	struct create *create = context;

	create->child_began = began;
	if (create->kind == KIND_JOIN)
		sem_post(&create->ending);
	return NULL;
}

/* What a thread of this size needs of the library is mapped here, not in the window. */
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

static int prepare(struct window *window, enum kind kind, const char *const names[3])
{
	struct create *create = arena_take(window->arena, sizeof(*create));
	uint32_t n = window->plan.n;

	if (n == 0)
		return WIRE_ERROR_BAD_RANGE;
	if (!create)
		return WIRE_ERROR_NO_MEMORY;
	/* Not the kind yet: nobody waits for the first child to say that it ends. */
	create->cold = window_add_counts(window, "cold", window_cold_count(window));
	create->plain = window_add_counts(window, names[0], n);
	create->hot = window_add_counts(window, names[1], n);
	create->dirty = window_add_counts(window, names[2], n);
	create->caller = kind == KIND_CREATE ? window_add_counts(window, "caller", n) : NULL;
	window->bench_data = create;
	window->samples = create->plain;
	if (!create->cold || !create->plain || !create->hot || !create->dirty ||
		(kind == KIND_CREATE && !create->caller) || churn_init(&create->churn, window) != 0)
		return WIRE_ERROR_NO_MEMORY;
	create->kind = KIND_CREATE;
	if (fill_cache(create) != 0)
		return WIRE_ERROR_FAILED;
	create->kind = kind;
	return 0;
}

const char *posix_create_check(const struct agent_port *port)
{
	return ((const struct posix_port *)port)->os->no_create;
}

int posix_create_prepare(struct window *window)
{
	static const char *const names[] = {"create", "create.hot", "create.dirty"};

	return prepare(window, KIND_CREATE, names);
}

static const char *const join_names[] = {"join", "join.hot", "join.dirty"};

int posix_create_prepare_join(struct window *window)
{
	return prepare(window, KIND_JOIN, join_names);
}

int posix_create_prepare_both(struct window *window)
{
	return prepare(window, KIND_BOTH, join_names);
}

uint32_t posix_create_estimate_ms(const struct window *window)
{
	/* 2 ms each, far above any machine meant here: plain, hot twice, dirty. */
	return (4 * window->plan.n + window_cold_count(window)) * 2 + 50;
}

/* Series may be NULL: then nothing is kept of it. */
static int make_one(struct create *create, struct window_series *series,
	struct window_series *caller, bool is_dirty)
{
	uint64_t before;
	uint64_t created;
	uint64_t joined;
	pthread_t child;
	int error;

	if (is_dirty && create->kind != KIND_JOIN)
		churn_dirty(&create->churn);
	before = counter_read();
	error = pthread_create(&child, &create->attributes, run_child, create);
	created = counter_read();
	if (error)
		return error;
	if (create->kind == KIND_JOIN) {
		while (sem_wait(&create->ending) != 0 && errno == EINTR)
			;
		posix_sleep_ns(END_MS * 1000000);
		if (is_dirty)
			churn_dirty(&create->churn);
		before = counter_read();
	}
	error = pthread_join(child, NULL);
	joined = counter_read();
	if (series)
		window_store_counts(series,
			(int64_t)((create->kind == KIND_CREATE ? create->child_began : joined) -
				  before));
	if (caller)
		window_store_counts(caller, (int64_t)(created - before));
	return error;
}

static int make_all(struct create *create)
{
	int error = 0;

	while (error == 0 && create->cold->count < create->cold->capacity)
		error = make_one(create, create->cold, NULL, false);
	while (error == 0 && create->plain->count < create->plain->capacity)
		error = make_one(create, create->plain, create->caller, false);
	while (error == 0 && create->hot->count < create->hot->capacity) {
		error = make_one(create, NULL, NULL, false);
		if (error == 0)
			error = make_one(create, create->hot, NULL, false);
	}
	while (error == 0 && create->dirty->count < create->dirty->capacity)
		error = make_one(create, create->dirty, NULL, true);
	return error;
}

int posix_create_run(struct window *window)
{
	struct create *create = window->bench_data;
	int error = pthread_attr_init(&create->attributes);

	if (error)
		return posix_fail(window, "thread attributes", error);
	sem_init(&create->ending, 0, 0);
	error = pthread_attr_setstacksize(&create->attributes, POSIX_STACK_SIZE);
	if (error == 0)
		error = make_all(create);
	pthread_attr_destroy(&create->attributes);
	sem_destroy(&create->ending);
	text_put(&window->counters, "stacks", "cached");
	text_put_u64(&window->counters, "stack_bytes", POSIX_STACK_SIZE);
	churn_write(&create->churn, &window->counters);
	return error ? posix_fail(window, "thread", error) : 0;
}
