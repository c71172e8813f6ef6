/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/store_fixture.h"

#include <check.h>
#include <sqlite3.h>
#include <stdlib.h>

struct store *fixture_open(const char *path)
{
	struct store *store;
	int result = store_open(&store, path, 0);

	ck_assert_msg(result == 0, "store_open: %d %s", result, store_error(store));
	return store;
}

int64_t fixture_job(struct store *store, const char *suite)
{
	const struct store_job job = {.command = "run test",
		.suite = suite,
		.suite_json = "{}",
		.plan = "plan",
		.version = "0.1.0",
		.started_ms = FIXTURE_T0};
	int64_t id;
	int result = store_begin_job(store, &job, &id);

	ck_assert_msg(result == 0, "%s", store_error(store));
	return id;
}

int64_t fixture_run(struct store *store, int64_t job, const char *system, int64_t at_ms)
{
	const struct store_run run = {.job_id = job,
		.board = "panel1",
		.model = "lichee-rv-86-panel",
		.system = system,
		.image_version = "1.0",
		.image_file = "test.img",
		.image_sha256 = "00ff",
		.image_manifest = "{\"system\": \"test\"}",
		.boot = 1,
		.seed = UINT64_MAX,
		.session = 0xfedcba98,
		.started_ms = FIXTURE_T0 + at_ms};
	int64_t id;
	int result = store_begin_run(store, &run, &id);

	ck_assert_msg(result == 0, "%s", store_error(store));
	ck_assert_int_ge(id, 1);
	return id;
}

struct store_window fixture_window(unsigned number)
{
	return (struct store_window){.number = number,
		.bench = 1,
		.name = "wake.idle",
		.load = "idle",
		.phase = "arbitrary",
		.n = 4,
		.period_us = 1000,
		.settle_ms = 200,
		.duration_ms = 7,
		.seed = UINT32_MAX,
		.started_ms = FIXTURE_T0 + 100,
		.ended_ms = FIXTURE_T0 + 200};
}

static int32_t value_at(unsigned number, size_t i)
{
	return (int32_t)((uint32_t)i * 2654435761u ^ number);
}

int fixture_store_window(struct store *store, int64_t run, unsigned number, size_t count)
{
	const struct store_window window = fixture_window(number);
	int32_t *values = malloc((count + 1) * sizeof(*values));
	struct store_series series = {.id = 1,
		.name = "latency",
		.kind = STORE_SERIES_COUNTS,
		.data = values,
		.count = count};
	int result;

	ck_assert_ptr_nonnull(values);
	for (size_t i = 0; i < count; i++)
		values[i] = value_at(number, i);
	result = store_begin_window(store, run, &window);
	if (!result)
		result = store_add_series(store, &series);
	if (!result)
		result = store_commit_window(store);
	free(values);
	return result;
}

void fixture_check_window(struct store *store, int64_t run, unsigned number, size_t count)
{
	struct query_window *windows;
	int found = query_windows(store, run, &windows);
	int64_t id = 0;
	int32_t *values;
	size_t got;

	ck_assert_msg(found >= 0, "%s", store_error(store));
	for (int i = 0; i < found; i++) {
		if (windows[i].number == number)
			id = windows[i].id;
	}
	free(windows);
	ck_assert_msg(id != 0, "window %u is lost", number);
	ck_assert_msg(query_samples_named(store, id, "latency", STORE_SERIES_COUNTS,
			      (void **)&values, &got) == 0,
		"%s", store_error(store));
	ck_assert_uint_eq(got, count);
	for (size_t i = 0; i < count; i++)
		ck_assert_int_eq(values[i], value_at(number, i));
	free(values);
}

void fixture_sql(const char *path, const char *sql)
{
	char *error = NULL;
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &error) == SQLITE_OK, "%s", error);
	ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
}

int64_t fixture_get(const char *path, const char *sql)
{
	sqlite3_stmt *stmt;
	sqlite3 *db;
	int64_t value;

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK, "%s",
		sqlite3_errmsg(db));
	ck_assert_int_eq(sqlite3_step(stmt), SQLITE_ROW);
	value = sqlite3_column_int64(stmt, 0);
	ck_assert_int_eq(sqlite3_finalize(stmt), SQLITE_OK);
	ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
	return value;
}
