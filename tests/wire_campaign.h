/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seeded whole sessions over a bad line in simulated time, against the real
 * agent core: hello, session, ARM, GO, DONE, pull, RELEASE.  What comes must be
 * what the target has, or it must be called a failure; and it must end.
 */
#ifndef TESTS_WIRE_CAMPAIGN_H
#define TESTS_WIRE_CAMPAIGN_H

#include <stdbool.h>
#include <stdint.h>

enum wire_campaign_end {
	WIRE_CAMPAIGN_WHOLE,  /* the data are the target's */
	WIRE_CAMPAIGN_FAILED, /* an error was given */
	WIRE_CAMPAIGN_SILENT, /* other data without an error: never */
	WIRE_CAMPAIGN_HUNG,   /* longer than an hour of the line's time: never */
	WIRE_CAMPAIGN_ENDS,
};

struct wire_campaign_result {
	enum wire_campaign_end end;
	int error;	 /* that was given */
	char what[1400]; /* the faults and the error, for people */
	uint32_t n;	 /* samples */
	uint32_t retries;
	uint32_t resumed; /* pulls that were taken up again */
	uint32_t resets;
	bool is_raised; /* the line was to be raised for the pull */
	bool is_killed; /* the host died after DONE, and another went on */
	uint64_t simulated_ms;
};

/* One session; everything follows from the seed. */
void wire_campaign_run(uint64_t seed, struct wire_campaign_result *result);

/* "whole", ... */
const char *wire_campaign_end_name(enum wire_campaign_end end);

#endif
