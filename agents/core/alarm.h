/* SPDX-License-Identifier: Apache-2.0 */
/*
 * B08 irq.thread: the interrupt of a device that has a clock of its own, to the
 * first instruction of the thread that waits for it.  `latency` is that minus
 * when the alarm was due (the earlier end of what is known); `bracket` says for
 * each sample how far the true instant may lie behind that, so the true value
 * lies in [latency - bracket, latency].  Where the port stamps its handler,
 * `isr` is to there.
 */
#ifndef AGENTS_CORE_ALARM_H
#define AGENTS_CORE_ALARM_H

#include "agents/core/window.h"

const char *alarm_check(const struct agent_port *port);
int alarm_prepare(struct window *window);
uint32_t alarm_estimate_ms(const struct window *window);
int alarm_run(struct window *window);

#endif
