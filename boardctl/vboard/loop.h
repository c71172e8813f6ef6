/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one loop of vboard: file descriptors and timers, one thread.
 *
 * Watches and timers live in the caller's storage, are added once and stay for the life of the
 * loop; they are switched by their fields. A callback must bear being called for nothing (it reads
 * without blocking). Times are CLOCK_MONOTONIC nanoseconds.
 */
#ifndef VBOARD_LOOP_H
#define VBOARD_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#define LOOP_MS UINT64_C(1000000)
#define LOOP_S	UINT64_C(1000000000)

/* fd -1 is skipped; events 0 still reports POLLHUP and POLLERR. */
struct loop_watch {
	int fd;
	short events;
	void (*ready)(void *context, short revents);
	void *context;
};

/* due_ns 0 is "not set"; it is cleared before expired is called. */
struct loop_timer {
	uint64_t due_ns;
	void (*expired)(void *context, uint64_t now_ns);
	void *context;
};

#define LOOP_WATCHES_MAX 32
#define LOOP_TIMERS_MAX	 16

struct loop {
	struct loop_watch *watches[LOOP_WATCHES_MAX];
	struct loop_timer *timers[LOOP_TIMERS_MAX];
	unsigned watch_count, timer_count;
	bool has_ended;
};

/* Add a watch or a timer; more than the maxima above is a bug of the caller. */
void loop_add_watch(struct loop *loop, struct loop_watch *watch);
void loop_add_timer(struct loop *loop, struct loop_timer *timer);

/* Run until loop_end; 0, or a negative errno when waiting itself fails. */
int loop_run(struct loop *loop);
void loop_end(struct loop *loop);

uint64_t loop_now_ns(void);

#endif
