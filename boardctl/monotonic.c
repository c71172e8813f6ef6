/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/monotonic.h"

#include <errno.h>
#include <time.h>

uint64_t monotonic_get_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

uint64_t monotonic_get_ms(void)
{
	return monotonic_get_us() / 1000u;
}

void monotonic_sleep_until_us(uint64_t when_us)
{
	const struct timespec when = {
		.tv_sec = (time_t)(when_us / 1000000u),
		.tv_nsec = (long)(when_us % 1000000u) * 1000,
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR)
		;
}
