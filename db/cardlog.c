/* SPDX-License-Identifier: Apache-2.0 */
#include "db/cardlog.h"

#include "db/handle.h"
#include "db/rows.h"

int cardlog_note_write(struct store *store, const char *board, const char *device,
	uint64_t size_bytes, const char *sha256, int64_t now_ms)
{
	int result = handle_check(store, true);

	if (result)
		return result;
	return handle_run(store, "note what is on a card",
		"INSERT INTO cards(board, device, size_bytes, sha256, writes, errors, written_ms) "
		"VALUES(?1, ?2, ?3, ?4, 1, 0, ?5) ON CONFLICT(board) DO UPDATE SET "
		"writes = CASE WHEN device = ?2 AND size_bytes IN (0, ?3) THEN writes + 1 ELSE 1 END, "
		"errors = CASE WHEN device = ?2 AND size_bytes IN (0, ?3) THEN errors ELSE 0 END, "
		"error = CASE WHEN device = ?2 AND size_bytes IN (0, ?3) THEN error END, "
		"device = ?2, size_bytes = ?3, sha256 = ?4, written_ms = ?5",
		"ttiti", board, device, (int64_t)size_bytes, sha256, now_ms);
}

int cardlog_note_error(
	struct store *store, const char *board, const char *device, const char *error)
{
	int result = handle_check(store, true);

	if (result)
		return result;
	/* The size of a card that could not be opened is not known: 0. */
	return handle_run(store, "note that a card failed",
		"INSERT INTO cards(board, device, size_bytes, writes, errors, error) "
		"VALUES(?1, ?2, 0, 0, 1, ?3) ON CONFLICT(board) DO UPDATE SET "
		"writes = CASE WHEN device = ?2 THEN writes ELSE 0 END, "
		"errors = CASE WHEN device = ?2 THEN errors + 1 ELSE 1 END, "
		"size_bytes = CASE WHEN device = ?2 THEN size_bytes ELSE 0 END, "
		"device = ?2, sha256 = NULL, error = ?3",
		"ttt", board, device, error);
}

int cardlog_forget(struct store *store, const char *board)
{
	int result = handle_check(store, true);

	return result ? result
		      : handle_run(store, "forget what is on a card",
				"UPDATE cards SET sha256 = NULL WHERE board = ?", "t", board);
}

int cardlog_get(struct store *store, const char *board, struct cardlog **card)
{
	static const struct rows_column columns[] = {
		ROWS_COLUMN(TEXT, struct cardlog, board),
		ROWS_COLUMN(TEXT, struct cardlog, device),
		ROWS_COLUMN(INTEGER, struct cardlog, size_bytes),
		ROWS_COLUMN(TEXT, struct cardlog, sha256),
		ROWS_COLUMN(INTEGER, struct cardlog, writes),
		ROWS_COLUMN(INTEGER, struct cardlog, errors),
		ROWS_COLUMN(TEXT, struct cardlog, error),
		ROWS_COLUMN(INTEGER, struct cardlog, written_ms),
	};
	static const struct rows_kind kind = ROWS_KIND(struct cardlog, columns);
	int count = rows_read(store, (void **)card, &kind,
		"SELECT board, device, size_bytes, sha256, writes, errors, error, written_ms "
		"FROM cards WHERE board = ?",
		"t", board);

	return count < 0 ? count : 0;
}
