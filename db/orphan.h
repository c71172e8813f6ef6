/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that nobody works on any more: begun, not closed, and the process of
 * their job is gone.  Errors, texts and threads as in db/store.h.
 */
#ifndef SAMEBOARD_DB_ORPHAN_H
#define SAMEBOARD_DB_ORPHAN_H

#include "db/store.h"

struct orphan_run {
	int64_t id, job_id;
	const char *system;
	const char *suite, *suite_json; /* of the job; "" if it has none */
	const char *counter_hz;		/* of the fact of that name, "" if none */
	int64_t session;		/* nonce; 0: the agent had none yet */
	int64_t console_bytes;		/* stored so far */
	int64_t started_ms;
};

/* Of this board, newest first; the caller frees the list.  The number, or an error. */
int orphan_find_runs(struct store *store, const char *board, struct orphan_run **runs);

/* Whether this window of the run is committed: 1, 0 or an error. */
int orphan_has_window(struct store *store, int64_t run_id, unsigned number);

#endif
