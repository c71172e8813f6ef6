/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/vboard/loop.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <time.h>

uint64_t loop_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * LOOP_S + (uint64_t)now.tv_nsec;
}

void loop_add_watch(struct loop *loop, struct loop_watch *watch)
{
	assert(loop->watch_count < LOOP_WATCHES_MAX);
	loop->watches[loop->watch_count++] = watch;
}

void loop_add_timer(struct loop *loop, struct loop_timer *timer)
{
	assert(loop->timer_count < LOOP_TIMERS_MAX);
	loop->timers[loop->timer_count++] = timer;
}

void loop_end(struct loop *loop)
{
	loop->has_ended = true;
}

static uint64_t loop_next_due_ns(const struct loop *loop)
{
	uint64_t next_ns = 0;

	for (unsigned i = 0; i < loop->timer_count; i++) {
		uint64_t due_ns = loop->timers[i]->due_ns;
		if (due_ns && (!next_ns || due_ns < next_ns))
			next_ns = due_ns;
	}
	return next_ns;
}

static int loop_wait(const struct loop *loop, struct pollfd *polls)
{
	uint64_t next_ns = loop_next_due_ns(loop);
	struct timespec wait = {0};
	uint64_t now_ns;

	for (unsigned i = 0; i < loop->watch_count; i++)
		polls[i] = (struct pollfd){
			.fd = loop->watches[i]->fd, .events = loop->watches[i]->events};
	if (!next_ns)
		return ppoll(polls, loop->watch_count, NULL, NULL);
	now_ns = loop_now_ns();
	if (next_ns > now_ns) {
		wait.tv_sec = (time_t)((next_ns - now_ns) / LOOP_S);
		wait.tv_nsec = (long)((next_ns - now_ns) % LOOP_S);
	}
	return ppoll(polls, loop->watch_count, &wait, NULL);
}

static void loop_run_timers(struct loop *loop)
{
	uint64_t now_ns = loop_now_ns();

	for (unsigned i = 0; i < loop->timer_count && !loop->has_ended; i++) {
		struct loop_timer *timer = loop->timers[i];
		if (!timer->due_ns || timer->due_ns > now_ns)
			continue;
		timer->due_ns = 0;
		timer->expired(timer->context, now_ns);
	}
}

int loop_run(struct loop *loop)
{
	struct pollfd polls[LOOP_WATCHES_MAX];

	while (!loop->has_ended) {
		int ready = loop_wait(loop, polls);
		if (ready < 0 && errno != EINTR)
			return -errno;
		for (unsigned i = 0; i < loop->watch_count && ready > 0 && !loop->has_ended; i++) {
			struct loop_watch *watch = loop->watches[i];
			/* A callback before this one may have closed or replaced the descriptor. */
			if (polls[i].revents && watch->fd == polls[i].fd)
				watch->ready(watch->context, polls[i].revents);
		}
		/* After the watches: what was known before a timer's time is known to its callback.
		 */
		loop_run_timers(loop);
	}
	return 0;
}
