/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden runs: one system measured first and last in a night, on the same
 * board.  Where the two differ the lab was not the same all night, and no
 * number of that night is compared: its runs are marked invalid, with the reason,
 * and stay stored.  Two golden runs are alike when the median of every row is
 * within what a comparison calls no change: 5 % or two counts.
 *
 * No numbers are proven where a golden run is missing or not valid either.  An
 * emulated board has no speed of its own, so there nothing is judged.
 */
#ifndef SAMEBOARD_HARNESS_GOLDEN_H
#define SAMEBOARD_HARNESS_GOLDEN_H

#include "db/query.h"

enum golden_verdict {
	GOLDEN_ALIKE,
	GOLDEN_NOT_JUDGED, /* emulated */
	GOLDEN_VOID,
};

struct golden {
	enum golden_verdict verdict;
	char reason[400]; /* for people */
};

/*
 * Of the first and the last golden run; id 0: there was none.  0 or a negative
 * errno with store_error().
 */
int golden_judge(struct golden *golden, struct store *store, int64_t first_id, int64_t last_id);

#endif
