/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recorded peer answers from: the boot dialogue of a real run on the
 * virtual panel (tests/data/dialogue.txt) and measured latencies
 * (tests/data/latency).  Read once, then only looked at, by any thread.
 * Whatever cannot be read fails the test.
 */
#ifndef TESTS_RECORDING_H
#define TESTS_RECORDING_H

#include <stddef.h>
#include <stdint.h>

#define RECORDING_DIALOGUE    "tests/data/dialogue.txt"
#define RECORDING_ANSWERS_MAX 16
#define RECORDING_KEY	      "(key)"

struct recording_answer {
	char *typed; /* "": power-on */
	char *said;  /* as it came over the line */
};

struct recording {
	struct recording_answer answers[RECORDING_ANSWERS_MAX];
	size_t answer_count;
	int32_t *values; /* latencies in ns, of all files in order of their names */
	size_t value_count;
};

void recording_open(struct recording *recording);
void recording_close(struct recording *recording);

/* What came after this had been typed; NULL: it was never typed. */
const char *recording_find(const struct recording *recording, const char *typed);

/* Sample `at` of a board's window with this seed: no two boards have the same series. */
int32_t recording_value(
	const struct recording *recording, unsigned board, uint32_t seed, uint32_t at);

#endif
