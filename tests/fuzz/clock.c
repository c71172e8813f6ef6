/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time of boardctl/ in the hand of a fuzz target: what waits for seconds is
 * over at once.  It stands in for boardctl/monotonic.c in programs linked with
 * --wrap for each of its functions; in others nothing here is called.
 */
#include <errno.h>
#include <time.h>

#include "boardctl/monotonic.h"
#include "tests/fuzz/fuzz.h"

static uint64_t now_us; /* 0: the real one */

uint64_t __wrap_monotonic_get_us(void);
uint64_t __wrap_monotonic_get_ms(void);
void __wrap_monotonic_sleep_until_us(uint64_t when_us);

void fuzz_clock_begin(void)
{
	now_us = 1000000;
}

void fuzz_clock_pass(uint64_t us)
{
	now_us += us;
}

void fuzz_clock_end(void)
{
	now_us = 0;
}

uint64_t __wrap_monotonic_get_us(void)
{
	struct timespec now;

	if (now_us)
		return now_us;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

uint64_t __wrap_monotonic_get_ms(void)
{
	return __wrap_monotonic_get_us() / 1000u;
}

void __wrap_monotonic_sleep_until_us(uint64_t when_us)
{
	const struct timespec when = {.tv_sec = (time_t)(when_us / 1000000u),
		.tv_nsec = (long)(when_us % 1000000u) * 1000};

	if (now_us)
		now_us = when_us > now_us ? when_us : now_us;
	else
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR)
			;
}
