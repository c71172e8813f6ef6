/* SPDX-License-Identifier: Apache-2.0 */
/* What `compare` and `run` print of finished runs. */
#ifndef SAMEBOARD_HARNESS_CMD_COMPARE_H
#define SAMEBOARD_HARNESS_CMD_COMPARE_H

#include <cjson/cJSON.h>

#include "db/store.h"
#include "harness/baseline.h"
#include "harness/cli.h"

/*
 * Systems side by side and, with a baseline (may be NULL), the verdicts against
 * it.  `json`, which may be NULL, is printed with both in it where JSON is
 * wanted, and deleted.  An exit code.
 */
int cmd_compare_print(struct cli *cli, struct store *store, const int64_t *ids, size_t count,
	const struct baseline *baseline, cJSON *json);

/*
 * Runs one by one, or those of --job or of the last one: how many, or a negative
 * exit code that was explained.  The caller frees *ids; `set` names them, "job 3".
 */
int cmd_compare_find_runs(struct cli *cli, struct store *store, const char *const *words,
	size_t word_count, int64_t **ids, char *set, size_t set_size);

#endif
