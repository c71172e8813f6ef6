/* SPDX-License-Identifier: Apache-2.0 */
#include "db/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "db/handle.h"
#include "db/schema.h"

#define PATIENCE_MS 10000

static bool is_memory(const char *path)
{
	return !strcmp(path, ":memory:");
}

/* SQLite's own words for these say little. */
static int check_path(struct store *store, unsigned flags)
{
	struct stat info;

	if (is_memory(store->path))
		return 0;
	if (!store->path[0])
		return handle_fail(store, -EINVAL, "the path of the database is empty");
	if (!stat(store->path, &info)) {
		if (S_ISDIR(info.st_mode))
			return handle_fail(store, -EISDIR,
				"cannot open database %s: it is a directory; name a file in it",
				store->path);
		return 0;
	}
	if (errno != ENOENT)
		return handle_fail(
			store, -errno, "cannot open database %s: %s", store->path, strerror(errno));
	if (flags & (STORE_READ_ONLY | STORE_NO_CREATE))
		return handle_fail(store, -ENOENT,
			"there is no database %s yet; the first run makes one", store->path);
	return 0;
}

/* A file: URI of the path with everything but plain letters escaped. */
static char *make_uri(const char *path, const char *query)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789/._-";
	size_t room = strlen(path) * 3 + strlen(query) + 16;
	char *uri = malloc(room);
	size_t at;

	if (!uri)
		return NULL;
	at = (size_t)snprintf(uri, room, "file:");
	for (const char *c = path; *c; c++) {
		bool as_is = strchr(plain, *c) != NULL;

		at += (size_t)snprintf(uri + at, room - at, as_is ? "%c" : "%%%02X",
			as_is ? *c : (unsigned char)*c);
	}
	snprintf(uri + at, room - at, "%s", query);
	return uri;
}

/* Files come from other people too: https://sqlite.org/security.html */
static void distrust_file(sqlite3 *db)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, (int)(2 * STORE_SERIES_MAX));
}

static int open_connection(struct store *store, unsigned flags, const char *query)
{
	int mode = flags & STORE_READ_ONLY ? SQLITE_OPEN_READONLY
					   : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
	char *uri = is_memory(store->path) ? strdup(store->path) : make_uri(store->path, query);
	int result;

	if (!uri)
		return handle_fail(store, -ENOMEM, "out of memory");
	result = sqlite3_open_v2(
		uri, &store->db, mode | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
	free(uri);
	if (!store->db)
		return handle_fail(store, -ENOMEM, "out of memory");
	if (result != SQLITE_OK) {
		int error = sqlite3_system_errno(store->db);

		return handle_fail(store, error ? -error : -EIO, "cannot open database %s: %s",
			store->path, error ? strerror(error) : sqlite3_errmsg(store->db));
	}
	if (!(flags & STORE_READ_ONLY) && sqlite3_db_readonly(store->db, "main") == 1)
		return handle_fail(store, -EROFS,
			"%s is read-only for this user; give write permission or name another file",
			store->path);
	distrust_file(store->db);
	/* Before anything else: even journal_mode wants the lock. */
	sqlite3_busy_timeout(store->db, PATIENCE_MS);
	return 0;
}

/* Reads the header; a reader that may not make the -shm file takes the file as it is. */
static int probe(struct store *store, unsigned flags)
{
	char wal[4096];
	int64_t version;
	int result = handle_get_integer(store, &version, "PRAGMA user_version", "");
	int error = sqlite3_errcode(store->db) & 0xff;

	if (!result || !(flags & STORE_READ_ONLY) ||
		(error != SQLITE_CANTOPEN && error != SQLITE_READONLY))
		return result;
	snprintf(wal, sizeof(wal), "%s-wal", store->path);
	if (!access(wal, F_OK))
		return result;
	sqlite3_close(store->db);
	store->db = NULL;
	return open_connection(store, flags, "?immutable=1");
}

/* All from one state of the file: another process may be making it. */
static int read_identity(struct store *store, int64_t *version, int64_t *application,
	int64_t *tables, int64_t *programs)
{
	int result = handle_run(store, "begin to read", "BEGIN", "");

	*application = *tables = *programs = 0;
	if (result)
		return result;
	result = handle_get_integer(store, version, "PRAGMA user_version", "");
	if (!result)
		result = handle_get_integer(store, application, "PRAGMA application_id", "");
	if (!result)
		result =
			handle_get_integer(store, tables, "SELECT count(*) FROM sqlite_master", "");
	if (!result)
		result = handle_get_integer(store, programs,
			"SELECT count(*) FROM sqlite_master WHERE type IN ('view', 'trigger')", "");
	handle_rollback(store);
	return result;
}

static int check_identity(struct store *store, int64_t *version)
{
	int64_t application, tables, programs;
	int result = read_identity(store, version, &application, &tables, &programs);

	if (result)
		return result;
	if (application != SCHEMA_APPLICATION_ID && (application || *version || tables))
		return handle_fail(store, -EPROTO,
			"%s is a database of another program; name another file", store->path);
	/* A view in a table's place could compute for ever. */
	if (programs)
		return handle_fail(store, -EPROTO,
			"%s has views or triggers, which sameboard never makes; name another file",
			store->path);
	if (*version > STORE_SCHEMA_VERSION)
		return handle_fail(store, -EPROTO,
			"%s was written by a newer sameboard (schema %lld, this one knows %d); "
			"update sameboard or name another file",
			store->path, (long long)*version, STORE_SCHEMA_VERSION);
	return 0;
}

static int migrate_step(struct store *store, int64_t step)
{
	char pragma[96];
	int64_t version;
	int result = handle_begin(store);

	if (result)
		return result;
	/* Another process may have done it while this one waited. */
	result = handle_get_integer(store, &version, "PRAGMA user_version", "");
	if (!result && version < step) {
		snprintf(pragma, sizeof(pragma),
			"PRAGMA application_id=%d; PRAGMA user_version=%lld", SCHEMA_APPLICATION_ID,
			(long long)step);
		if (sqlite3_exec(store->db, schema_step((int)step), NULL, NULL, NULL) ||
			sqlite3_exec(store->db, pragma, NULL, NULL, NULL))
			result = handle_sql_error(store, "migrate the schema");
	}
	if (!result)
		result = handle_commit(store);
	if (result)
		handle_rollback(store);
	return result;
}

static int migrate(struct store *store, int64_t version)
{
	int result = 0;

	if (store->is_read_only && version == 0)
		return handle_fail(
			store, -EPROTO, "%s is empty, no sameboard database", store->path);
	if (store->is_read_only && version < STORE_SCHEMA_VERSION)
		return handle_fail(store, -EROFS,
			"%s is of an older sameboard (schema %lld, now %d) and opened read-only; a "
			"command that writes brings it up to date",
			store->path, (long long)version, STORE_SCHEMA_VERSION);
	for (int64_t step = version + 1; !result && step <= STORE_SCHEMA_VERSION; step++)
		result = migrate_step(store, step);
	return result;
}

/* SQLite does not wait here when two processes switch a new file at once. */
static int switch_to_wal(struct store *store)
{
	const int pause_ms = 5;
	int result;

	for (int waited_ms = 0; waited_ms < PATIENCE_MS; waited_ms += pause_ms) {
		result = sqlite3_exec(store->db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
		if (result == SQLITE_OK)
			return 0;
		if (result != SQLITE_BUSY)
			break;
		sqlite3_sleep(pause_ms);
	}
	return handle_sql_error(store, "switch to write-ahead logging");
}

static int set_up(struct store *store, unsigned flags)
{
	int64_t version;
	int result = check_path(store, flags);

	if (!result)
		result = open_connection(store, flags, "");
	if (!result)
		result = probe(store, flags);
	if (!result)
		result = check_identity(store, &version);
	if (result)
		return result;
	if (sqlite3_exec(store->db,
		    "PRAGMA foreign_keys=ON; PRAGMA synchronous=FULL; PRAGMA cell_size_check=ON",
		    NULL, NULL, NULL))
		return handle_sql_error(store, "set up the connection");
	if (!store->is_read_only) {
		result = switch_to_wal(store);
		if (result)
			return result;
	}
	return migrate(store, version);
}

int store_open(struct store **opened, const char *path, unsigned flags)
{
	struct store *store = calloc(1, sizeof(*store));
	int result;

	*opened = store;
	if (!store)
		return -ENOMEM;
	store->is_read_only = (flags & STORE_READ_ONLY) != 0;
	store->path = strdup(path ? path : "");
	if (!store->path)
		return handle_fail(store, -ENOMEM, "out of memory");
	result = set_up(store, flags);
	if (result) {
		sqlite3_close(store->db);
		store->db = NULL;
	}
	return result;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	if (store->db) {
		handle_rollback(store);
		sqlite3_close(store->db);
	}
	free(store->path);
	free(store);
}

const char *store_error(const struct store *store)
{
	return store ? store->error : "out of memory";
}

const char *store_path(const struct store *store)
{
	return store && store->path ? store->path : "";
}

int store_set_patience(struct store *store, unsigned timeout_ms)
{
	int result = handle_check(store, false);

	if (!result)
		sqlite3_busy_timeout(store->db, (int)timeout_ms);
	return result;
}

int64_t store_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int store_set_import(struct store *store, const struct store_import *import)
{
	int result = handle_check(store, true);

	if (result)
		return result;
	if (!import->name || !import->results)
		return handle_fail(store, -EINVAL, "an import needs a name and results");
	return handle_run(store, "store an import",
		"INSERT OR REPLACE INTO imports(name, format, results, source_name, source_sha256, "
		"imported_ms) VALUES(?, ?, ?, ?, ?, ?)",
		"ttttti", import->name, import->format, import->results, import->source_name,
		import->source_sha256, import->imported_ms);
}

int store_set_baseline(struct store *store, const char *name, const char *note,
	const int64_t *run_ids, size_t run_count, int64_t now_ms)
{
	int64_t id;
	int result = handle_check(store, true);

	if (result)
		return result;
	if (!name || !name[0] || store->window_id)
		return handle_fail(store, -EINVAL, "a baseline needs a name and no open window");
	result = handle_begin(store);
	if (!result)
		result = handle_run(store, "replace a baseline",
			"DELETE FROM baselines WHERE name = ?", "t", name);
	if (!result)
		result = handle_run(store, "add a baseline",
			"INSERT INTO baselines(name, note, created_ms) VALUES(?, ?, ?)", "tti",
			name, note, now_ms);
	id = sqlite3_last_insert_rowid(store->db);
	for (size_t i = 0; !result && i < run_count; i++)
		result = handle_run(store, "add a run to a baseline",
			"INSERT INTO baseline_runs(baseline_id, run_id) VALUES(?, ?)", "ii", id,
			run_ids[i]);
	if (!result)
		result = handle_commit(store);
	if (result)
		handle_rollback(store);
	return result;
}
