/* SPDX-License-Identifier: Apache-2.0 */
#include "db/store_job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/handle.h"

static size_t read_small(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");
	size_t got = 0;

	if (file) {
		got = fread(text, 1, size - 1, file);
		fclose(file);
	}
	text[got] = '\0';
	return got;
}

void store_job_get_machine(char machine[STORE_JOB_MACHINE_SIZE])
{
	char boot[64], space[40];
	ssize_t got = readlink("/proc/self/ns/pid", space, sizeof(space) - 1);

	space[got > 0 ? got : 0] = '\0';
	read_small("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
	boot[strcspn(boot, "\n")] = '\0';
	snprintf(machine, STORE_JOB_MACHINE_SIZE, "%s %s", boot, space);
}

int64_t store_job_get_start(int64_t pid)
{
	char path[64], text[1024];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
	read_small(path, text, sizeof(text));
	at = strrchr(text, ')'); /* the name before it may hold anything */
	if (!at)
		return 0;
	/* A zombie writes no more. */
	if (at[1] == ' ' && (at[2] == 'Z' || at[2] == 'X'))
		return 0;
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoll(at, NULL, 10) : 0;
}

int store_begin_job(struct store *store, const struct store_job *job, int64_t *job_id)
{
	char machine[STORE_JOB_MACHINE_SIZE];
	int result = handle_check(store, true);

	*job_id = 0;
	if (result)
		return result;
	store_job_get_machine(machine);
	result = handle_run(store, "add a job",
		"INSERT INTO jobs(id, command, suite, suite_json, plan, version, machine, pid, "
		"pid_start, started_ms) VALUES(nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		"ittttttiii", job->id, job->command ? job->command : "", job->suite,
		job->suite_json, job->plan, job->version, machine, (int64_t)getpid(),
		store_job_get_start((int64_t)getpid()), job->started_ms);
	if (!result)
		*job_id = sqlite3_last_insert_rowid(store->db);
	return result;
}

int store_end_job(struct store *store, int64_t job_id, int exit_code, int64_t ended_ms)
{
	int result = handle_check(store, true);

	if (!result)
		result = handle_run(store, "end a job",
			"UPDATE jobs SET ended_ms = ?, exit_code = ? WHERE id = ?", "iii", ended_ms,
			(int64_t)exit_code, job_id);
	if (!result && !sqlite3_changes(store->db))
		return handle_fail(store, -ENOENT, "there is no job %lld in %s", (long long)job_id,
			store->path);
	return result;
}

bool store_job_is_alive(const char *here, const char *machine, int64_t pid, int64_t pid_start)
{
	int64_t start = pid > 0 ? store_job_get_start(pid) : 0;

	return machine && !strcmp(here, machine) && start != 0 && start == pid_start;
}

/* The jobs that have not ended and whose process has; *ids is the caller's. */
static int find_dead_jobs(struct store *store, int64_t **ids, int *count)
{
	char machine[STORE_JOB_MACHINE_SIZE];
	sqlite3_stmt *stmt;
	int result, step;

	*ids = NULL;
	*count = 0;
	store_job_get_machine(machine);
	result = handle_prepare(store, &stmt,
		"SELECT id, machine, pid, pid_start FROM jobs WHERE ended_ms IS NULL", "");
	if (result)
		return result;
	while ((step = sqlite3_step(stmt)) == SQLITE_ROW) {
		const char *where = (const char *)sqlite3_column_text(stmt, 1);
		int64_t *grown;

		if (store_job_is_alive(machine, where, sqlite3_column_int64(stmt, 2),
			    sqlite3_column_int64(stmt, 3)))
			continue;
		grown = realloc(*ids, (size_t)(*count + 1) * sizeof(**ids));
		if (!grown) {
			result = handle_fail(store, -ENOMEM, "out of memory");
			break;
		}
		*ids = grown;
		(*ids)[(*count)++] = sqlite3_column_int64(stmt, 0);
	}
	if (!result && step != SQLITE_DONE)
		result = handle_sql_error(store, "look for dead jobs");
	sqlite3_finalize(stmt);
	return result;
}

/* Of one board, or of all if that is NULL. */
static int mark_job(struct store *store, int64_t job_id, const char *board, int64_t now_ms)
{
	int marked;
	int result = handle_run(store, "mark interrupted runs",
		"UPDATE runs SET verdict = 'interrupted', ended_ms = ?1, reason = 'the process of "
		"job ' || job_id || ' is gone without having ended the run' WHERE job_id = ?2 AND "
		"verdict IS NULL AND (?3 IS NULL OR board_id IN (SELECT id FROM boards WHERE "
		"name = ?3))",
		"iit", now_ms, job_id, board);

	if (result)
		return result;
	marked = sqlite3_changes(store->db);
	result = handle_run(store, "end a dead job",
		"UPDATE jobs SET ended_ms = ?1 WHERE id = ?2 AND NOT EXISTS (SELECT 1 FROM runs "
		"WHERE job_id = ?2 AND verdict IS NULL)",
		"ii", now_ms, job_id);
	return result ? result : marked;
}

int store_recover(struct store *store, const char *board, int64_t now_ms)
{
	int64_t *ids = NULL;
	int count = 0, marked = 0;
	int result = handle_check(store, true);

	if (result)
		return result;
	if (store->window_id)
		return handle_fail(store, -EINVAL, "cannot recover with a window open");
	result = handle_begin(store);
	if (!result)
		result = find_dead_jobs(store, &ids, &count);
	for (int i = 0; result >= 0 && i < count; i++) {
		result = mark_job(store, ids[i], board, now_ms);
		marked += result > 0 ? result : 0;
	}
	if (result >= 0)
		result = handle_commit(store);
	if (result < 0)
		handle_rollback(store);
	free(ids);
	return result < 0 ? result : marked;
}
