/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves each wire of a board, one after the other, and says what to do about
 * one that does not hold.  Power and card are moved; the card is written when
 * there is an image.  On return the board is at rest.
 */
#ifndef SAMEBOARD_HARNESS_DOCTOR_H
#define SAMEBOARD_HARNESS_DOCTOR_H

#include "harness/lab.h"
#include "harness/manifest.h"

enum doctor_verdict {
	DOCTOR_VERDICT_OK,
	DOCTOR_VERDICT_WARNING, /* works, and may not one day */
	DOCTOR_VERDICT_FAIL,
	DOCTOR_VERDICT_SKIPPED, /* could not be tried */
};

struct doctor_check {
	const char *id; /* "console-port", "relay", ... */
	enum doctor_verdict verdict;
	char evidence[256]; /* what was seen, with numbers and units */
	char advice[320];   /* what to do; "" where nothing is */
};

#define DOCTOR_CHECKS_MAX 16

struct doctor {
	struct doctor_check checks[DOCTOR_CHECKS_MAX];
	size_t count;
	/* Told each check as it is made; NULL: nobody. */
	void (*tell)(void *context, const struct doctor_check *check);
	void *context;
};

/*
 * All checks, in order; after one that fails, those that need it are skipped.
 * manifest may be NULL: then nothing is written to the card and no agent
 * answers.  True when none failed.
 */
bool doctor_examine(
	struct doctor *doctor, const struct lab_board *config, const struct manifest *manifest);

/* "ok", "warning", "fail", "skipped". */
const char *doctor_verdict_name(enum doctor_verdict verdict);

#endif
