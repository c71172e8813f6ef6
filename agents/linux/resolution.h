/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How finely the system sleeps.  clock_getres() is a claim: systems are known
 * that say 1 ms whatever the truth, so it is only recorded, and the agent goes
 * by what it sees.
 */
#ifndef AGENTS_LINUX_RESOLUTION_H
#define AGENTS_LINUX_RESOLUTION_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/core/text.h"

struct resolution {
	uint64_t claimed_ns; /* by clock_getres(); 0: no answer */
	uint64_t step_ns;    /* smallest step of the clock that was seen */
	uint64_t tick_ns;    /* the kernel's */
	uint64_t late_ns;    /* median lateness of short sleeps across a tick */
	uint64_t sleep_ns;   /* of timed sleeps: 1, or a tick where they end with it */
};

/* Sleeps a few ticks. */
void resolution_measure(struct resolution *resolution);

/* Whether the claim is far from what was seen. */
bool resolution_is_a_lie(const struct resolution *resolution);
void resolution_write_facts(const struct resolution *resolution, struct text *text);

#endif
