/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to db/: the store's struct, its error text and the statements that
 * everything else is written with.
 */
#ifndef SAMEBOARD_DB_HANDLE_H
#define SAMEBOARD_DB_HANDLE_H

#include <sqlite3.h>
#include <stdarg.h>

#include "db/store.h"

struct store {
	sqlite3 *db;
	char *path;
	bool is_read_only;
	int64_t run_id;	   /* of the open window, 0 if none is open */
	int64_t window_id; /* row of the open window */
	char error[1024];
};

/* Writes the text, returns `code`. */
int handle_fail(struct store *store, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Of SQLite's last error on this handle: what was tried, what came back, what to do. */
int handle_sql_error(struct store *store, const char *tried);

/* 0, or an error if the store is not open (or not open for writing). */
int handle_check(struct store *store, bool writing);

/*
 * Prepares `sql` and binds by `types`, one letter a parameter: i int64_t,
 * d double (NaN: NULL), t const char * (NULL: NULL), b const void * and size_t.
 */
int handle_prepare(
	struct store *store, sqlite3_stmt **stmt, const char *sql, const char *types, ...);
int handle_prepare_list(struct store *store, sqlite3_stmt **stmt, const char *sql,
	const char *types, va_list values);

/* Runs one statement to its end.  `tried` as in "cannot `tried`". */
int handle_run(struct store *store, const char *tried, const char *sql, const char *types, ...);

/* First column of the first row; -ENOENT with no text if there is no row. */
int handle_get_integer(
	struct store *store, int64_t *value, const char *sql, const char *types, ...);

int handle_begin(struct store *store);
int handle_commit(struct store *store);
void handle_rollback(struct store *store);

/* Whether a window of this run is open. */
bool handle_in_window(const struct store *store, int64_t run_id);

#endif
