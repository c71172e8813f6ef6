/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/baremetal/timer.h"

#include "agents/baremetal/cpu.h"
#include "agents/baremetal/instret.h"
#include "agents/baremetal/sbi.h"
#include "agents/baremetal/testbuild.h"
#include "agents/core/counter.h"

#define TIMER_NEVER UINT64_MAX

static struct {
	uint64_t period;
	volatile uint64_t next_tick;
	volatile uint64_t ticks;
	volatile uint64_t deadline; /* TIMER_NEVER once it has been met */
	volatile uint64_t met;	    /* entry of the interrupt that met it */
	volatile uint64_t met_instret;
	volatile uint64_t interrupts;
} timer;

static void timer_program(void)
{
	uint64_t tick = timer.next_tick;
	uint64_t deadline = timer.deadline;

	sbi_set_timer(deadline < tick ? deadline : tick);
}

void timer_init(uint64_t rate_hz)
{
	timer.period = testbuild_stretch_tick(counter_scale(TIMER_TICK_US, rate_hz, 1000000));
	timer.deadline = TIMER_NEVER;
	timer.next_tick = counter_read() + timer.period;
	timer_program();
	cpu_enable_source(CPU_SIE_TIMER);
}

uint64_t timer_get_ticks(void)
{
	return timer.ticks;
}

uint64_t timer_get_next_tick(void)
{
	return timer.next_tick;
}

uint64_t timer_get_period(void)
{
	return timer.period;
}

uint64_t timer_get_interrupts(void)
{
	return timer.interrupts;
}

void timer_sleep_until(uint64_t deadline_counts, struct timer_wake *wake)
{
	int has_instret = instret_get_rate() != 0;

	wake->thread_instret = 0;
	cpu_close_interrupts();
	timer.deadline = deadline_counts;
	timer_program();
	while (timer.deadline != TIMER_NEVER) {
		cpu_wait();
		cpu_open_interrupts();
		wake->thread = counter_read();
		if (has_instret)
			wake->thread_instret = cpu_read_instret();
		cpu_close_interrupts();
	}
	wake->isr = timer.met;
	wake->isr_instret = timer.met_instret;
	cpu_open_interrupts();
}

void timer_sleep_ticks(uint64_t ticks)
{
	/*
	 * The tick that is under way is not a whole one, and ticks that were
	 * held up come in a row: only the counter tells that the time is over.
	 */
	uint64_t last = timer.ticks + ticks + 1;
	uint64_t earliest = counter_read() + ticks * timer.period;

	while (timer.ticks < last || counter_read() < earliest) {
		uint64_t seen = timer.ticks;

		cpu_close_interrupts();
		if (timer.ticks == seen)
			cpu_wait();
		cpu_open_interrupts();
	}
}

void timer_wait_interrupt(uint64_t deadline_counts)
{
	timer.deadline = deadline_counts;
	timer_program();
	cpu_wait();
	timer.deadline = TIMER_NEVER;
	cpu_open_interrupts();
}

void timer_handle_interrupt(uint64_t entry_counts, uint64_t entry_instret)
{
	testbuild_begin_tick(&timer.next_tick, entry_counts, timer.period);
	timer.interrupts = timer.interrupts + 1;
	if (timer.deadline <= entry_counts) {
		timer.deadline = TIMER_NEVER;
		timer.met = entry_counts;
		timer.met_instret = entry_instret;
		testbuild_lengthen_handoff();
	}
	while (timer.next_tick <= entry_counts) {
		timer.next_tick = timer.next_tick + timer.period;
		timer.ticks = timer.ticks + 1;
		testbuild_tick(timer.ticks);
	}
	timer_program();
}
