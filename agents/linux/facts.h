/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this system is, for the report: kernel, machine, firmware, clocks,
 * preemption, memory, watchdog, build.  Reads files of /proc and /sys; what is
 * not there is left out or `unknown`.
 */
#ifndef AGENTS_LINUX_FACTS_H
#define AGENTS_LINUX_FACTS_H

#include "agents/core/text.h"
#include "agents/linux/resolution.h"

void facts_write_system(struct text *text);
void facts_write_clocks(struct text *text, const struct resolution *resolution);
void facts_write_build(struct text *text);

#endif
