/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "db/handle.h"
#include "db/queue.h"
#include "db/rows.h"

int queue_note_health(
	struct store *store, const char *board, bool lab_failed, const char *reason, int64_t now_ms)
{
	int result = handle_check(store, true);

	if (result)
		return result;
	if (!lab_failed) /* a quarantine is ended by a person alone */
		return handle_run(store, "note the health of a board",
			"UPDATE board_health SET lab_failures = 0 WHERE board = ? AND quarantined_ms "
			"IS NULL",
			"t", board);
	return handle_run(store, "note the health of a board",
		"INSERT INTO board_health(board, lab_failures, reason) VALUES(?1, 1, ?2) "
		"ON CONFLICT(board) DO UPDATE SET lab_failures = lab_failures + 1, reason = ?2, "
		"quarantined_ms = CASE WHEN lab_failures + 1 >= ?4 AND quarantined_ms IS NULL THEN "
		"?3 ELSE quarantined_ms END",
		"ttii", board, reason ? reason : "", now_ms, (int64_t)QUEUE_LAB_FAILURES_MAX);
}

int queue_quarantine(struct store *store, const char *board, const char *reason, int64_t now_ms)
{
	int result = handle_check(store, true);

	return result ? result
		      : handle_run(store, "put a board in quarantine",
				"INSERT INTO board_health(board, lab_failures, quarantined_ms, reason) "
				"VALUES(?1, 1, ?3, ?2) ON CONFLICT(board) DO UPDATE SET lab_failures = "
				"lab_failures + 1, quarantined_ms = ?3, reason = ?2",
				"tti", board, reason ? reason : "", now_ms);
}

int queue_release(struct store *store, const char *board)
{
	int result = handle_check(store, true);

	if (!result)
		result = handle_run(store, "release a board",
			"UPDATE board_health SET lab_failures = 0, quarantined_ms = NULL WHERE board "
			"= ? AND quarantined_ms IS NOT NULL",
			"t", board);
	if (!result && sqlite3_changes(store->db) == 0)
		return handle_fail(store, -ENOENT, "board %s is not in quarantine", board);
	return result;
}

int queue_get_health(struct store *store, const char *board, struct queue_health **health)
{
	static const struct rows_column columns[] = {
		{ROWS_TEXT, offsetof(struct queue_health, board)},
		{ROWS_INTEGER, offsetof(struct queue_health, lab_failures)},
		{ROWS_INTEGER, offsetof(struct queue_health, quarantined_ms)},
		{ROWS_TEXT, offsetof(struct queue_health, reason)},
	};
	static const struct rows_kind kind = ROWS_KIND(struct queue_health, columns);
	int count = rows_read(store, (void **)health, &kind,
		"SELECT board, lab_failures, quarantined_ms, reason FROM board_health WHERE board = "
		"?",
		"t", board);

	return count < 0 ? count : 0;
}
