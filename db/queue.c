/* SPDX-License-Identifier: Apache-2.0 */
#include "db/queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/handle.h"
#include "db/rows.h"
#include "db/store_job.h"

static const char *const state_names[QUEUE_STATES] = {
	[QUEUE_STATE_QUEUED] = "queued",
	[QUEUE_STATE_RUNNING] = "running",
	[QUEUE_STATE_DONE] = "done",
	[QUEUE_STATE_CANCELLED] = "cancelled",
};

const char *queue_state_name(enum queue_state state)
{
	return (unsigned)state < QUEUE_STATES ? state_names[state] : "?";
}

/* ------------------------------------------------------------------- write */

/* The number that the next job would have had. */
static int reserve_id(struct store *store, int64_t *id)
{
	int result = handle_run(store, "number a job",
		"UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'jobs'", "");

	if (!result && sqlite3_changes(store->db) == 0)
		result = handle_run(store, "number a job",
			"INSERT INTO sqlite_sequence(name, seq) VALUES('jobs', 1)", "");
	if (result)
		return result;
	return handle_get_integer(
		store, id, "SELECT seq FROM sqlite_sequence WHERE name = 'jobs'", "");
}

static int end_transaction(struct store *store, int result)
{
	if (!result)
		result = handle_commit(store);
	if (result)
		handle_rollback(store);
	return result;
}

/* 0 and a transaction, if the store may be written and no window is open. */
static int begin_transaction(struct store *store)
{
	int result = handle_check(store, true);

	if (result)
		return result;
	if (store->window_id)
		return handle_fail(store, -EINVAL, "the queue is not changed inside a window");
	return handle_begin(store);
}

int queue_add(struct store *store, const struct queue_job *job, int64_t *id)
{
	int result = begin_transaction(store);

	*id = 0;
	if (result)
		return result;
	result = reserve_id(store, id);
	if (!result)
		result = handle_run(store, "queue a job",
			"INSERT INTO queue(id, board, client, uid, pid, suite, suite_json, systems, "
			"boots, seed, baseline, command, state, submitted_ms) VALUES(?, ?, ?, "
			"nullif(?, -1), nullif(?, -1), ?, ?, ?, ?, ?, nullif(?, ''), ?, 'queued', ?)",
			"ittiitttiitti", *id, job->board, job->client, job->uid, job->pid,
			job->suite, job->suite_json, job->systems ? job->systems : "", job->boots,
			job->seed, job->baseline, job->command ? job->command : "",
			job->submitted_ms);
	result = end_transaction(store, result);
	if (result)
		*id = 0;
	return result;
}

int queue_take(struct store *store, const char *board, int64_t now_ms, int64_t *id)
{
	int result = handle_check(store, true);

	*id = 0;
	/* Mostly there is none: then nobody's write lock is waited for. */
	if (!result)
		result = handle_get_integer(store, id,
			"SELECT id FROM queue WHERE state = 'queued' AND board = ? LIMIT 1", "t",
			board);
	if (result == -ENOENT)
		return 0;
	*id = 0;
	if (!result)
		result = begin_transaction(store);
	if (result)
		return result;
	result = handle_get_integer(store, id,
		"SELECT id FROM queue AS mine WHERE state = 'queued' AND board = ?1 ORDER BY "
		"(SELECT ifnull(max(turn), 0) FROM queue WHERE board = ?1 AND client = mine.client), "
		"id LIMIT 1",
		"t", board);
	if (result == -ENOENT) {
		handle_rollback(store);
		return 0;
	}
	if (!result)
		result = handle_run(store, "take a job",
			"UPDATE queue SET state = 'running', started_ms = ?, turn = (SELECT "
			"ifnull(max(turn), 0) + 1 FROM queue) WHERE id = ?",
			"ii", now_ms, *id);
	result = end_transaction(store, result);
	if (result)
		*id = 0;
	return result;
}

int queue_set_worker(struct store *store, int64_t id, int64_t pid)
{
	char machine[STORE_JOB_MACHINE_SIZE];
	int result = handle_check(store, true);

	if (result)
		return result;
	store_job_get_machine(machine);
	return handle_run(store, "name a worker",
		"UPDATE queue SET machine = ?, worker_pid = ?, worker_start = ? WHERE id = ?",
		"tiii", machine, pid, store_job_get_start(pid), id);
}

int queue_end(struct store *store, int64_t id, enum queue_state state, int exit_code,
	const char *error, int64_t now_ms)
{
	int64_t exists;
	int result = handle_check(store, true);

	if (!result && state != QUEUE_STATE_DONE && state != QUEUE_STATE_CANCELLED)
		return handle_fail(
			store, -EINVAL, "a job cannot end as %s", queue_state_name(state));
	if (!result)
		result = handle_run(store, "end a job of the queue",
			"UPDATE queue SET state = ?, exit_code = ?, error = ?, ended_ms = ? WHERE "
			"id = ? AND state IN ('queued', 'running')",
			"titii", queue_state_name(state), (int64_t)exit_code, error, now_ms, id);
	if (result || sqlite3_changes(store->db))
		return result;
	result = handle_get_integer(store, &exists, "SELECT 1 FROM queue WHERE id = ?", "i", id);
	if (result == -ENOENT)
		return handle_fail(store, result, "there is no job %lld in the queue of %s",
			(long long)id, store->path);
	return result ? result
		      : handle_fail(store, -EALREADY, "job %lld has ended already", (long long)id);
}

/* -------------------------------------------------------------------- read */

/* As the columns come; turned into struct queue_row in place behind it. */
struct raw_row {
	struct queue_row row;
	const char *state, *machine;
	int64_t worker_start;
};

#define COLUMN(kind, member)                                                                       \
	{                                                                                          \
		ROWS_##kind, offsetof(struct raw_row, member)                                      \
	}

static const struct rows_column columns[] = {
	COLUMN(INTEGER, row.id),
	COLUMN(TEXT, row.job.board),
	COLUMN(TEXT, row.job.client),
	COLUMN(INTEGER, row.job.uid),
	COLUMN(INTEGER, row.job.pid),
	COLUMN(TEXT, row.job.suite),
	COLUMN(TEXT, row.job.suite_json),
	COLUMN(TEXT, row.job.systems),
	COLUMN(INTEGER, row.job.boots),
	COLUMN(INTEGER, row.job.seed),
	COLUMN(TEXT, row.job.baseline),
	COLUMN(TEXT, row.job.command),
	COLUMN(INTEGER, row.job.submitted_ms),
	COLUMN(TEXT, state),
	COLUMN(INTEGER, row.turn),
	COLUMN(TEXT, machine),
	COLUMN(INTEGER, row.worker_pid),
	COLUMN(INTEGER, worker_start),
	COLUMN(INTEGER, row.started_ms),
	COLUMN(INTEGER, row.ended_ms),
	COLUMN(INTEGER, row.exit_code),
	COLUMN(TEXT, row.error),
};

#define COLUMNS                                                                                          \
	"SELECT id, board, client, ifnull(uid, -1), ifnull(pid, -1), suite, suite_json, systems, "       \
	"boots, seed, baseline, command, submitted_ms, state, turn, machine, worker_pid, worker_start, " \
	"started_ms, ended_ms, ifnull(exit_code, -1), error FROM queue "

static const struct rows_kind kind = ROWS_KIND(struct raw_row, columns);

/* The rows come to lie at the front of their array; the strings behind stay. */
static void finish_rows(struct raw_row *raw, int count, struct queue_row **rows)
{
	char machine[STORE_JOB_MACHINE_SIZE];
	struct queue_row *row = (struct queue_row *)(void *)raw;

	*rows = row;
	store_job_get_machine(machine);
	for (int i = 0; i < count; i++) {
		struct raw_row one = raw[i];

		for (one.row.state = 0; one.row.state < QUEUE_STATE_CANCELLED; one.row.state++)
			if (strcmp(one.state, state_names[one.row.state]) == 0)
				break;
		one.row.worker_is_alive = store_job_is_alive(
			machine, one.machine, one.row.worker_pid, one.worker_start);
		row[i] = one.row;
	}
}

int queue_get(struct store *store, int64_t id, struct queue_row **row)
{
	struct raw_row *raw = NULL;
	int count = rows_read(store, (void **)&raw, &kind, COLUMNS "WHERE id = ?", "i", id);

	*row = NULL;
	if (count == 0)
		return handle_fail(store, -ENOENT, "there is no job %lld in the queue of %s",
			(long long)id, store->path);
	if (count < 0)
		return count;
	finish_rows(raw, count, row);
	return 0;
}

int queue_list_open(struct store *store, struct queue_row **rows)
{
	struct raw_row *raw = NULL;
	int count = rows_read(store, (void **)&raw, &kind,
		COLUMNS "WHERE state IN ('queued', 'running') ORDER BY id", "");

	*rows = NULL;
	if (count > 0)
		finish_rows(raw, count, rows);
	return count;
}
