/* SPDX-License-Identifier: Apache-2.0 */
/*
 * B13 yield.switch: two threads of one priority.  Each sample of `switch` is
 * from before the yield in A to after the return of B's own; `round_trip` is
 * from there to A's return, so it holds two switches: the two must agree
 * (`round_trip_per_1000_switches`, about 2000).  A yield that came back without
 * B having run is not a switch: it is made again and counted (`not_switched`).
 */
#include <sched.h>

#include "agents/core/counter.h"
#include "agents/core/posix/posix_port.h"

#define TRIES_MAX 10000u /* yields in a row that do not switch */

struct yield {
	struct posix_port *port;
	struct window_series *cold;
	struct window_series *switched;
	struct window_series *round_trip;
	struct window_series *hot;
	struct window_series *dirty;
	struct churn churn;
	uint8_t *stack_a;
	uint8_t *stack_b;

	atomic_bool must_stop;
	volatile uint64_t before;
	volatile uint64_t after;
	atomic_uint given; /* yields of A */
	atomic_uint taken; /* the last of them that B has seen */
	uint64_t not_switched;
	uint64_t switch_sum;
	uint64_t round_trip_sum;
	bool is_stuck;
};

int posix_yield_prepare(struct window *window)
{
	struct yield *yield = arena_take(window->arena, sizeof(*yield));
	uint32_t n = window->plan.n;

	if (n == 0)
		return WIRE_ERROR_BAD_RANGE;
	if (!yield)
		return WIRE_ERROR_NO_MEMORY;
	yield->port = (struct posix_port *)window->port;
	yield->cold = window_add_counts(window, "cold", window_cold_count(window));
	yield->switched = window_add_counts(window, "switch", n);
	yield->round_trip = window_add_counts(window, "round_trip", n);
	yield->hot = window_add_counts(window, "switch.hot", n);
	yield->dirty = window_add_counts(window, "switch.dirty", n);
	yield->stack_a = arena_take(window->arena, POSIX_STACK_SIZE);
	yield->stack_b = arena_take(window->arena, POSIX_STACK_SIZE);
	window->bench_data = yield;
	window->samples = yield->switched;
	if (!yield->cold || !yield->switched || !yield->round_trip || !yield->hot ||
		!yield->dirty || !yield->stack_a || !yield->stack_b)
		return WIRE_ERROR_NO_MEMORY;
	return churn_init(&yield->churn, window);
}

uint32_t posix_yield_estimate_ms(const struct window *window)
{
	uint64_t n = (uint64_t)window->plan.n + window_cold_count(window);

	/* 100 us a round trip and 1 ms to make it dirty: far above any machine meant here. */
	return (uint32_t)(n * 3 / 10 + n + 50);
}

static void *run_b(void *context)
{
	struct yield *yield = context;

	for (;;) {
		uint64_t after;
		unsigned int given;

		sched_yield();
		after = counter_read();
		given = atomic_load(&yield->given);
		if (atomic_load(&yield->must_stop))
			return NULL;
		if (given != atomic_load(&yield->taken)) {
			yield->after = after;
			atomic_store(&yield->taken, given);
		}
	}
}

/* False: B does not come to run. */
static bool switch_once(struct yield *yield, struct window_series *series,
	struct window_series *round_trip, bool is_dirty)
{
	for (uint32_t tries = 0; tries < TRIES_MAX; tries++) {
		unsigned int given = atomic_load(&yield->given) + 1;
		uint64_t before;
		uint64_t back;

		if (is_dirty)
			churn_dirty(&yield->churn);
		before = counter_read();
		atomic_store(&yield->given, given);
		sched_yield();
		back = counter_read();
		if (atomic_load(&yield->taken) != given || (int64_t)(yield->after - before) < 0) {
			yield->not_switched++;
			continue;
		}
		if (series)
			window_store_counts(series, (int64_t)(yield->after - before));
		if (round_trip) {
			window_store_counts(round_trip, (int64_t)(back - before));
			yield->switch_sum += yield->after - before;
			yield->round_trip_sum += back - before;
		}
		return true;
	}
	yield->is_stuck = true;
	return false;
}

static void *run_a(void *context)
{
	struct yield *yield = context;
	bool goes_on = true;

	while (goes_on && yield->cold->count < yield->cold->capacity)
		goes_on = switch_once(yield, yield->cold, NULL, false);
	while (goes_on && yield->switched->count < yield->switched->capacity)
		goes_on = switch_once(yield, yield->switched, yield->round_trip, false);
	while (goes_on && yield->hot->count < yield->hot->capacity)
		goes_on = switch_once(yield, NULL, NULL, false) &&
			  switch_once(yield, yield->hot, NULL, false);
	while (goes_on && yield->dirty->count < yield->dirty->capacity)
		goes_on = switch_once(yield, yield->dirty, NULL, true);
	atomic_store(&yield->must_stop, true);
	return NULL;
}

int posix_yield_run(struct window *window)
{
	struct yield *yield = window->bench_data;
	struct text *counters = &window->counters;
	pthread_t a;
	pthread_t b;
	int error = posix_start_thread(
		yield->port, &b, POSIX_PRIORITY_LOW, yield->stack_b, run_b, yield);

	if (error)
		return posix_fail(window, "thread B", error);
	error = posix_start_thread(
		yield->port, &a, POSIX_PRIORITY_LOW, yield->stack_a, run_a, yield);
	if (error)
		atomic_store(&yield->must_stop, true);
	else
		pthread_join(a, NULL);
	pthread_join(b, NULL);
	if (error)
		return posix_fail(window, "thread A", error);
	text_put_u64(counters, "not_switched", yield->not_switched);
	text_put_u64(counters, "round_trip_per_1000_switches",
		yield->switch_sum ? yield->round_trip_sum * 1000 / yield->switch_sum : 0);
	churn_write(&yield->churn, counters);
	return yield->is_stuck
		       ? window_fail(window, WIRE_ERROR_FAILED, "a yield does not switch threads")
		       : 0;
}
