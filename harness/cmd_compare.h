/* SPDX-License-Identifier: Apache-2.0 */
/* What `compare` and `run` print of finished runs. */
#ifndef SAMEBOARD_HARNESS_CMD_COMPARE_H
#define SAMEBOARD_HARNESS_CMD_COMPARE_H

#include <cjson/cJSON.h>

#include "db/store.h"
#include "harness/baseline.h"
#include "harness/cli.h"

/* What came of it, for who goes on from there. */
struct cmd_outcome {
	const char *error;	      /* of the job, for CI; NULL: none */
	const char *const *confirmed; /* suspects that showed before; NULL: there were none */
	char **suspects;	      /* names of rows, set here; free each and the list */
	size_t suspect_count;
	cJSON *json; /* the document, set here and not printed; delete it */
};

/*
 * Systems side by side and, with a baseline (may be NULL), the verdicts against
 * it.  `json`, which may be NULL, is printed with both in it where JSON is
 * wanted, and deleted; with an `outcome`, which may be NULL, it is left there
 * instead.  An exit code.
 */
int cmd_compare_print(struct cli *cli, struct store *store, const int64_t *ids, size_t count,
	const struct baseline *baseline, struct cmd_outcome *outcome, cJSON *json);

/* Whether this row was a suspect there. */
bool cmd_compare_is_suspect(const struct cmd_outcome *outcome, const char *row);

/*
 * Both jobs in one document: the second's, which is taken from it, becomes "retry"
 * in the first's, with what became of the first one's suspects.
 */
void cmd_compare_join(struct cmd_outcome *first, struct cmd_outcome *second);

/* The files for a CI system of a job that has no runs.  An exit code. */
int cmd_compare_write_failure(struct cli *cli, const char *suite, const char *error);

/*
 * Runs one by one, or those of --job or of the last one: how many, or a negative
 * exit code that was explained.  The caller frees *ids; `set` names them, "job 3".
 */
int cmd_compare_find_runs(struct cli *cli, struct store *store, const char *const *words,
	size_t word_count, int64_t **ids, char *set, size_t set_size);

#endif
