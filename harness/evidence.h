/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What gates are judged by, as JSON: stored with each run, so that a stranger
 * can judge again.  What the samples themselves say is not taken from here when
 * it is read back (harness/verify.h).
 */
#ifndef SAMEBOARD_HARNESS_EVIDENCE_H
#define SAMEBOARD_HARNESS_EVIDENCE_H

#include <cjson/cJSON.h>

#include "harness/gates.h"

/* A text, which the caller frees; NULL without memory. */
char *evidence_write_run(const struct gate_run *run);
char *evidence_write_window(const struct gate_window *window);

/* Strings are those of the JSON and live as long.  -EINVAL where it is none. */
int evidence_read_run(const cJSON *json, struct gate_run *run);
int evidence_read_window(const cJSON *json, struct gate_window *window);

/*
 * How many samples a window has, by its series: of a count that was asked for
 * the shortest measured series; where time decides, any of them may stay empty
 * but not all, so the longest; of an audit the stamps.
 */
struct evidence_tally {
	uint32_t asked;
	uint32_t shortest, longest, stamps; /* 0 to begin with */
	bool has_samples;
};

void evidence_tally_add(
	struct evidence_tally *tally, unsigned kind, const char *series, uint32_t count);
uint32_t evidence_tally_end(const struct evidence_tally *tally);

#endif
