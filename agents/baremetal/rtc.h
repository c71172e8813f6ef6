/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Goldfish RTC of QEMU virt (its timer in ns, and an alarm): a device with
 * an interrupt and a clock outside the system's, for irq.thread.  Source: QEMU,
 * docs/specs and hw/rtc/goldfish_rtc.c's register list.
 */
#ifndef AGENTS_BAREMETAL_RTC_H
#define AGENTS_BAREMETAL_RTC_H

#include <stdint.h>

#include "agents/core/agent.h"

#define RTC_STEP_US 3000u

/* The device at that address, whose interrupt is that source of the PLIC; NULL when base is 0. */
const struct agent_device *rtc_init(uintptr_t base, uint32_t source);

/* The source that trap.c hands on; 0 while there is none. */
uint32_t rtc_get_source(void);
void rtc_handle_interrupt(uint64_t entry_counts);

#endif
