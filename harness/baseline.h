/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What runs are held against: runs that were given a name, or one run.
 *
 * Errors: 0 or a negative errno, with the text in baseline->error.
 */
#ifndef SAMEBOARD_HARNESS_BASELINE_H
#define SAMEBOARD_HARNESS_BASELINE_H

#include <stdbool.h>

#include "db/query.h"

struct baseline {
	const char *word; /* as asked for; NULL: none */
	bool is_named;
	int64_t *run_ids;
	size_t run_count; /* 0: none */
	char error[256];
};

/*
 * By its name, else as a run: an id, LAST or LAST~N.  word NULL: none, which is
 * no error.  -ENOENT: there is neither.  baseline_fini() in every case.
 */
int baseline_find(struct baseline *baseline, struct store *store, const char *word);
void baseline_fini(struct baseline *baseline);

/* A name that no run could be meant by: letters, digits and ._-, and not LAST. */
bool baseline_is_name(const char *word);

#endif
