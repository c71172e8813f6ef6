/* SPDX-License-Identifier: Apache-2.0 */
/*
 * B20 sem.handoff and B22 mutex.handoff: L gives, H has been waiting.  Each
 * sample of `handoff` is from before the post or unlock in L to the return of
 * the wait or lock in H; `caller` is to the return of the post or unlock in L.
 * H is seen blocked before each handoff where the system can tell.
 */
#include <errno.h>
#include <semaphore.h>

#include "agents/core/counter.h"
#include "agents/core/posix/posix_port.h"

#define LOOKS_MAX 10000u /* until H is seen blocked */
#define PAUSE_MS  1u	 /* between looks, and once where the system cannot tell */
#define ROWS_MAX  2u

struct row {
	int protocol; /* of the mutex */
	struct window_series *cold;
	struct window_series *handoff;
	struct window_series *caller;
};

struct handoff {
	struct posix_port *port;
	bool is_mutex;
	uint32_t row_count;
	struct row rows[ROWS_MAX];
	uint8_t *stack_high;
	uint8_t *stack_low;

	/* Of the row that runs. */
	struct row *row;
	pthread_mutex_t mutex;
	sem_t given; /* the semaphore that is measured */
	sem_t begin; /* L tells H to go and wait */
	sem_t end;   /* H tells L that it has its stamp */
	atomic_long waiter;
	atomic_bool is_entering; /* H is past its last stop before the wait */
	atomic_bool must_stop;
	volatile uint64_t before; /* L's stamp */
	volatile uint64_t gained; /* H's stamp */
	uint32_t looked_again;
	bool is_verified;
	int error;
};

/* ---------------------------------------------------------------- prepare */

static int add_row(struct window *window, struct row *row, const char *const names[3])
{
	row->cold = window_add_counts(window, names[0], window_cold_count(window));
	row->handoff = window_add_counts(window, names[1], window->plan.n);
	row->caller = window_add_counts(window, names[2], window->plan.n);
	return row->cold && row->handoff && row->caller ? 0 : WIRE_ERROR_NO_MEMORY;
}

static struct handoff *new_handoff(struct window *window)
{
	struct handoff *handoff = arena_take(window->arena, sizeof(*handoff));

	if (!handoff)
		return NULL;
	handoff->port = (struct posix_port *)window->port;
	handoff->stack_high = arena_take(window->arena, POSIX_STACK_SIZE);
	handoff->stack_low = arena_take(window->arena, POSIX_STACK_SIZE);
	window->bench_data = handoff;
	return handoff->stack_high && handoff->stack_low ? handoff : NULL;
}

int posix_handoff_prepare_semaphore(struct window *window)
{
	static const char *const names[3] = {"cold", "handoff", "caller"};
	struct handoff *handoff = new_handoff(window);

	if (window->plan.n == 0)
		return WIRE_ERROR_BAD_RANGE;
	if (!handoff)
		return WIRE_ERROR_NO_MEMORY;
	handoff->row_count = 1;
	return add_row(window, &handoff->rows[0], names);
}

int posix_handoff_prepare_mutex(struct window *window)
{
	static const char *const plain[3] = {"cold.plain", "handoff.plain", "caller.plain"};
	static const char *const inheriting[3] = {"cold.pi", "handoff.pi", "caller.pi"};
	struct handoff *handoff = new_handoff(window);
	int status;

	if (window->plan.n == 0)
		return WIRE_ERROR_BAD_RANGE;
	if (!handoff)
		return WIRE_ERROR_NO_MEMORY;
	handoff->is_mutex = true;
	handoff->row_count = 2;
	handoff->rows[0].protocol = PTHREAD_PRIO_NONE;
	handoff->rows[1].protocol = PTHREAD_PRIO_INHERIT;
	status = add_row(window, &handoff->rows[0], plain);
	return status ? status : add_row(window, &handoff->rows[1], inheriting);
}

uint32_t posix_handoff_estimate_ms(const struct window *window)
{
	const struct handoff *handoff = window->bench_data;
	uint64_t rounds =
		handoff->row_count * ((uint64_t)window->plan.n + window_cold_count(window));

	/* A pause and the look each: far above any machine meant here. */
	return (uint32_t)(rounds * (PAUSE_MS + 1) + 50);
}

/* ---------------------------------------------------------------- H */

static void wait_semaphore(sem_t *semaphore)
{
	while (sem_wait(semaphore) != 0 && errno == EINTR)
		;
}

static void *run_high(void *context)
{
	struct handoff *handoff = context;
	bool is_mutex = handoff->is_mutex;

	atomic_store(&handoff->waiter, handoff->port->os->thread_id());
	for (;;) {
		uint64_t now;

		wait_semaphore(&handoff->begin);
		if (atomic_load(&handoff->must_stop))
			return NULL;
		atomic_store(&handoff->is_entering, true);
		if (is_mutex) {
			pthread_mutex_lock(&handoff->mutex);
			now = counter_read();
			pthread_mutex_unlock(&handoff->mutex);
		} else {
			wait_semaphore(&handoff->given);
			now = counter_read();
		}
		handoff->gained = now;
		sem_post(&handoff->end);
	}
}

/* ---------------------------------------------------------------- L */

/* Until H sleeps in its wait; no stamp has been taken yet. */
static int see_blocked(struct handoff *handoff)
{
	struct posix_port *port = handoff->port;

	for (uint32_t looks = 0; looks < LOOKS_MAX; looks++) {
		if (atomic_load(&handoff->is_entering)) {
			int blocked =
				port->os->thread_is_blocked(port, atomic_load(&handoff->waiter));

			handoff->is_verified &= blocked >= 0;
			if (blocked > 0)
				return 0;
			if (blocked < 0) {
				posix_sleep_ms(&port->agent, PAUSE_MS);
				return 0;
			}
		}
		handoff->looked_again++;
		posix_sleep_ms(&port->agent, PAUSE_MS);
	}
	return ETIMEDOUT;
}

static int hand_over(
	struct handoff *handoff, struct window_series *series, struct window_series *caller)
{
	uint64_t before;
	uint64_t after;
	int error;

	if (handoff->is_mutex)
		pthread_mutex_lock(&handoff->mutex);
	atomic_store(&handoff->is_entering, false);
	sem_post(&handoff->begin);
	error = see_blocked(handoff);
	before = counter_read();
	if (handoff->is_mutex)
		pthread_mutex_unlock(&handoff->mutex);
	else
		sem_post(&handoff->given);
	after = counter_read();
	wait_semaphore(&handoff->end);
	if (error)
		return error;
	window_store_counts(series, (int64_t)(handoff->gained - before));
	if (caller)
		window_store_counts(caller, (int64_t)(after - before));
	return 0;
}

static void *run_low(void *context)
{
	struct handoff *handoff = context;
	struct row *row = handoff->row;
	int error = 0;

	while (error == 0 && row->cold->count < row->cold->capacity)
		error = hand_over(handoff, row->cold, NULL);
	while (error == 0 && row->handoff->count < row->handoff->capacity)
		error = hand_over(handoff, row->handoff, row->caller);
	handoff->error = error;
	atomic_store(&handoff->must_stop, true);
	sem_post(&handoff->begin);
	return NULL;
}

/* ---------------------------------------------------------------- run */

static int run_threads(struct window *window, struct handoff *handoff)
{
	pthread_t high;
	pthread_t low;
	int error = posix_start_thread(
		handoff->port, &high, POSIX_PRIORITY_HIGH, handoff->stack_high, run_high, handoff);

	if (error)
		return posix_fail(window, "thread H", error);
	error = posix_start_thread(
		handoff->port, &low, POSIX_PRIORITY_LOW, handoff->stack_low, run_low, handoff);
	if (error) {
		atomic_store(&handoff->must_stop, true);
		sem_post(&handoff->begin);
		pthread_join(high, NULL);
		return posix_fail(window, "thread L", error);
	}
	pthread_join(low, NULL);
	pthread_join(high, NULL);
	if (handoff->error)
		return posix_fail(window, "H was not seen blocked", handoff->error);
	return 0;
}

static int run_row(struct window *window, struct handoff *handoff, struct row *row)
{
	int error = posix_init_mutex(&handoff->mutex, row->protocol);
	int status;

	if (error)
		return posix_fail(window, "mutex", error);
	handoff->row = row;
	sem_init(&handoff->given, 0, 0);
	sem_init(&handoff->begin, 0, 0);
	sem_init(&handoff->end, 0, 0);
	atomic_store(&handoff->must_stop, false);
	atomic_store(&handoff->is_entering, false);
	status = run_threads(window, handoff);
	sem_destroy(&handoff->given);
	sem_destroy(&handoff->begin);
	sem_destroy(&handoff->end);
	pthread_mutex_destroy(&handoff->mutex);
	return status;
}

int posix_handoff_run(struct window *window)
{
	struct handoff *handoff = window->bench_data;
	int status = 0;

	handoff->is_verified = true;
	handoff->looked_again = 0;
	for (uint32_t i = 0; status == 0 && i < handoff->row_count; i++)
		status = run_row(window, handoff, &handoff->rows[i]);
	text_put(
		&window->counters, "waiter_seen_blocked", handoff->is_verified ? "yes" : "unknown");
	text_put_u64(&window->counters, "looked_again", handoff->looked_again);
	return status;
}
