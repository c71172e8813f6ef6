/* SPDX-License-Identifier: Apache-2.0 */
/*
 * B50 pi.bound: how long H is blocked beyond what L still had to do.  L holds
 * the mutex for a calibrated 200 us of work and releases H at a random place of
 * it; H releases M, which is busy for five times as long, and wants the mutex.
 * `bound.pi` and `bound.plain` are (H's wait - the work that L had left).  With
 * inheritance M must wait; without it M comes between, and a plain row that
 * does not show M proves nothing about the other: the window fails and says so.
 */
#include <errno.h>

#include "agents/core/counter.h"
#include "agents/core/grid.h"
#include "agents/core/posix/posix_port.h"

#define HOLD_US	       200u
#define HOLD_UNITS     100u /* places at which H may be released */
#define MEDIUM_HOLDS   5u
#define CALIBRATIONS   32u
#define ADDS_FIRST     512u
#define ROWS	       2u
#define INVERTED_SHARE 9u /* of ten */

struct row {
	int protocol;
	struct window_series *cold;
	struct window_series *bound;
	uint32_t inverted; /* M came between */
};

struct bound {
	struct posix_port *port;
	struct row rows[ROWS];
	uint8_t *stacks[3];
	uint32_t adds; /* of a unit */
	uint64_t unit; /* counts that it takes, in thousandths */
	uint64_t hold; /* counts */

	/* Of the row that runs. */
	pthread_mutex_t mutex;
	sem_t release_high;
	sem_t release_middle;
	sem_t served; /* H has its mutex */
	atomic_bool must_stop;
	volatile uint64_t waited; /* counts, of H */
};

const char *posix_bound_check(const struct agent_port *port)
{
	(void)port;
	return posix_has_inheritance() ? NULL : "no priority inheritance";
}

int posix_bound_prepare(struct window *window)
{
	static const char *const cold[ROWS] = {"cold.plain", "cold.pi"};
	static const char *const names[ROWS] = {"bound.plain", "bound.pi"};
	struct bound *bound = arena_take(window->arena, sizeof(*bound));

	if (window->plan.n == 0)
		return WIRE_ERROR_BAD_RANGE;
	if (!bound)
		return WIRE_ERROR_NO_MEMORY;
	bound->port = (struct posix_port *)window->port;
	bound->rows[0].protocol = PTHREAD_PRIO_NONE;
	bound->rows[1].protocol = PTHREAD_PRIO_INHERIT;
	for (unsigned int i = 0; i < ROWS; i++) {
		bound->rows[i].cold = window_add_counts(window, cold[i], window_cold_count(window));
		bound->rows[i].bound = window_add_counts(window, names[i], window->plan.n);
		if (!bound->rows[i].cold || !bound->rows[i].bound)
			return WIRE_ERROR_NO_MEMORY;
	}
	for (unsigned int i = 0; i < 3; i++) {
		bound->stacks[i] = arena_take(window->arena, POSIX_STACK_SIZE);
		if (!bound->stacks[i])
			return WIRE_ERROR_NO_MEMORY;
	}
	window->bench_data = bound;
	window->samples = bound->rows[1].bound;
	return 0;
}

uint32_t posix_bound_estimate_ms(const struct window *window)
{
	uint64_t rounds = ROWS * ((uint64_t)window->plan.n + window_cold_count(window));

	return (uint32_t)(rounds * (HOLD_US * (1 + MEDIUM_HOLDS) + 800) / 1000 + 100);
}

/* ---------------------------------------------------------------- work */

static void work(uint32_t adds)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < adds; i++) {
		sum += i;
		/* Not foreseen by the compiler, so that each is made. */
		__asm__ volatile("" : "+r"(sum));
	}
}

static uint64_t time_units(uint32_t adds)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < CALIBRATIONS; i++) {
		uint64_t before = counter_read();
		uint64_t counts;

		for (uint32_t unit = 0; unit < HOLD_UNITS; unit++)
			work(adds);
		counts = counter_read() - before;
		if (counts < least)
			least = counts;
	}
	return least ? least : 1;
}

/* So many additions that all units together take the time L holds the mutex. */
static void calibrate(struct bound *bound)
{
	uint64_t wanted = counter_scale(HOLD_US, bound->port->agent.counter_rate_hz, 1000000);

	bound->adds = (uint32_t)(wanted * ADDS_FIRST / time_units(ADDS_FIRST));
	if (bound->adds == 0)
		bound->adds = 1;
	bound->hold = time_units(bound->adds);
	bound->unit = bound->hold * 1000 / HOLD_UNITS;
}

/* ---------------------------------------------------------------- threads */

static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore) != 0 && errno == EINTR)
		;
}

static void *run_high(void *context)
{
	struct bound *bound = context;

	for (;;) {
		uint64_t before;

		wait_for(&bound->release_high);
		if (atomic_load(&bound->must_stop))
			return NULL;
		sem_post(&bound->release_middle);
		before = counter_read();
		pthread_mutex_lock(&bound->mutex);
		bound->waited = counter_read() - before;
		pthread_mutex_unlock(&bound->mutex);
		sem_post(&bound->served);
	}
}

static void *run_middle(void *context)
{
	struct bound *bound = context;

	for (;;) {
		wait_for(&bound->release_middle);
		if (atomic_load(&bound->must_stop))
			return NULL;
		for (uint32_t unit = 0; unit < MEDIUM_HOLDS * HOLD_UNITS; unit++)
			work(bound->adds);
	}
}

/* L's part, in the thread of that priority; the place from 1/10 to 9/10 of its work. */
static void block_once(
	struct bound *bound, struct row *row, struct window_series *series, uint32_t seed)
{
	uint32_t place = HOLD_UNITS / 10 + (uint32_t)grid_phase(seed, HOLD_UNITS * 8 / 10);
	uint64_t rest = (HOLD_UNITS - place) * bound->unit / 1000;
	int64_t beyond;

	pthread_mutex_lock(&bound->mutex);
	for (uint32_t unit = 0; unit < HOLD_UNITS; unit++) {
		if (unit == place)
			sem_post(&bound->release_high);
		work(bound->adds);
	}
	pthread_mutex_unlock(&bound->mutex);
	wait_for(&bound->served);
	beyond = (int64_t)(bound->waited - rest);
	window_store_counts(series, beyond);
	if (series == row->bound && beyond >= (int64_t)(bound->hold * MEDIUM_HOLDS / 2))
		row->inverted++;
}

struct low {
	struct bound *bound;
	struct row *row;
	uint32_t seed;
};

static void *run_low(void *context)
{
	struct low *low = context;
	struct row *row = low->row;

	while (row->cold->count < row->cold->capacity)
		block_once(low->bound, row, row->cold, low->seed++);
	while (row->bound->count < row->bound->capacity)
		block_once(low->bound, row, row->bound, low->seed++);
	atomic_store(&low->bound->must_stop, true);
	sem_post(&low->bound->release_high);
	sem_post(&low->bound->release_middle);
	return NULL;
}

static int run_threads(struct bound *bound, struct low *low)
{
	static const enum posix_priority priorities[] = {
		POSIX_PRIORITY_HIGH, POSIX_PRIORITY_MIDDLE, POSIX_PRIORITY_LOW};
	void *(*const functions[])(void *context) = {run_high, run_middle, run_low};
	void *const contexts[] = {bound, bound, low};
	pthread_t threads[3];
	int started = 0;
	int error = 0;

	while (error == 0 && started < 3) {
		error = posix_start_thread(bound->port, &threads[started], priorities[started],
			bound->stacks[started], functions[started], contexts[started]);
		started += error == 0;
	}
	if (error) {
		atomic_store(&bound->must_stop, true);
		sem_post(&bound->release_high);
		sem_post(&bound->release_middle);
	}
	while (started-- > 0)
		pthread_join(threads[started], NULL);
	return error;
}

static int run_row(struct window *window, struct bound *bound, struct row *row)
{
	struct low low = {bound, row, window->plan.seed};
	int error = posix_init_mutex(&bound->mutex, row->protocol);

	if (error)
		return posix_fail(window, "mutex", error);
	row->inverted = 0;
	sem_init(&bound->release_high, 0, 0);
	sem_init(&bound->release_middle, 0, 0);
	sem_init(&bound->served, 0, 0);
	atomic_store(&bound->must_stop, false);
	error = run_threads(bound, &low);
	sem_destroy(&bound->release_high);
	sem_destroy(&bound->release_middle);
	sem_destroy(&bound->served);
	pthread_mutex_destroy(&bound->mutex);
	return error ? posix_fail(window, "thread", error) : 0;
}

int posix_bound_run(struct window *window)
{
	struct bound *bound = window->bench_data;
	struct text *counters = &window->counters;
	int status = 0;

	calibrate(bound);
	for (unsigned int i = 0; status == 0 && i < ROWS; i++)
		status = run_row(window, bound, &bound->rows[i]);
	text_put_u64(counters, "hold_counts", bound->hold);
	text_put_u64(counters, "medium_counts", bound->hold * MEDIUM_HOLDS);
	text_put_u64(counters, "inverted.plain", bound->rows[0].inverted);
	text_put_u64(counters, "inverted.pi", bound->rows[1].inverted);
	if (status)
		return status;
	if ((uint64_t)bound->rows[0].inverted * 10 < (uint64_t)window->plan.n * INVERTED_SHARE)
		return window_fail(window, WIRE_ERROR_FAILED,
			"without inheritance M did not delay H: this proves nothing");
	return 0;
}
