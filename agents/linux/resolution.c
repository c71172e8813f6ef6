/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/linux/resolution.h"

#include <stdlib.h>
#include <time.h>

#define NS_PER_S      1000000000u
#define TICK_MAX_NS   20000000u
#define SLEEPS	      9
#define STEP_READINGS 1000

static uint64_t to_ns(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_nsec;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return to_ns(&now);
}

static uint64_t ask_ns(clockid_t clock)
{
	struct timespec resolution;

	return clock_getres(clock, &resolution) == 0 ? to_ns(&resolution) : 0;
}

static uint64_t find_step_ns(void)
{
	uint64_t smallest = UINT64_MAX;
	uint64_t before = now_ns();

	for (int i = 0; i < STEP_READINGS; i++) {
		uint64_t now = now_ns();

		if (now != before && now - before < smallest)
			smallest = now - before;
		before = now;
	}
	return smallest;
}

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a;
	uint64_t right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/* Deadlines at all phases of a tick: where sleeps end with one, they are half a tick late. */
static uint64_t find_lateness_ns(uint64_t tick_ns)
{
	uint64_t late[SLEEPS];

	for (uint64_t i = 0; i < SLEEPS; i++) {
		uint64_t at =
			(now_ns() / tick_ns + 1) * tick_ns + tick_ns * (2 * i + 1) / (2 * SLEEPS);
		struct timespec deadline = {
			.tv_sec = (time_t)(at / NS_PER_S), .tv_nsec = (long)(at % NS_PER_S)};
		uint64_t now;

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL);
		now = now_ns();
		late[i] = now > at ? now - at : 0;
	}
	qsort(late, SLEEPS, sizeof(late[0]), compare);
	return late[SLEEPS / 2];
}

void resolution_measure(struct resolution *resolution)
{
	uint64_t tick_ns = ask_ns(CLOCK_MONOTONIC_COARSE);

	*resolution = (struct resolution){
		.claimed_ns = ask_ns(CLOCK_MONOTONIC),
		.step_ns = find_step_ns(),
		.tick_ns = tick_ns,
		.sleep_ns = 1,
	};
	if (tick_ns == 0 || tick_ns > TICK_MAX_NS)
		return;
	resolution->late_ns = find_lateness_ns(tick_ns);
	/* Half a tick when they do; an emulator on a busy host is late by less. */
	if (resolution->late_ns > tick_ns / 3)
		resolution->sleep_ns = tick_ns;
}

bool resolution_is_a_lie(const struct resolution *resolution)
{
	uint64_t seen_ns = resolution->sleep_ns > resolution->step_ns ? resolution->sleep_ns
								      : resolution->step_ns;

	return resolution->claimed_ns > 2 * seen_ns ||
	       (resolution->sleep_ns > 1 && resolution->claimed_ns < resolution->sleep_ns / 2);
}

void resolution_write_facts(const struct resolution *resolution, struct text *text)
{
	text_put_u64(text, "clock_resolution_ns", resolution->claimed_ns);
	text_put_u64(text, "clock_step_ns", resolution->step_ns);
	text_put_u64(text, "sleep_resolution_ns", resolution->sleep_ns);
	text_put_u64(text, "sleep_late_ns", resolution->late_ns);
	text_put(text, "clock_resolution_is", resolution_is_a_lie(resolution) ? "a lie" : "true");
	if (resolution->tick_ns) {
		text_put_u64(text, "tick_ns", resolution->tick_ns);
		text_put_u64(text, "tick_hz",
			(NS_PER_S + resolution->tick_ns / 2) / resolution->tick_ns);
	}
}
