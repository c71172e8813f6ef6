/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The EXACT rule, for runs in repeatable time: a handoff costs a number of
 * instructions, and any change of its median after warm-up is a regression.
 * One boot is enough.  (Counts of the clock are useless there: 65 and 72
 * instructions are both 0 or 1 of them.)
 *
 * Errors: 0 or a negative errno; -EINVAL when the runs cannot be compared so,
 * with the text in exact->error, which also has the store's.  One thread.
 */
#ifndef SAMEBOARD_HARNESS_EXACT_H
#define SAMEBOARD_HARNESS_EXACT_H

#include <cjson/cJSON.h>

#include "db/query.h"

struct exact_row {
	int64_t run_id;
	char name[96];	      /* "irq.split aligned" */
	double before, after; /* medians, in instructions; after NaN: the run has no such row */
	double n;
};

struct exact {
	int64_t baseline_id;
	struct exact_row *rows;
	size_t row_count;
	size_t changed; /* rows that are not equal */
	char error[256];
};

/* Each of the runs against the baseline, row by row of the baseline.  exact_fini() always. */
int exact_init(struct exact *exact, struct store *store, int64_t baseline_id,
	const int64_t *run_ids, size_t count);
void exact_fini(struct exact *exact);

/* For people; free() it.  NULL without memory. */
char *exact_to_text(const struct exact *exact);
cJSON *exact_to_json(const struct exact *exact);

#endif
