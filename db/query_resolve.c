/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/handle.h"
#include "db/query.h"

struct table {
	const char *noun;
	const char *count, *newest, *nth, *by_id; /* SQL */
};

static const struct table run_table = {
	.noun = "run",
	.count = "SELECT count(*) FROM runs",
	.newest = "SELECT max(id) FROM runs",
	.nth = "SELECT id FROM runs ORDER BY started_ms DESC, id DESC LIMIT 1 OFFSET ?",
	.by_id = "SELECT id FROM runs WHERE id = ?",
};

static const struct table job_table = {
	.noun = "job",
	.count = "SELECT count(*) FROM jobs",
	.newest = "SELECT max(id) FROM jobs",
	.nth = "SELECT id FROM jobs ORDER BY started_ms DESC, id DESC LIMIT 1 OFFSET ?",
	.by_id = "SELECT id FROM jobs WHERE id = ?",
};

/* Decimal digits only, to the end. */
static bool parse_number(const char *text, int64_t *value)
{
	size_t digits = strspn(text, "0123456789");

	*value = 0;
	if (!digits || digits > 18 || text[digits])
		return false;
	*value = strtoll(text, NULL, 10);
	return true;
}

static int resolve(struct store *store, const struct table *table, const char *word, int64_t *id)
{
	int64_t number = 0, count, newest;
	bool by_age;
	int result = handle_check(store, false);

	*id = 0;
	if (result)
		return result;
	by_age = !strncmp(word, "LAST", 4);
	if (by_age ? word[4] && (word[4] != '~' || !parse_number(word + 5, &number))
		   : !parse_number(word, &number))
		return handle_fail(store, -EINVAL,
			"\"%s\" names no %s; expected LAST, LAST~N or a number", word, table->noun);
	result = handle_get_integer(store, id, by_age ? table->nth : table->by_id, "i", number);
	if (result != -ENOENT)
		return result;
	result = handle_get_integer(store, &count, table->count, "");
	if (!result)
		result = handle_get_integer(store, &newest, table->newest, "");
	if (result)
		return result;
	if (!count)
		return handle_fail(
			store, -ENOENT, "there are no %ss in %s yet", table->noun, store->path);
	return handle_fail(store, -ENOENT,
		"there is no %s %s in %s; it has %lld, the newest is %lld", table->noun, word,
		store->path, (long long)count, (long long)newest);
}

int query_resolve_run(struct store *store, const char *word, int64_t *run_id)
{
	return resolve(store, &run_table, word, run_id);
}

int query_resolve_job(struct store *store, const char *word, int64_t *job_id)
{
	return resolve(store, &job_table, word, job_id);
}
