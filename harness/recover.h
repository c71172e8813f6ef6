/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is left of a job whose process is gone: a board that may be powered,
 * and perhaps a window that was measured and not yet fetched.
 */
#ifndef SAMEBOARD_HARNESS_RECOVER_H
#define SAMEBOARD_HARNESS_RECOVER_H

#include "db/store.h"
#include "harness/board.h"

struct recover_report {
	unsigned runs;	  /* closed as interrupted */
	unsigned windows; /* pulled and stored */
	char text[512];	  /* what was found and done, or why it failed */
};

/*
 * Of an open board: if a run was left open and the board is powered and its
 * agent answers with that run's nonce within 10 s, a window that is done and
 * not stored is pulled; then the rest state, in every case; then the runs are
 * closed as interrupted.  Nothing moves if no run was left open.  `watch` sees
 * the console (may be NULL).
 *
 * 0, or a negative errno with the reason in report->text: the board may then
 * be powered, or the store could not be written; the runs stay open, and the
 * next call tries again.
 */
int recover_board(struct store *store, struct board *board, const struct link_tap *watch,
	struct recover_report *report);

#endif
