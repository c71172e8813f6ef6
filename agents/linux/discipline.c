/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/linux/discipline.h"

#include <stdio.h>
#include <sys/timex.h>

#define LOOPS (STA_PLL | STA_FLL | STA_PPSFREQ | STA_PPSTIME)

void discipline_read(struct discipline *discipline)
{
	struct timex state = {.modes = 0};
	struct timex adjtime = {.modes = ADJ_OFFSET_SS_READ};

	*discipline = (struct discipline){.is_known = adjtimex(&state) >= 0};
	if (!discipline->is_known)
		return;
	discipline->status = state.status;
	discipline->offset = state.offset;
	discipline->freq = state.freq;
	discipline->tick_us = state.tick;
	if (adjtimex(&adjtime) >= 0)
		discipline->singleshot_us = adjtime.offset;
}

bool discipline_is_on(const struct discipline *discipline)
{
	return (discipline->status & LOOPS) != 0 || discipline->offset != 0 ||
	       discipline->singleshot_us != 0;
}

bool discipline_suspend(struct discipline *before)
{
	struct discipline after;
	struct timex change = {.modes = ADJ_OFFSET, .offset = 0};

	discipline_read(before);
	if (!before->is_known || !discipline_is_on(before))
		return true;
	/* Only a running loop takes an offset. */
	if (before->status & STA_PLL)
		adjtimex(&change);
	change = (struct timex){.modes = ADJ_OFFSET_SINGLESHOT, .offset = 0};
	adjtimex(&change);
	change = (struct timex){.modes = ADJ_STATUS, .status = (int)before->status & ~LOOPS};
	adjtimex(&change);
	discipline_read(&after);
	return !discipline_is_on(&after);
}

void discipline_restore(const struct discipline *before)
{
	struct timex change = {.modes = ADJ_STATUS | ADJ_FREQUENCY,
		.status = (int)before->status & ~(STA_RONLY & ~STA_NANO),
		.freq = (long)before->freq};

	if (before->is_known && discipline_is_on(before))
		adjtimex(&change);
}

void discipline_write(
	const struct discipline *begin, const struct discipline *end, struct text *text)
{
	char what[96] = "no";

	if (!begin->is_known || !end->is_known)
		snprintf(what, sizeof(what), "unknown");
	else if (begin->freq != end->freq || begin->tick_us != end->tick_us)
		snprintf(what, sizeof(what), "its rate was changed by %+.3f ppm",
			(double)(end->freq - begin->freq) / 65536 +
				(double)(end->tick_us - begin->tick_us) * 100);
	else if (begin->offset != 0 || end->offset != 0)
		snprintf(what, sizeof(what), "an offset of %lld %s is being slewed",
			(long long)(end->offset ? end->offset : begin->offset),
			end->status & STA_NANO ? "ns" : "us");
	else if (begin->singleshot_us != 0 || end->singleshot_us != 0)
		snprintf(what, sizeof(what), "adjtime has %lld us to go",
			(long long)(end->singleshot_us ? end->singleshot_us
						       : begin->singleshot_us));
	else if (discipline_is_on(begin) || discipline_is_on(end))
		snprintf(what, sizeof(what), "the kernel's loop is on (status 0x%llx)",
			(unsigned long long)end->status);
	text_put(text, "clock_steered", what);
	if (end->is_known)
		text_put_i64(text, "clock_freq_ppm_65536", end->freq);
}

void discipline_write_facts(const struct discipline *discipline, struct text *text)
{
	if (!discipline->is_known) {
		text_put(text, "clock_discipline", "unknown");
		return;
	}
	text_put(text, "clock_discipline", discipline_is_on(discipline) ? "on" : "off");
	text_put_i64(text, "adjtimex.status", discipline->status);
	text_put_i64(text, "adjtimex.offset", discipline->offset);
	text_put_i64(text, "adjtimex.freq_ppm_65536", discipline->freq);
	text_put_i64(text, "adjtimex.tick_us", discipline->tick_us);
}
