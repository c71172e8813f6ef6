/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The free-running counter, read in the agent's own mode in a few
 * instructions: rdtime on RISC-V, cntvct on arm64, TSC on x86.  Never rdcycle,
 * which is closed to user mode on many kernels.  The rate is not known here;
 * the port reads it where the system keeps it (agent.h, counter_rate_hz).
 */
#ifndef AGENTS_CORE_COUNTER_H
#define AGENTS_CORE_COUNTER_H

#include <stdint.h>

/* Now, in counts, ordered after everything before it in program order. */
static inline uint64_t counter_read(void)
{
#if defined(__riscv) && __riscv_xlen == 64
	uint64_t now;

	__asm__ volatile("rdtime %0" : "=r"(now) : : "memory");
	return now;
#elif defined(__aarch64__)
	uint64_t now;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(now) : : "memory");
	return now;
#elif defined(__x86_64__)
	uint32_t low;
	uint32_t high;

	__asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
#else
#error "no free-running counter known for this processor"
#endif
}

/*
 * value * to / from without overflow as long as the result fits; rounded down.
 * For conversions between counts and time: counter_scale(us, rate_hz, 1000000).
 */
inline uint64_t counter_scale(uint64_t value, uint64_t to, uint64_t from)
{
	return value / from * to + value % from * to / from;
}

#endif
