/* SPDX-License-Identifier: Apache-2.0 */
/*
 * B20 sem.handoff and B22 mutex.handoff: L gives, H has been waiting.  Each
 * sample of `handoff` is from before the post or unlock in L to the return of
 * the wait or lock in H; `caller` is to the return of the post or unlock in L.
 * H is seen blocked before each handoff where the system can tell.
 * B21 sem.handoff.low is the same with the priorities exchanged: the waiter
 * comes when the giver itself blocks.  `hot` is the second of two handoffs in a
 * row, `dirty` one after churn_dirty() in the giver.
 */
#include <errno.h>
#include <semaphore.h>

#include "agents/core/counter.h"
#include "agents/core/posix/posix_port.h"

#define LOOKS_MAX 2000u /* until H is seen blocked */
#define PAUSE_MS  1u	/* between looks, and once where the system cannot tell */
#define ROWS_MAX  2u

struct row {
	int protocol; /* of the mutex */
	struct window_series *cold;
	struct window_series *handoff;
	struct window_series *caller;
	struct window_series *hot;
	struct window_series *dirty;
};

struct handoff {
	struct posix_port *port;
	bool is_mutex;
	enum posix_priority waiter_priority;
	enum posix_priority giver_priority;
	struct churn churn;
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

struct names {
	const char *cold;
	const char *handoff;
	const char *caller;
	const char *hot;
	const char *dirty;
};

static int add_row(
	struct window *window, struct handoff *handoff, int protocol, const struct names *names)
{
	struct row *row = &handoff->rows[handoff->row_count++];
	uint32_t n = window->plan.n;

	row->protocol = protocol;
	row->cold = window_add_counts(window, names->cold, window_cold_count(window));
	row->handoff = window_add_counts(window, names->handoff, n);
	row->caller = window_add_counts(window, names->caller, n);
	row->hot = window_add_counts(window, names->hot, n);
	row->dirty = window_add_counts(window, names->dirty, n);
	return row->cold && row->handoff && row->caller && row->hot && row->dirty
		       ? 0
		       : WIRE_ERROR_NO_MEMORY;
}

/* 0 or a negative enum wire_error. */
static int new_handoff(struct window *window, struct handoff **made)
{
	struct handoff *handoff = arena_take(window->arena, sizeof(*handoff));

	*made = handoff;
	if (window->plan.n == 0)
		return WIRE_ERROR_BAD_RANGE;
	if (!handoff)
		return WIRE_ERROR_NO_MEMORY;
	handoff->port = (struct posix_port *)window->port;
	handoff->waiter_priority = POSIX_PRIORITY_HIGH;
	handoff->giver_priority = POSIX_PRIORITY_LOW;
	handoff->stack_high = arena_take(window->arena, POSIX_STACK_SIZE);
	handoff->stack_low = arena_take(window->arena, POSIX_STACK_SIZE);
	window->bench_data = handoff;
	if (!handoff->stack_high || !handoff->stack_low)
		return WIRE_ERROR_NO_MEMORY;
	return churn_init(&handoff->churn, window);
}

int posix_handoff_prepare_semaphore(struct window *window)
{
	static const struct names names = {
		"cold", "handoff", "caller", "handoff.hot", "handoff.dirty"};
	struct handoff *handoff;
	int status = new_handoff(window, &handoff);

	return status ? status : add_row(window, handoff, 0, &names);
}

int posix_handoff_prepare_low(struct window *window)
{
	static const struct names names = {"cold", "low", "caller", "low.hot", "low.dirty"};
	struct handoff *handoff;
	int status = new_handoff(window, &handoff);

	if (status)
		return status;
	handoff->waiter_priority = POSIX_PRIORITY_LOW;
	handoff->giver_priority = POSIX_PRIORITY_HIGH;
	return add_row(window, handoff, 0, &names);
}

int posix_handoff_prepare_mutex(struct window *window)
{
	static const struct names plain = {"cold.plain", "handoff.plain", "caller.plain",
		"handoff.plain.hot", "handoff.plain.dirty"};
	static const struct names inheriting = {
		"cold.pi", "handoff.pi", "caller.pi", "handoff.pi.hot", "handoff.pi.dirty"};
	struct handoff *handoff;
	int status = new_handoff(window, &handoff);

	if (status)
		return status;
	handoff->is_mutex = true;
	status = add_row(window, handoff, PTHREAD_PRIO_NONE, &plain);
	if (status == 0 && posix_has_inheritance())
		status = add_row(window, handoff, PTHREAD_PRIO_INHERIT, &inheriting);
	return status;
}

uint32_t posix_handoff_estimate_ms(const struct window *window)
{
	const struct handoff *handoff = window->bench_data;
	uint64_t rounds =
		handoff->row_count * ((uint64_t)window->plan.n + window_cold_count(window));

	/* A pause and the look each, plain, hot twice and dirty: far above any machine meant here.
	 */
	return (uint32_t)(rounds * 4 * (PAUSE_MS + 1) + 50);
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

/* Series may be NULL: then nothing is kept of it. */
static int hand_over(struct handoff *handoff, struct window_series *series,
	struct window_series *caller, bool is_dirty)
{
	uint64_t before;
	uint64_t after;
	int error;

	if (handoff->is_mutex)
		pthread_mutex_lock(&handoff->mutex);
	atomic_store(&handoff->is_entering, false);
	sem_post(&handoff->begin);
	error = see_blocked(handoff);
	if (is_dirty)
		churn_dirty(&handoff->churn);
	before = counter_read();
	if (handoff->is_mutex)
		pthread_mutex_unlock(&handoff->mutex);
	else
		sem_post(&handoff->given);
	after = counter_read();
	wait_semaphore(&handoff->end);
	if (error)
		return error;
	if (series)
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
		error = hand_over(handoff, row->cold, NULL, false);
	while (error == 0 && row->handoff->count < row->handoff->capacity)
		error = hand_over(handoff, row->handoff, row->caller, false);
	while (error == 0 && row->hot->count < row->hot->capacity) {
		error = hand_over(handoff, NULL, NULL, false);
		if (error == 0)
			error = hand_over(handoff, row->hot, NULL, false);
	}
	while (error == 0 && row->dirty->count < row->dirty->capacity)
		error = hand_over(handoff, row->dirty, NULL, true);
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
	int error = posix_start_thread(handoff->port, &high, handoff->waiter_priority,
		handoff->stack_high, run_high, handoff);

	if (error)
		return posix_fail(window, "thread H", error);
	error = posix_start_thread(
		handoff->port, &low, handoff->giver_priority, handoff->stack_low, run_low, handoff);
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
	if (handoff->is_mutex && handoff->row_count == 1)
		text_put(&window->counters, "pi", "unsupported");
	churn_write(&handoff->churn, &window->counters);
	return status;
}
