/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The alarm of the real-time clock, for irq.thread: a device with an interrupt
 * and a clock of its own.  Linux gives it out through /dev/rtc0 in whole
 * seconds, so an alarm takes two: in the first the edge of the second is seen
 * (between two readings, which are the bracket), at the next one the alarm is
 * due.  The way is the driver's handler, a kernel worker, the waiting thread.
 */
#ifndef AGENTS_LINUX_RTC_H
#define AGENTS_LINUX_RTC_H

#include "agents/core/agent.h"

#define RTC_STEP_US 2000000u

struct rtc {
	int fd; /* -1: closed */
	char name[96];
	bool is_usable;
};

/* Whether there is one with an alarm; its name. */
void rtc_init(struct rtc *rtc);

/* Of struct agent_device. */
int rtc_begin(struct rtc *rtc);
int rtc_wait(struct rtc *rtc, uint64_t rate_hz, struct agent_alarm *alarm);
void rtc_end(struct rtc *rtc);

#endif
