/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/against.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli.h"

/* Where time repeats, one run tells; everywhere else it takes many. */
static bool is_exact(struct store *store, const struct baseline *baseline)
{
	struct query_fact *facts = NULL;
	int count = query_facts(store, baseline->run_ids[0], &facts);
	bool is_icount =
		count > 0 && strcmp(query_find_fact(facts, count, "time", "real"), "icount") == 0;

	free(facts);
	return is_icount || !baseline->is_named;
}

/* Runs that cannot be compared so are wrong usage; a change is a failure. */
static int conclude(
	struct against *against, int rc, const char *what, const char *error, bool is_worse)
{
	against->exit_code = is_worse ? CLI_FAIL : CLI_PASS;
	if (rc != 0) {
		against->exit_code = rc == -EINVAL || rc == -ENOENT ? CLI_USAGE : CLI_LAB;
		snprintf(against->error, sizeof(against->error), "%s: %s", what, error);
	}
	return against->exit_code;
}

int against_init(struct against *against, struct store *store, const struct baseline *baseline,
	const int64_t *ids, size_t count)
{
	char what[96];
	int rc;

	*against = (struct against){0};
	if (!baseline || baseline->run_count == 0)
		return CLI_PASS;
	against->is_exact = is_exact(store, baseline);
	if (against->is_exact) {
		rc = exact_init(&against->exact, store, baseline->run_ids[0], ids, count);
		return conclude(against, rc, "EXACT rule", against->exact.error,
			against->exact.changed > 0);
	}
	rc = change_init(&against->change, store, baseline->word, baseline->run_ids,
		baseline->run_count, ids, count);
	snprintf(what, sizeof(what), "baseline %.64s", baseline->word);
	return conclude(against, rc, what, against->change.error,
		against->change.regressions > 0 || against->change.missing > 0);
}

void against_fini(struct against *against)
{
	exact_fini(&against->exact);
	change_fini(&against->change);
}

static bool is_judged(const struct against *against)
{
	return !against->error[0] && (against->is_exact ? against->exact.row_count > 0
							: against->change.baseline[0] != 0);
}

char *against_to_text(const struct against *against)
{
	if (!is_judged(against))
		return NULL;
	return against->is_exact ? exact_to_text(&against->exact)
				 : change_to_text(&against->change);
}

void against_add_json(const struct against *against, cJSON *json)
{
	if (!is_judged(against))
		return;
	if (against->is_exact)
		cJSON_AddItemToObject(json, "exact", exact_to_json(&against->exact));
	else
		cJSON_AddItemToObject(json, "change", change_to_json(&against->change));
}
