/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/blob.h"
#include "db/handle.h"
#include "db/mark.h"

/* 0 if this run is open and has no window of this number. */
static int check_window(struct store *store, int64_t run_id, unsigned number)
{
	int64_t value;
	int result;

	result = handle_get_integer(
		store, &value, "SELECT verdict IS NOT NULL FROM runs WHERE id = ?", "i", run_id);
	if (result == -ENOENT)
		return handle_fail(store, -ENOENT, "there is no run %lld in %s", (long long)run_id,
			store->path);
	if (result)
		return result;
	if (value)
		return handle_fail(store, -EINVAL, "run %lld is closed; it takes no more windows",
			(long long)run_id);
	result = handle_get_integer(store, &value,
		"SELECT id FROM windows WHERE run_id = ? AND number = ?", "ii", run_id,
		(int64_t)number);
	if (!result)
		return handle_fail(store, -EEXIST, "window %u of run %lld is stored already",
			number, (long long)run_id);
	return result == -ENOENT ? 0 : result;
}

int store_begin_window(struct store *store, int64_t run_id, const struct store_window *window)
{
	int result = handle_check(store, true);

	if (result)
		return result;
	if (store->window_id)
		return handle_fail(store, -EINVAL, "a window is open already");
	if (!window->name || window->number < 1 || window->number > 65535)
		return handle_fail(
			store, -EINVAL, "a window needs a name and a number from 1 to 65535");
	result = handle_begin(store);
	if (!result)
		result = check_window(store, run_id, window->number);
	if (!result)
		result = handle_run(store, "add a window",
			"INSERT INTO windows(run_id, number, bench, name, load, phase, n, "
			"period_us, settle_ms, duration_ms, seed, started_ms, ended_ms) "
			"VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			"iiitttiiiiiii", run_id, (int64_t)window->number, (int64_t)window->bench,
			window->name, window->load, window->phase, (int64_t)window->n,
			(int64_t)window->period_us, (int64_t)window->settle_ms,
			(int64_t)window->duration_ms, (int64_t)window->seed, window->started_ms,
			window->ended_ms);
	if (result) {
		handle_rollback(store);
		return result;
	}
	store->run_id = run_id;
	store->window_id = sqlite3_last_insert_rowid(store->db);
	return 0;
}

static int no_window(struct store *store)
{
	return handle_fail(store, -EINVAL, "no window is open");
}

/* The samples as they are stored; *words is the caller's. */
static int copy_words(const struct store_series *series, void **words, size_t *size)
{
	size_t element = mark_element_size(series->kind);

	*words = NULL;
	*size = 0;
	if (!element || (series->count && !series->data))
		return -EINVAL;
	if (series->count > (size_t)STORE_SERIES_MAX / element)
		return -EFBIG;
	*words = malloc(series->count * element + 1);
	if (!*words)
		return -ENOMEM;
	*size = series->count * element;
	if (*size)
		memcpy(*words, series->data, *size);
	mark_swap(*words, series->count, element);
	return 0;
}

int store_add_series(struct store *store, const struct store_series *series)
{
	void *words = NULL, *packed = NULL;
	size_t size, packed_size;
	int result = handle_check(store, true);

	if (result)
		return result;
	if (!store->window_id)
		return no_window(store);
	result = copy_words(series, &words, &size);
	if (!result)
		result = blob_pack(words, size, &packed, &packed_size);
	if (result) {
		handle_fail(store, result, "series %s: %s", series->name ? series->name : "?",
			result == -ENOMEM  ? "out of memory"
			: result == -EFBIG ? "more than 256 MiB of samples"
					   : "no such kind, or no data");
		goto out;
	}
	result = handle_run(store, "add a series",
		"INSERT INTO series(window_id, number, name, kind, encoding, count, clipped, "
		"crc32c, data) VALUES(?, ?, ?, ?, 0, ?, ?, ?, ?)",
		"iitiiiib", store->window_id, (int64_t)series->id, series->name,
		(int64_t)series->kind, (int64_t)series->count, (int64_t)series->clipped,
		(int64_t)blob_crc32c(words, size), packed, packed_size);
out:
	free(words);
	free(packed);
	if (result)
		handle_rollback(store);
	return result;
}

static int find_series(struct store *store, const char *name, int64_t *id)
{
	int result;

	*id = 0;
	if (!name)
		return 0;
	result = handle_get_integer(store, id,
		"SELECT id FROM series WHERE window_id = ? AND name = ?", "it", store->window_id,
		name);
	return result == -ENOENT ? handle_fail(store, result,
					   "the open window has no series %s (add it first)", name)
				 : result;
}

int store_add_metric(struct store *store, int64_t run_id, const struct store_metric *metric)
{
	bool in_window = store && handle_in_window(store, run_id);
	int64_t series = 0;
	int result = handle_check(store, true);

	if (result)
		return result;
	if (metric->series && !in_window)
		return no_window(store);
	result = find_series(store, metric->series, &series);
	if (!result)
		result = handle_run(store, "add a metric",
			"INSERT INTO metrics(run_id, window_id, series_id, name, value, unit) "
			"VALUES(?, nullif(?, 0), nullif(?, 0), ?, ?, ?)",
			"iiitdt", run_id, in_window ? store->window_id : (int64_t)0, series,
			metric->name, metric->value, metric->unit ? metric->unit : "");
	if (result && store->window_id)
		handle_rollback(store);
	return result;
}

int store_commit_window(struct store *store)
{
	int result = handle_check(store, true);

	if (result)
		return result;
	if (!store->window_id)
		return no_window(store);
	result = handle_commit(store);
	if (result)
		handle_rollback(store);
	store->run_id = 0;
	store->window_id = 0;
	return result;
}

void store_abort_window(struct store *store)
{
	if (store && store->db && store->window_id)
		handle_rollback(store);
}
