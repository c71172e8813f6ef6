/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the processor itself offers in S-mode beside the counter: the interrupt
 * enable, and plain access to device registers.  One hart, no locks: code that
 * shares data with an interrupt closes them with cpu_close_interrupts().
 * Source: RISC-V privileged architecture 1.12.
 */
#ifndef AGENTS_BAREMETAL_CPU_H
#define AGENTS_BAREMETAL_CPU_H

#include <stdint.h>

#define CPU_SIE_TIMER	 (1u << 5)
#define CPU_SIE_EXTERNAL (1u << 9)

/* Lets interrupts in.  One that is already pending is taken before the next instruction. */
static inline void cpu_open_interrupts(void)
{
	__asm__ volatile("csrsi sstatus, 2" ::: "memory");
}

/* Keeps interrupts out.  They stay pending and still end cpu_wait(). */
static inline void cpu_close_interrupts(void)
{
	__asm__ volatile("csrci sstatus, 2" ::: "memory");
}

/* Opens one source (CPU_SIE_*). */
static inline void cpu_enable_source(uint64_t sie_mask)
{
	__asm__ volatile("csrs sie, %0" ::"r"(sie_mask) : "memory");
}

/* Closes one source (CPU_SIE_*): it no longer ends cpu_wait(). */
static inline void cpu_disable_source(uint64_t sie_mask)
{
	__asm__ volatile("csrc sie, %0" ::"r"(sie_mask) : "memory");
}

/* Sleeps until an enabled source is pending, also while interrupts are kept out. */
static inline void cpu_wait(void)
{
	__asm__ volatile("wfi" ::: "memory");
}

/* Instructions retired.  Closed by some firmware: see instret.h before use. */
static inline uint64_t cpu_read_instret(void)
{
	uint64_t count;

	__asm__ volatile("csrr %0, instret" : "=r"(count) : : "memory");
	return count;
}

static inline uint32_t cpu_read_register(uintptr_t address)
{
	uint32_t value = *(volatile uint32_t *)address;

	__asm__ volatile("fence i, ir" ::: "memory");
	return value;
}

static inline void cpu_write_register(uintptr_t address, uint32_t value)
{
	__asm__ volatile("fence w, o" ::: "memory");
	*(volatile uint32_t *)address = value;
}

#endif
