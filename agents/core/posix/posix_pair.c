/* SPDX-License-Identifier: Apache-2.0 */
/*
 * B11 mutex.pair: an uncontended lock and unlock, plain and priority
 * inheriting, in the measuring thread.  An operation under 20 counts is
 * batched so that a sample spans at least 200; samples are the counts of the
 * whole batch and the counters say how many operations that are
 * (`batch.pair.plain=K`, 1 where it is not batched).
 */
#include "agents/core/counter.h"
#include "agents/core/posix/posix_port.h"

#define UNBATCHED_COUNTS 20u
#define BATCH_COUNTS	 200u
#define PROBE_OPERATIONS 256u
#define PROBE_TRIES	 8u

struct pair_row {
	pthread_mutex_t mutex;
	struct window_series *cold;
	struct window_series *samples;
	uint32_t batch;
};

struct pair {
	struct pair_row plain;
	struct pair_row inheriting;
};

int posix_pair_prepare(struct window *window)
{
	struct pair *pair = arena_take(window->arena, sizeof(*pair));
	uint32_t cold = window_cold_count(window);
	uint32_t n = window->plan.n;

	if (n == 0)
		return WIRE_ERROR_BAD_RANGE;
	if (!pair)
		return WIRE_ERROR_NO_MEMORY;
	pair->plain.cold = window_add_counts(window, "cold.plain", cold);
	pair->plain.samples = window_add_counts(window, "pair.plain", n);
	pair->inheriting.cold = window_add_counts(window, "cold.pi", cold);
	pair->inheriting.samples = window_add_counts(window, "pair.pi", n);
	window->bench_data = pair;
	window->samples = pair->plain.samples;
	return pair->plain.cold && pair->plain.samples && pair->inheriting.cold &&
			       pair->inheriting.samples
		       ? 0
		       : WIRE_ERROR_NO_MEMORY;
}

uint32_t posix_pair_estimate_ms(const struct window *window)
{
	/* 20 us a batch, which is far above any machine meant here. */
	uint64_t batches = 2 * ((uint64_t)window->plan.n + window_cold_count(window));

	return (uint32_t)(batches / 50 + 50);
}

static uint64_t measure_batch(pthread_mutex_t *mutex, uint32_t operations)
{
	uint64_t before = counter_read();

	for (uint32_t i = 0; i < operations; i++) {
		pthread_mutex_lock(mutex);
		pthread_mutex_unlock(mutex);
	}
	return counter_read() - before;
}

static uint32_t choose_batch(pthread_mutex_t *mutex)
{
	uint64_t least = UINT64_MAX;

	for (unsigned int i = 0; i < PROBE_TRIES; i++) {
		uint64_t counts = measure_batch(mutex, PROBE_OPERATIONS);

		if (counts < least)
			least = counts;
	}
	if (least >= UNBATCHED_COUNTS * PROBE_OPERATIONS)
		return 1;
	if (least == 0)
		least = 1;
	return (uint32_t)((BATCH_COUNTS * PROBE_OPERATIONS + least - 1) / least);
}

static void fill(struct pair_row *row, struct window_series *series)
{
	while (series->count < series->capacity)
		window_store_counts(series, (int64_t)measure_batch(&row->mutex, row->batch));
}

static int run_row(struct window *window, struct pair_row *row, int protocol)
{
	int error = posix_init_mutex(&row->mutex, protocol);

	if (error)
		return posix_fail(window, "mutex", error);
	row->batch = choose_batch(&row->mutex);
	fill(row, row->cold);
	fill(row, row->samples);
	pthread_mutex_destroy(&row->mutex);
	return 0;
}

int posix_pair_run(struct window *window)
{
	struct pair *pair = window->bench_data;
	int status = run_row(window, &pair->plain, PTHREAD_PRIO_NONE);

	if (status == 0)
		status = run_row(window, &pair->inheriting, PTHREAD_PRIO_INHERIT);
	text_put_u64(&window->counters, "batch.pair.plain", pair->plain.batch);
	text_put_u64(&window->counters, "batch.pair.pi", pair->inheriting.batch);
	return status;
}
