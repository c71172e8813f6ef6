/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run: power-on to power-off of one system on one board, as one explicit
 * state machine with a deadline for each state.  A card that was just written
 * may want boots before it that are not measured.  What was measured is stored
 * window by window; gates and verdict close the run.  On return the board is
 * off (or its error says that it could not be).
 */
#ifndef SAMEBOARD_HARNESS_RUN_H
#define SAMEBOARD_HARNESS_RUN_H

#include "db/store.h"
#include "harness/board.h"
#include "harness/manifest.h"
#include "harness/plan.h"

struct run_request {
	struct store *store;
	int64_t job_id;
	struct board *board; /* opened */
	const struct suite *suite;
	const struct plan *plan;
	const struct manifest *manifest;
	unsigned boot;
	uint64_t seed;
	bool write_card; /* false: the card holds this image already, verified in this job */
	const char *card_sha256; /* then: as it was read back */
	bool is_boot_only; /* it ends when the agent has announced itself: nothing is measured */
	struct link_tap watch; /* sees the console too; see NULL: nobody */
};

struct run_result {
	int64_t run_id; /* 0: the store could not even begin it */
	enum verdict verdict;
	char reason[512];
	char card_sha256[SHA256_HEX_SIZE]; /* "" if the card was not verified */
	bool is_card_dirty;		   /* the system writes its card and was not shut down */
	uint64_t hello_ms;		   /* from power-on to the agent; 0: it did not come */
	bool is_misconfigured;		   /* skipped: image and card don't fit each other */
	bool is_store_failure;		   /* the lab failure is the database's, not the board's */
};

/*
 * Never fails as a call: whatever went wrong is in the result.  A verdict of
 * VERDICT_RUNNING means that the closing transaction could not be written; the
 * reason says why, and the store will show the run as interrupted.
 */
void run_execute(const struct run_request *request, struct run_result *result);

/* The program's exit code for it: 0 to 3 as in the README. */
int run_exit_code(const struct run_result *result);

#endif
