/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to db/: rows of a query as one array of structs, strings included, in
 * one allocation.
 */
#ifndef SAMEBOARD_DB_ROWS_H
#define SAMEBOARD_DB_ROWS_H

#include <stddef.h>

#include "db/store.h"

enum rows_type {
	ROWS_INTEGER, /* int64_t or uint64_t; NULL is 0 */
	ROWS_BOOLEAN, /* bool */
	ROWS_NUMBER,  /* double; NULL is NaN */
	ROWS_TEXT,    /* const char *; NULL is "" */
	ROWS_VERDICT, /* enum verdict; NULL is RUNNING */
	ROWS_GATE,    /* enum gate_verdict */
};

/* The nth column of the statement goes to `offset` of the struct. */
struct rows_column {
	enum rows_type type;
	size_t offset;
};

struct rows_kind {
	const struct rows_column *columns;
	int column_count;
	size_t row_size;
};

#define ROWS_COLUMN(kind, type, member)                                                            \
	{                                                                                          \
		ROWS_##kind, offsetof(type, member)                                                \
	}

#define ROWS_KIND(type, columns)                                                                   \
	{                                                                                          \
		columns, (int)(sizeof(columns) / sizeof((columns)[0])), sizeof(type)               \
	}

/* Number of rows, or a negative errno; *rows is NULL without any, else the caller frees it. */
int rows_read(struct store *store, void **rows, const struct rows_kind *kind, const char *sql,
	const char *types, ...);

#endif
