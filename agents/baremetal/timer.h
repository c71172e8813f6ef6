/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system's clock: a tick of 1 ms kept by compare (next += period, so no
 * tick is lost and none drifts), and timed waits that set the compare to the
 * earlier of tick and deadline.  The OS clock is the number of ticks and
 * nothing else, so that it is a clock worth auditing.  One waiter, the main
 * loop; interrupts are open there.
 */
#ifndef AGENTS_BAREMETAL_TIMER_H
#define AGENTS_BAREMETAL_TIMER_H

#include <stdint.h>

#define TIMER_TICK_US 1000u

/* When a deadline was met, in counts. */
struct timer_wake {
	uint64_t isr;	 /* first instruction of the interrupt that met it */
	uint64_t thread; /* first instruction of the main loop after it */
	/* The same two in retired instructions, where instret.h says that it is exact. */
	uint64_t isr_instret;
	uint64_t thread_instret;
};

/* Starts ticking; rate_hz is the counter's. */
void timer_init(uint64_t rate_hz);

/* Ticks since timer_init(). */
uint64_t timer_get_ticks(void);

/* The counter's value at which the next tick is due, and counts between two ticks. */
uint64_t timer_get_next_tick(void);
uint64_t timer_get_period(void);

/* Timer interrupts so far. */
uint64_t timer_get_interrupts(void);

/* Waits for the interrupt that meets the deadline; one in the past comes at once. */
void timer_sleep_until(uint64_t deadline_counts, struct timer_wake *wake);

/* Sleeps for whole ticks, never shorter than asked, and comes back right after a tick. */
void timer_sleep_ticks(uint64_t ticks);

/*
 * Waits for any interrupt, at most until deadline_counts.  The caller has closed
 * interrupts, so that none slips in between its last look and the wait; they
 * are open on return.
 */
void timer_wait_interrupt(uint64_t deadline_counts);

/* The timer's interrupt, entered at entry_counts. */
void timer_handle_interrupt(uint64_t entry_counts, uint64_t entry_instret);

#endif
