/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a broken system does, on purpose, for the tests of the harness: each
 * image of the Makefile's baremetal_variants defines one TEST_BUILD_ name.  The
 * image that measures defines none and has none of this in it.
 */
#ifndef AGENTS_BAREMETAL_TESTBUILD_H
#define AGENTS_BAREMETAL_TESTBUILD_H

#include <stdint.h>

#include "agents/baremetal/cpu.h"
#include "agents/core/counter.h"

/* The name of the test build, a fact of its own; NULL in the image that measures. */
#if defined(TEST_BUILD_DEAD_TIMER)
#define TESTBUILD_NAME "dead-timer"
#elif defined(TEST_BUILD_CHATTER)
#define TESTBUILD_NAME "chatter"
#elif defined(TEST_BUILD_WATCHDOG_LEFT_ON)
#define TESTBUILD_NAME "watchdog-left-on"
#elif defined(TEST_BUILD_LONG_TICK)
#define TESTBUILD_NAME "long-tick"
#elif defined(TEST_BUILD_LONG_HANDOFF)
#define TESTBUILD_NAME "long-handoff"
#elif defined(TEST_BUILD_TICK_SPIN)
#define TESTBUILD_NAME "tick-spin"
#elif defined(TEST_BUILD_RESET)
#define TESTBUILD_NAME "reset"
#endif

/* Counts of a tick as programmed; long-tick is the off-by-one of a down-counter. */
static inline uint64_t testbuild_stretch_tick(uint64_t counts)
{
#ifdef TEST_BUILD_LONG_TICK
	counts++;
#endif
	return counts;
}

/* The agent has said HELLO; dead-timer's interrupt never comes again. */
static inline void testbuild_enter_service(void)
{
#ifdef TEST_BUILD_DEAD_TIMER
	cpu_disable_source(CPU_SIE_TIMER);
#endif
}

/* On the way from the timer's interrupt to the main loop; long-handoff's two instructions. */
static inline void testbuild_lengthen_handoff(void)
{
#ifdef TEST_BUILD_LONG_HANDOFF
	__asm__ volatile("nop\n\tnop");
#endif
}

/* The head of the tick handler; tick-spin wastes 5 us of a tick of 1 ms there. */
static inline void testbuild_begin_tick(
	const volatile uint64_t *next_tick, uint64_t entry_counts, uint64_t tick_counts)
{
#ifdef TEST_BUILD_TICK_SPIN
	uint64_t until = counter_read() + tick_counts / 200;

	while (*next_tick <= entry_counts && counter_read() < until)
		;
#else
	(void)next_tick;
	(void)entry_counts;
	(void)tick_counts;
#endif
}

/*
 * Every tick: chatter talks every 700 ms; watchdog-left-on resets after its
 * period, and reset after 3 s, in the middle of whatever is measured then.
 */
#if defined(TEST_BUILD_CHATTER) || defined(TEST_BUILD_WATCHDOG_LEFT_ON) || defined(TEST_BUILD_RESET)
void testbuild_tick(uint64_t ticks);
#else
static inline void testbuild_tick(uint64_t ticks)
{
	(void)ticks;
}
#endif

#endif
