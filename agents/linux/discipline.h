/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who steers CLOCK_MONOTONIC: NTP's slewing of 1 ppm is 20 us in 20 s, and
 * every release of a grid moves with it.
 */
#ifndef AGENTS_LINUX_DISCIPLINE_H
#define AGENTS_LINUX_DISCIPLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agents/core/text.h"

struct discipline {
	bool is_known;
	int64_t status;	       /* STA_* of adjtimex(2) */
	int64_t offset;	       /* still to be slewed, us, or ns with STA_NANO */
	int64_t freq;	       /* ppm * 65536 */
	int64_t tick_us;       /* of USER_HZ ticks */
	int64_t singleshot_us; /* of adjtime(3), still to go */
};

void discipline_read(struct discipline *discipline);

/*
 * Stop the kernel's own loop until the restore; the frequency stays.  false
 * when it still runs: not permitted.  `before` is what was there.
 */
bool discipline_suspend(struct discipline *before);
void discipline_restore(const struct discipline *before);

/* Whether anything slews the clock at this instant. */
bool discipline_is_on(const struct discipline *discipline);

/*
 * `clock_steered=`: "no", "unknown", or what moved the clock between the two
 * readings; and the frequency that was set.
 */
void discipline_write(
	const struct discipline *begin, const struct discipline *end, struct text *text);

/* Facts of one reading. */
void discipline_write_facts(const struct discipline *discipline, struct text *text);

#endif
