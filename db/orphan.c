/* SPDX-License-Identifier: Apache-2.0 */
#include "db/orphan.h"

#include <errno.h>
#include <stdlib.h>

#include "db/handle.h"
#include "db/rows.h"
#include "db/store_job.h"

struct candidate {
	struct orphan_run run;
	const char *machine;
	int64_t pid, pid_start;
};

#define COLUMN(kind, member)                                                                       \
	{                                                                                          \
		ROWS_##kind, offsetof(struct candidate, member)                                    \
	}

static const struct rows_column columns[] = {
	COLUMN(INTEGER, run.id),
	COLUMN(INTEGER, run.job_id),
	COLUMN(TEXT, run.system),
	COLUMN(TEXT, run.suite),
	COLUMN(TEXT, run.suite_json),
	COLUMN(TEXT, run.counter_hz),
	COLUMN(INTEGER, run.session),
	COLUMN(INTEGER, run.console_bytes),
	COLUMN(INTEGER, run.started_ms),
	COLUMN(TEXT, machine),
	COLUMN(INTEGER, pid),
	COLUMN(INTEGER, pid_start),
};

static const struct rows_kind kind = ROWS_KIND(struct candidate, columns);

int orphan_find_runs(struct store *store, const char *board, struct orphan_run **runs)
{
	char machine[STORE_JOB_MACHINE_SIZE];
	struct candidate *all = NULL;
	int kept = 0;
	int count = rows_read(store, (void **)&all, &kind,
		"SELECT runs.id, job_id, runs.system, jobs.suite, jobs.suite_json, (SELECT value "
		"FROM facts WHERE run_id = runs.id AND key = 'counter_hz'), session, (SELECT "
		"ifnull(sum(size), 0) FROM console_logs WHERE run_id = runs.id), runs.started_ms, "
		"machine, pid, pid_start FROM runs JOIN jobs ON jobs.id = job_id JOIN boards ON "
		"boards.id = board_id WHERE verdict IS NULL AND boards.name = ? ORDER BY runs.id "
		"DESC",
		"t", board);

	*runs = NULL;
	if (count <= 0)
		return count;
	store_job_get_machine(machine);
	/* The rows come to lie at the front of their array; the strings behind stay. */
	*runs = (struct orphan_run *)(void *)all;
	for (int i = 0; i < count; i++) {
		struct candidate one = all[i];

		if (!store_job_is_alive(machine, one.machine, one.pid, one.pid_start))
			(*runs)[kept++] = one.run;
	}
	if (kept == 0) {
		free(all);
		*runs = NULL;
	}
	return kept;
}

int orphan_has_window(struct store *store, int64_t run_id, unsigned number)
{
	int64_t ignored;
	int result = handle_check(store, false);

	if (result)
		return result;
	result = handle_get_integer(store, &ignored,
		"SELECT 1 FROM windows WHERE run_id = ? AND number = ?", "ii", run_id,
		(int64_t)number);
	return result == -ENOENT ? 0 : result ? result : 1;
}
