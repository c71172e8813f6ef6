/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/linux/mhz.h"

#include <time.h>

#define TRIES  16
#define ROUNDS 1000u
#define CHAIN  64u

/*
 * CHAIN steps that each wait for the one before: 1 cycle each in order and out
 * of order, 3 for x86's multiplication (its additions are folded by some).
 */
#if defined(__x86_64__)
#define STEP_CYCLES 3u
#define STEP	    "imul %0, %0\n\t"
#elif defined(__aarch64__)
#define STEP_CYCLES 1u
#define STEP	    "eor %0, %0, %0, ror #1\n\t"
#else
#define STEP_CYCLES 1u
#define STEP	    "addi %0, %0, 1\n\t"
#endif
#define STEPS_4	 STEP STEP STEP STEP
#define STEPS_16 STEPS_4 STEPS_4 STEPS_4 STEPS_4

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t time_chain_ns(void)
{
	uint64_t before = now_ns();
	uint64_t value = 3;

	for (unsigned int i = 0; i < ROUNDS; i++)
		__asm__ volatile(STEPS_16 STEPS_16 STEPS_16 STEPS_16 : "+r"(value));
	return now_ns() - before;
}

uint64_t mhz_measure(void)
{
	uint64_t best = UINT64_MAX;

	for (unsigned int i = 0; i < TRIES; i++) {
		uint64_t ns = time_chain_ns();

		if (ns > 0 && ns < best)
			best = ns;
	}
	return ROUNDS * CHAIN * STEP_CYCLES * 1000u / best;
}
