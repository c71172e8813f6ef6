/* SPDX-License-Identifier: Apache-2.0 */
#include "db/rows.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/handle.h"

/* Two areas while reading; texts are offsets until both have their final place. */
struct builder {
	char *rows, *texts;
	size_t rows_size, rows_room;
	size_t texts_size, texts_room;
};

static bool reserve(char **area, size_t *room, size_t size)
{
	size_t wanted = *room ? *room : 1024;
	char *grown;

	while (wanted < size)
		wanted *= 2;
	if (wanted == *room)
		return true;
	grown = realloc(*area, wanted);
	if (!grown)
		return false;
	*area = grown;
	*room = wanted;
	return true;
}

static bool add_text(struct builder *builder, const char *text, size_t size, uintptr_t *offset)
{
	if (!reserve(&builder->texts, &builder->texts_room, builder->texts_size + size + 1))
		return false;
	*offset = builder->texts_size;
	if (size)
		memcpy(builder->texts + builder->texts_size, text, size);
	builder->texts[builder->texts_size + size] = '\0';
	builder->texts_size += size + 1;
	return true;
}

static bool read_column(struct builder *builder, const struct rows_column *column,
	sqlite3_stmt *stmt, int i, char *row)
{
	const char *text = NULL;
	enum verdict verdict;
	enum gate_verdict gate;
	uintptr_t offset;
	int64_t integer;
	double number;
	bool truth;

	switch (column->type) {
	case ROWS_INTEGER:
		integer = sqlite3_column_int64(stmt, i);
		memcpy(row + column->offset, &integer, sizeof(integer));
		return true;
	case ROWS_BOOLEAN:
		truth = sqlite3_column_int(stmt, i) != 0;
		memcpy(row + column->offset, &truth, sizeof(truth));
		return true;
	case ROWS_NUMBER:
		number = sqlite3_column_type(stmt, i) == SQLITE_NULL
				 ? (double)NAN
				 : sqlite3_column_double(stmt, i);
		memcpy(row + column->offset, &number, sizeof(number));
		return true;
	case ROWS_TEXT:
		text = (const char *)sqlite3_column_text(stmt, i);
		if (!add_text(builder, text, (size_t)sqlite3_column_bytes(stmt, i), &offset))
			return false;
		memcpy(row + column->offset, &offset, sizeof(offset));
		return true;
	case ROWS_VERDICT:
		verdict_parse((const char *)sqlite3_column_text(stmt, i), &verdict);
		memcpy(row + column->offset, &verdict, sizeof(verdict));
		return true;
	case ROWS_GATE:
		verdict_gate_parse((const char *)sqlite3_column_text(stmt, i), &gate);
		memcpy(row + column->offset, &gate, sizeof(gate));
		return true;
	}
	return false;
}

static bool read_row(struct builder *builder, const struct rows_kind *kind, sqlite3_stmt *stmt)
{
	char *row;

	if (!reserve(&builder->rows, &builder->rows_room, builder->rows_size + kind->row_size))
		return false;
	row = builder->rows + builder->rows_size;
	memset(row, 0, kind->row_size);
	for (int i = 0; i < kind->column_count; i++) {
		if (!read_column(builder, &kind->columns[i], stmt, i, row))
			return false;
	}
	builder->rows_size += kind->row_size;
	return true;
}

/* Puts the texts behind the rows and makes pointers of the offsets. */
static void *join(struct builder *builder, const struct rows_kind *kind, size_t count)
{
	char *block = malloc(builder->rows_size + builder->texts_size);
	char *texts;

	if (!block)
		return NULL;
	memcpy(block, builder->rows, builder->rows_size);
	texts = block + builder->rows_size;
	if (builder->texts_size)
		memcpy(texts, builder->texts, builder->texts_size);
	for (size_t row = 0; row < count; row++) {
		for (int i = 0; i < kind->column_count; i++) {
			char *slot = block + row * kind->row_size + kind->columns[i].offset;
			const char *text;
			uintptr_t offset;

			if (kind->columns[i].type != ROWS_TEXT)
				continue;
			memcpy(&offset, slot, sizeof(offset));
			text = texts + offset;
			memcpy(slot, &text, sizeof(text));
		}
	}
	return block;
}

int rows_read(struct store *store, void **rows, const struct rows_kind *kind, const char *sql,
	const char *types, ...)
{
	struct builder builder = {0};
	sqlite3_stmt *stmt = NULL;
	int count = 0, step = SQLITE_DONE;
	va_list values;
	int result;

	*rows = NULL;
	result = handle_check(store, false);
	if (result)
		return result;
	va_start(values, types);
	result = handle_prepare_list(store, &stmt, sql, types, values);
	va_end(values);
	while (!result && count < INT_MAX && (step = sqlite3_step(stmt)) == SQLITE_ROW) {
		if (read_row(&builder, kind, stmt))
			count++;
		else
			result = handle_fail(store, -ENOMEM, "out of memory");
	}
	if (!result && step != SQLITE_DONE)
		result = handle_sql_error(store, "read");
	if (!result && count) {
		*rows = join(&builder, kind, (size_t)count);
		if (!*rows)
			result = handle_fail(store, -ENOMEM, "out of memory");
	}
	sqlite3_finalize(stmt);
	free(builder.rows);
	free(builder.texts);
	return result ? result : count;
}
