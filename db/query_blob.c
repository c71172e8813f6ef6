/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/blob.h"
#include "db/handle.h"
#include "db/mark.h"
#include "db/query.h"

/* Of a run's console, whose pieces are as large as they were flushed. */
#define CONSOLE_MAX ((size_t)1 << 30)

static const char *const kind_names[] = {"?", [STORE_SERIES_COUNTS] = "counts",
	[STORE_SERIES_STAMPS] = "stamps", [STORE_SERIES_TEXT] = "text"};

static const char *kind_name(int64_t kind)
{
	return kind_names[kind >= STORE_SERIES_COUNTS && kind <= STORE_SERIES_TEXT ? kind : 0];
}

/* The columns `at` (blob) and `crc` of a row to a block of `size` bytes and a NUL. */
static int unpack_column(sqlite3_stmt *stmt, int at, int crc, int64_t size, char **block)
{
	const void *packed = sqlite3_column_blob(stmt, at);
	size_t packed_size = (size_t)sqlite3_column_bytes(stmt, at);

	*block = NULL;
	/* What a damaged row says must not eat the memory. */
	if (size < 0 || size > STORE_SERIES_MAX ||
		!blob_has_size(packed, packed_size, (size_t)size))
		return -EBADMSG;
	*block = malloc((size_t)size + 1);
	if (!*block)
		return -ENOMEM;
	(*block)[size] = '\0';
	return blob_unpack(packed, packed_size, *block, (size_t)size,
		(uint32_t)sqlite3_column_int64(stmt, crc));
}

static int read_samples(struct store *store, sqlite3_stmt *stmt, enum store_series_kind kind,
	char **data, size_t *count)
{
	int64_t found = sqlite3_column_int64(stmt, 1);
	int64_t elements = sqlite3_column_int64(stmt, 2);
	const char *name = (const char *)sqlite3_column_text(stmt, 0);
	size_t element_size = mark_element_size(kind);
	int result;

	name = name ? name : "?";
	if (!element_size || found != (int64_t)kind)
		return handle_fail(store, -EINVAL, "series %s holds %s, not %s", name,
			kind_name(found), kind_name((int64_t)kind));
	if (elements < 0 || elements > STORE_SERIES_MAX)
		result = -EBADMSG;
	else
		result = unpack_column(stmt, 4, 3, elements * (int64_t)element_size, data);
	if (result)
		return handle_fail(store, result,
			result == -ENOMEM ? "out of memory"
					  : "series %s in %s is damaged: its samples do not have "
					    "the checksum they were stored with",
			name, store->path);
	*count = (size_t)elements;
	mark_swap(*data, *count, element_size);
	return 0;
}

int query_samples(struct store *store, int64_t series_id, enum store_series_kind kind, void **data,
	size_t *count)
{
	sqlite3_stmt *stmt;
	char *block = NULL;
	int result = handle_check(store, false);

	*data = NULL;
	*count = 0;
	if (result)
		return result;
	result = handle_prepare(store, &stmt,
		"SELECT name, kind, count, crc32c, data FROM series WHERE id = ?", "i", series_id);
	if (result)
		return result;
	switch (sqlite3_step(stmt)) {
	case SQLITE_ROW:
		result = read_samples(store, stmt, kind, &block, count);
		break;
	case SQLITE_DONE:
		result = handle_fail(store, -ENOENT, "there is no series %lld in %s",
			(long long)series_id, store->path);
		break;
	default:
		result = handle_sql_error(store, "read samples");
	}
	sqlite3_finalize(stmt);
	if (result) {
		free(block);
		return result;
	}
	*data = block;
	return 0;
}

int query_samples_named(struct store *store, int64_t window_id, const char *name,
	enum store_series_kind kind, void **data, size_t *count)
{
	int64_t id;
	int result = handle_check(store, false);

	*data = NULL;
	*count = 0;
	if (result)
		return result;
	result = handle_get_integer(store, &id,
		"SELECT id FROM series WHERE window_id = ? AND name = ?", "it", window_id, name);
	if (result == -ENOENT)
		return handle_fail(store, result, "the window has no series %s", name);
	return result ? result : query_samples(store, id, kind, data, count);
}

int query_manifest(struct store *store, int64_t run_id, char **text)
{
	sqlite3_stmt *stmt;
	int result = handle_check(store, false);

	*text = NULL;
	if (result)
		return result;
	result = handle_prepare(store, &stmt,
		"SELECT manifest FROM runs JOIN images ON images.id = image_id WHERE runs.id = ?",
		"i", run_id);
	if (result)
		return result;
	if (sqlite3_step(stmt) == SQLITE_ROW) {
		const char *stored = (const char *)sqlite3_column_text(stmt, 0);

		*text = strdup(stored ? stored : "");
		if (!*text)
			result = handle_fail(store, -ENOMEM, "out of memory");
	} else {
		result = handle_fail(store, -ENOENT, "there is no run %lld in %s",
			(long long)run_id, store->path);
	}
	sqlite3_finalize(stmt);
	return result;
}

/* A console log while its pieces are put together. */
struct log {
	char *data;
	size_t size;
	struct store_mark *marks;
	size_t mark_count;
};

static int append_bytes(struct log *log, const char *piece, size_t size)
{
	char *grown = realloc(log->data, log->size + size + 1);

	if (!grown)
		return -ENOMEM;
	memcpy(grown + log->size, piece, size);
	log->data = grown;
	log->size += size;
	log->data[log->size] = '\0';
	return 0;
}

static int append_marks(struct log *log, const char *piece, size_t count)
{
	struct store_mark *grown =
		realloc(log->marks, (log->mark_count + count + 1) * sizeof(*log->marks));

	if (!grown)
		return -ENOMEM;
	mark_read(grown + log->mark_count, count, (const unsigned char *)piece);
	log->marks = grown;
	log->mark_count += count;
	return 0;
}

static int append_piece(struct log *log, sqlite3_stmt *stmt)
{
	int64_t size = sqlite3_column_int64(stmt, 0), marks = sqlite3_column_int64(stmt, 3);
	char *piece = NULL;
	int result = unpack_column(stmt, 2, 1, size, &piece);

	if (!result && log->size + (size_t)size > CONSOLE_MAX)
		result = -EFBIG;
	if (!result)
		result = append_bytes(log, piece, (size_t)size);
	free(piece);
	piece = NULL;
	if (!result && (marks < 0 || marks > STORE_SERIES_MAX / MARK_SIZE))
		result = -EBADMSG;
	if (!result && log->mark_count + (size_t)marks > CONSOLE_MAX / sizeof(struct store_mark))
		result = -EFBIG;
	if (!result)
		result = unpack_column(stmt, 5, 4, marks * MARK_SIZE, &piece);
	if (!result)
		result = append_marks(log, piece, (size_t)marks);
	free(piece);
	return result;
}

int query_console(struct store *store, int64_t run_id, char **data, size_t *size,
	struct store_mark **marks, size_t *mark_count)
{
	struct log log = {0};
	sqlite3_stmt *stmt = NULL;
	int step = SQLITE_DONE;
	int result = handle_check(store, false);

	*data = NULL;
	*marks = NULL;
	*size = *mark_count = 0;
	if (result)
		return result;
	result = handle_prepare(store, &stmt,
		"SELECT size, crc32c, data, mark_count, marks_crc32c, marks FROM console_logs "
		"WHERE run_id = ? ORDER BY id",
		"i", run_id);
	if (result)
		return result;
	result = append_bytes(&log, "", 0);
	if (!result)
		result = append_marks(&log, "", 0);
	while (!result && (step = sqlite3_step(stmt)) == SQLITE_ROW)
		result = append_piece(&log, stmt);
	if (result)
		handle_fail(store, result,
			result == -ENOMEM ? "out of memory"
			: result == -EFBIG
				? "the console log of run %lld in %s is larger than 1 GiB"
				: "the console log of run %lld in %s is damaged",
			(long long)run_id, store->path);
	else if (step != SQLITE_DONE)
		result = handle_sql_error(store, "read a console log");
	sqlite3_finalize(stmt);
	if (result) {
		free(log.data);
		free(log.marks);
		return result;
	}
	*data = log.data;
	*size = log.size;
	*marks = log.marks;
	*mark_count = log.mark_count;
	return 0;
}
