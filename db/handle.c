/* SPDX-License-Identifier: Apache-2.0 */
#include "db/handle.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

int handle_fail(struct store *store, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(store->error, sizeof(store->error), format, args);
	va_end(args);
	return code;
}

/* The errno behind a failed commit is known to the file alone: the log's or the main one's. */
static int find_errno(sqlite3 *db)
{
	sqlite3_file *journal = NULL;
	int error = sqlite3_system_errno(db);

	if (error)
		return error;
	if (!sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &journal) && journal &&
		journal->pMethods)
		journal->pMethods->xFileControl(journal, SQLITE_FCNTL_LAST_ERRNO, &error);
	if (!error)
		sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &error);
	return error;
}

static bool is_disk_full(sqlite3 *db, int result)
{
	int error = result == SQLITE_IOERR ? find_errno(db) : 0;

	return result == SQLITE_FULL || error == ENOSPC || error == EFBIG || error == EDQUOT;
}

int handle_sql_error(struct store *store, const char *tried)
{
	int result = sqlite3_errcode(store->db) & 0xff;
	const char *path = store->path;
	const char *text = sqlite3_errmsg(store->db);

	if (is_disk_full(store->db, result))
		return handle_fail(store, -ENOSPC,
			"cannot %s: the disk or quota of %s is full; free some space and run again",
			tried, path);
	switch (result) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return handle_fail(store, -EBUSY,
			"cannot %s: another process holds the write lock of %s; try again when it "
			"is done",
			tried, path);
	case SQLITE_READONLY:
		return handle_fail(store, -EROFS, "cannot %s: %s is read-only", tried, path);
	case SQLITE_NOTADB:
		return handle_fail(store, -EPROTO,
			"cannot %s: %s is not a database; name another file", tried, path);
	case SQLITE_CORRUPT:
		return handle_fail(store, -EBADMSG,
			"cannot %s: %s is damaged (%s); restore a copy, or rescue it with `sqlite3 "
			"FILE .recover`",
			tried, path, text);
	case SQLITE_CONSTRAINT:
		return handle_fail(store, -EINVAL, "cannot %s in %s: %s", tried, path, text);
	case SQLITE_NOMEM:
		return handle_fail(store, -ENOMEM, "cannot %s: out of memory", tried);
	case SQLITE_TOOBIG:
		return handle_fail(store, -EFBIG, "cannot %s in %s: %s", tried, path, text);
	default:
		return handle_fail(store, -EIO, "cannot %s in %s: %s (%s)", tried, path, text,
			strerror(find_errno(store->db)));
	}
}

int handle_check(struct store *store, bool writing)
{
	if (!store)
		return -ENOMEM;
	if (!store->db)
		return -EINVAL; /* the text of store_open() stays */
	store->error[0] = '\0';
	if (writing && store->is_read_only)
		return handle_fail(
			store, -EROFS, "%s was opened for reading and is not written", store->path);
	return 0;
}

static int bind_value(sqlite3_stmt *stmt, int at, char type, va_list *values)
{
	const char *text;
	const void *bytes;
	double number;

	switch (type) {
	case 'i':
		return sqlite3_bind_int64(stmt, at, va_arg(*values, int64_t));
	case 'd':
		number = va_arg(*values, double);
		return isnan(number) ? sqlite3_bind_null(stmt, at)
				     : sqlite3_bind_double(stmt, at, number);
	case 't':
		text = va_arg(*values, const char *);
		return text ? sqlite3_bind_text(stmt, at, text, -1, SQLITE_TRANSIENT)
			    : sqlite3_bind_null(stmt, at);
	case 'b':
		bytes = va_arg(*values, const void *);
		return sqlite3_bind_blob64(
			stmt, at, bytes, va_arg(*values, size_t), SQLITE_TRANSIENT);
	default:
		return SQLITE_MISUSE;
	}
}

int handle_prepare_list(struct store *store, sqlite3_stmt **stmt, const char *sql,
	const char *types, va_list values)
{
	va_list copy;
	int result;

	*stmt = NULL;
	result = sqlite3_prepare_v2(store->db, sql, -1, stmt, NULL);
	va_copy(copy, values);
	for (int i = 0; result == SQLITE_OK && types[i]; i++)
		result = bind_value(*stmt, i + 1, types[i], &copy);
	va_end(copy);
	if (result == SQLITE_OK)
		return 0;
	result = handle_sql_error(store, "prepare a statement");
	sqlite3_finalize(*stmt);
	*stmt = NULL;
	return result;
}

int handle_prepare(
	struct store *store, sqlite3_stmt **stmt, const char *sql, const char *types, ...)
{
	va_list values;
	int result;

	va_start(values, types);
	result = handle_prepare_list(store, stmt, sql, types, values);
	va_end(values);
	return result;
}

int handle_run(struct store *store, const char *tried, const char *sql, const char *types, ...)
{
	sqlite3_stmt *stmt;
	va_list values;
	int result;

	va_start(values, types);
	result = handle_prepare_list(store, &stmt, sql, types, values);
	va_end(values);
	if (result)
		return result;
	do
		result = sqlite3_step(stmt);
	while (result == SQLITE_ROW);
	result = result == SQLITE_DONE ? 0 : handle_sql_error(store, tried);
	sqlite3_finalize(stmt);
	return result;
}

int handle_get_integer(struct store *store, int64_t *value, const char *sql, const char *types, ...)
{
	sqlite3_stmt *stmt;
	va_list values;
	int result;

	*value = 0;
	va_start(values, types);
	result = handle_prepare_list(store, &stmt, sql, types, values);
	va_end(values);
	if (result)
		return result;
	switch (sqlite3_step(stmt)) {
	case SQLITE_ROW:
		*value = sqlite3_column_int64(stmt, 0);
		break;
	case SQLITE_DONE:
		result = -ENOENT;
		break;
	default:
		result = handle_sql_error(store, "read");
	}
	sqlite3_finalize(stmt);
	return result;
}

int handle_begin(struct store *store)
{
	return handle_run(store, "begin a transaction", "BEGIN IMMEDIATE", "");
}

int handle_commit(struct store *store)
{
	return handle_run(store, "commit a transaction", "COMMIT", "");
}

void handle_rollback(struct store *store)
{
	/* SQLite rolls back by itself on some errors; the first text stays. */
	if (!sqlite3_get_autocommit(store->db))
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	store->run_id = 0;
	store->window_id = 0;
}

bool handle_in_window(const struct store *store, int64_t run_id)
{
	return store->window_id != 0 && store->run_id == run_id;
}
