/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs held against a baseline: the same board, suite and system before and
 * after.  Valid runs of either side are the replicates; which rows are primary
 * is what the suite of the later runs says.  Values are in microseconds and of
 * one operation.
 *
 * Errors: 0 or a negative errno; -EINVAL where the sides do not belong
 * together, with the text in change->error, which also has the store's.
 * change_fini() in every case.
 */
#ifndef SAMEBOARD_HARNESS_CHANGE_H
#define SAMEBOARD_HARNESS_CHANGE_H

#include <cjson/cJSON.h>

#include "db/query.h"
#include "harness/judge.h"

struct change_row {
	char name[112]; /* "wake.idle aligned p99" */
	const char *system;
	double *values; /* before, then after: borrowed by judge */
};

struct change {
	char baseline[80]; /* as asked for */
	struct change_row *rows;
	struct judge_row *judged; /* of the same index */
	size_t row_count;
	size_t before_runs, after_runs; /* valid ones */
	size_t regressions, suspects;
	size_t missing; /* rows that the baseline has and the runs do not */
	char **systems; /* of the later runs */
	size_t system_count;
	char **not_judged; /* those that only the baseline has */
	size_t not_judged_count;
	char error[320];
};

int change_init(struct change *change, struct store *store, const char *baseline,
	const int64_t *before, size_t before_count, const int64_t *after, size_t after_count);
void change_fini(struct change *change);

/* For people; free() it.  NULL without memory. */
char *change_to_text(const struct change *change);
cJSON *change_to_json(const struct change *change);

#endif
