/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/linux/rate.h"

#include <time.h>

#include "agents/core/counter.h"
#include "agents/linux/file.h"

#if defined(__riscv)

struct rate rate_read(void)
{
	uint64_t hz = file_read_cell("/proc/device-tree/cpus/timebase-frequency");

	if (hz == 0)
		hz = file_read_cell("/proc/device-tree/cpus/cpu@0/timebase-frequency");
	return (struct rate){.hz = hz, .source = "device-tree"};
}

#elif defined(__aarch64__)

struct rate rate_read(void)
{
	uint64_t hz;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
	return (struct rate){.hz = hz, .source = "cntfrq"};
}

#else

#define CALIBRATION_NS 200000000u
#define TRIES	       64

struct point {
	uint64_t counts;
	uint64_t ns;
};

/* The clock and the counter at one instant: the shortest of many brackets. */
static struct point take_point(void)
{
	struct point point = {0, 0};
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		struct timespec now;
		uint64_t before = counter_read();
		uint64_t after;

		clock_gettime(CLOCK_MONOTONIC_RAW, &now);
		after = counter_read();
		if (after - before < best) {
			best = after - before;
			point.counts = before + best / 2;
			point.ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
		}
	}
	return point;
}

struct rate rate_read(void)
{
	const struct timespec pause = {.tv_nsec = CALIBRATION_NS};
	struct point first = take_point();
	struct point last;

	clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	last = take_point();
	return (struct rate){
		.hz = counter_scale(last.counts - first.counts, 1000000000u, last.ns - first.ns),
		.source = "calibrated",
	};
}

#endif
