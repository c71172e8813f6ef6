/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/baseline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool baseline_is_name(const char *word)
{
	size_t size =
		strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-");

	return size > 0 && size <= 64 && word[size] == '\0' &&
	       word[strspn(word, "0123456789")] != '\0' && strcmp(word, "LAST") != 0;
}

static int take_named(struct baseline *baseline, const struct query_baseline *rows, int count)
{
	baseline->run_ids = calloc((size_t)count + 1, sizeof(*baseline->run_ids));
	if (!baseline->run_ids)
		return -ENOMEM;
	for (int i = 0; i < count; i++)
		if (strcmp(rows[i].name, baseline->word) == 0)
			baseline->run_ids[baseline->run_count++] = rows[i].run_id;
	baseline->is_named = baseline->run_count > 0;
	return 0;
}

int baseline_find(struct baseline *baseline, struct store *store, const char *word)
{
	struct query_baseline *rows = NULL;
	int rc;

	*baseline = (struct baseline){.word = word};
	if (!word)
		return 0;
	rc = query_baselines(store, &rows);
	if (rc >= 0)
		rc = take_named(baseline, rows, rc);
	free(rows);
	if (rc == 0 && !baseline->is_named && baseline_is_name(word)) {
		snprintf(baseline->error, sizeof(baseline->error),
			"no baseline \"%s\"; `sameboard baseline` lists those there are", word);
		return -ENOENT;
	}
	if (rc == 0 && !baseline->is_named) {
		rc = query_resolve_run(store, word, &baseline->run_ids[0]);
		baseline->run_count = rc == 0;
	}
	if (rc != 0)
		snprintf(baseline->error, sizeof(baseline->error), "%s",
			rc == -ENOMEM ? "out of memory" : store_error(store));
	return rc;
}

void baseline_fini(struct baseline *baseline)
{
	free(baseline->run_ids);
	baseline->run_ids = NULL;
	baseline->run_count = 0;
}
