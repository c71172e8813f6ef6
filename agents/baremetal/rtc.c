/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/baremetal/rtc.h"

#include "agents/baremetal/cpu.h"
#include "agents/baremetal/plic.h"
#include "agents/core/counter.h"

#define TIME_LOW	0x00u
#define TIME_HIGH	0x04u
#define ALARM_LOW	0x08u /* and then the alarm is set */
#define ALARM_HIGH	0x0cu
#define IRQ_ENABLED	0x10u
#define CLEAR_ALARM	0x14u
#define CLEAR_INTERRUPT 0x1cu

#define NS_PER_S    1000000000u
#define LEAD_NS	    2000000u
#define SWEEP_NS    137000u /* so that no alarm is locked to the tick */
#define SWEEP_STEPS 7u

static struct {
	uintptr_t base;
	uint32_t source;
	uint32_t alarms;
	volatile uint64_t came; /* entry of its interrupt; 0: not yet */
} rtc;

static int rtc_begin(struct agent_port *port)
{
	(void)port;
	plic_enable_source(rtc.source);
	cpu_write_register(rtc.base + IRQ_ENABLED, 1);
	return 0;
}

static void rtc_end(struct agent_port *port)
{
	(void)port;
	cpu_write_register(rtc.base + IRQ_ENABLED, 0);
	cpu_write_register(rtc.base + CLEAR_ALARM, 1);
}

/* The low half, read first, holds the high one still. */
static uint64_t read_ns(void)
{
	uint64_t low = cpu_read_register(rtc.base + TIME_LOW);

	return (uint64_t)cpu_read_register(rtc.base + TIME_HIGH) << 32 | low;
}

/* Interrupts are kept out but where it waits. */
static int rtc_wait(struct agent_port *port, struct agent_alarm *alarm)
{
	uint64_t rate = port->counter_rate_hz;
	uint64_t wait_ns = LEAD_NS + rtc.alarms++ % SWEEP_STEPS * SWEEP_NS;
	uint64_t before;
	uint64_t due_ns;

	cpu_close_interrupts();
	rtc.came = 0;
	before = counter_read();
	due_ns = read_ns() + wait_ns;
	alarm->bracket_counts = counter_read() - before;
	alarm->due_counts = before + counter_scale(wait_ns, rate, NS_PER_S);
	cpu_write_register(rtc.base + ALARM_HIGH, (uint32_t)(due_ns >> 32));
	cpu_write_register(rtc.base + ALARM_LOW, (uint32_t)due_ns);
	do {
		cpu_wait();
		cpu_open_interrupts();
		alarm->thread_counts = counter_read();
		cpu_close_interrupts();
	} while (!rtc.came && alarm->thread_counts - before < rate);
	cpu_open_interrupts();
	alarm->isr_counts = rtc.came;
	return rtc.came ? 0 : WIRE_ERROR_FAILED;
}

static const struct agent_device device = {
	.name = "Goldfish RTC through the PLIC",
	.step_us = RTC_STEP_US,
	.stamps_handler = true,
	.begin = rtc_begin,
	.wait = rtc_wait,
	.end = rtc_end,
};

const struct agent_device *rtc_init(uintptr_t base, uint32_t source)
{
	rtc.base = base;
	rtc.source = source;
	return base ? &device : NULL;
}

uint32_t rtc_get_source(void)
{
	return rtc.source;
}

void rtc_handle_interrupt(uint64_t entry_counts)
{
	rtc.came = entry_counts;
	cpu_write_register(rtc.base + CLEAR_INTERRUPT, 1);
}
