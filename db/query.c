/* SPDX-License-Identifier: Apache-2.0 */
#include "db/query.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/handle.h"
#include "db/rows.h"

static const struct rows_column run_columns[] = {
	ROWS_COLUMN(INTEGER, struct query_run, id),
	ROWS_COLUMN(INTEGER, struct query_run, job_id),
	ROWS_COLUMN(TEXT, struct query_run, board),
	ROWS_COLUMN(TEXT, struct query_run, model),
	ROWS_COLUMN(TEXT, struct query_run, system),
	ROWS_COLUMN(TEXT, struct query_run, suite),
	ROWS_COLUMN(TEXT, struct query_run, image_version),
	ROWS_COLUMN(TEXT, struct query_run, image_file),
	ROWS_COLUMN(TEXT, struct query_run, image_sha256),
	ROWS_COLUMN(INTEGER, struct query_run, boot),
	ROWS_COLUMN(INTEGER, struct query_run, seed),
	ROWS_COLUMN(INTEGER, struct query_run, session),
	ROWS_COLUMN(BOOLEAN, struct query_run, emulated),
	ROWS_COLUMN(VERDICT, struct query_run, verdict),
	ROWS_COLUMN(TEXT, struct query_run, reason),
	ROWS_COLUMN(INTEGER, struct query_run, started_ms),
	ROWS_COLUMN(INTEGER, struct query_run, ended_ms),
	ROWS_COLUMN(INTEGER, struct query_run, windows),
};

#define RUN_COLUMNS                                                                                \
	"SELECT runs.id, job_id, boards.name, boards.model, runs.system, jobs.suite, "             \
	"images.version, images.file, images.sha256, boot, seed, session, emulated, verdict, "     \
	"reason, runs.started_ms, runs.ended_ms, "                                                 \
	"(SELECT count(*) FROM windows WHERE run_id = runs.id) "                                   \
	"FROM runs JOIN jobs ON jobs.id = job_id JOIN boards ON boards.id = board_id "             \
	"JOIN images ON images.id = image_id "

static const struct rows_kind run_rows = ROWS_KIND(struct query_run, run_columns);

/* The bits of a filter as the names between commas that instr() looks for. */
static void write_verdicts(unsigned verdicts, char *text, size_t size)
{
	size_t at = (size_t)snprintf(text, size, ",");

	for (unsigned i = 0; i < VERDICT_COUNT && at < size; i++) {
		if (verdicts & (1u << i))
			at += (size_t)snprintf(
				text + at, size - at, "%s,", verdict_name((enum verdict)i));
	}
}

int query_runs(struct store *store, const struct query_filter *filter, struct query_run **runs)
{
	static const struct query_filter any;
	char verdicts[128];

	filter = filter ? filter : &any;
	write_verdicts(filter->verdicts, verdicts, sizeof(verdicts));
	return rows_read(store, (void **)runs, &run_rows,
		RUN_COLUMNS
		"WHERE (?1 IS NULL OR runs.system = ?1) AND (?2 IS NULL OR jobs.suite = ?2) "
		"AND (?3 IS NULL OR boards.name = ?3) AND (?4 = 0 OR job_id = ?4) "
		"AND (?5 = 0 OR instr(?6, ',' || ifnull(verdict, 'running') || ',')) "
		"AND runs.started_ms >= ?7 AND (?8 IS NULL OR runs.id IN (SELECT run_id FROM "
		"baseline_runs JOIN baselines ON baselines.id = baseline_id WHERE baselines.name = "
		"?8)) ORDER BY runs.started_ms DESC, runs.id DESC LIMIT ?9",
		"tttiititi", filter->system, filter->suite, filter->board, filter->job_id,
		(int64_t)filter->verdicts, verdicts, filter->since_ms, filter->baseline,
		filter->limit ? (int64_t)filter->limit : (int64_t)-1);
}

/* A list that must hold one row. */
static int expect_one(struct store *store, int count, const char *noun, int64_t id)
{
	if (count)
		return count < 0 ? count : 0;
	return handle_fail(
		store, -ENOENT, "there is no %s %lld in %s", noun, (long long)id, store->path);
}

int query_run(struct store *store, int64_t run_id, struct query_run **run)
{
	int count = rows_read(
		store, (void **)run, &run_rows, RUN_COLUMNS "WHERE runs.id = ?", "i", run_id);

	return expect_one(store, count, "run", run_id);
}

static const struct rows_column job_columns[] = {
	ROWS_COLUMN(INTEGER, struct query_job, id),
	ROWS_COLUMN(TEXT, struct query_job, command),
	ROWS_COLUMN(TEXT, struct query_job, suite),
	ROWS_COLUMN(TEXT, struct query_job, suite_json),
	ROWS_COLUMN(TEXT, struct query_job, plan),
	ROWS_COLUMN(TEXT, struct query_job, version),
	ROWS_COLUMN(INTEGER, struct query_job, started_ms),
	ROWS_COLUMN(INTEGER, struct query_job, ended_ms),
	ROWS_COLUMN(INTEGER, struct query_job, exit_code),
	ROWS_COLUMN(INTEGER, struct query_job, runs),
};

#define JOB_COLUMNS                                                                                \
	"SELECT id, command, suite, suite_json, plan, version, started_ms, ended_ms, "             \
	"ifnull(exit_code, -1), (SELECT count(*) FROM runs WHERE job_id = jobs.id) FROM jobs "

static const struct rows_kind job_rows = ROWS_KIND(struct query_job, job_columns);

int query_job(struct store *store, int64_t job_id, struct query_job **job)
{
	int count =
		rows_read(store, (void **)job, &job_rows, JOB_COLUMNS "WHERE id = ?", "i", job_id);

	return expect_one(store, count, "job", job_id);
}

int query_job_runs(struct store *store, int64_t job_id, int64_t **run_ids)
{
	static const struct rows_column columns[] = {{ROWS_INTEGER, 0}};
	static const struct rows_kind kind = {columns, 1, sizeof(int64_t)};

	return rows_read(store, (void **)run_ids, &kind,
		"SELECT id FROM runs WHERE job_id = ? ORDER BY started_ms, id", "i", job_id);
}

int query_windows(struct store *store, int64_t run_id, struct query_window **windows)
{
	static const struct rows_column columns[] = {
		ROWS_COLUMN(INTEGER, struct query_window, id),
		ROWS_COLUMN(INTEGER, struct query_window, run_id),
		ROWS_COLUMN(INTEGER, struct query_window, number),
		ROWS_COLUMN(INTEGER, struct query_window, bench),
		ROWS_COLUMN(TEXT, struct query_window, name),
		ROWS_COLUMN(TEXT, struct query_window, load),
		ROWS_COLUMN(TEXT, struct query_window, phase),
		ROWS_COLUMN(INTEGER, struct query_window, n),
		ROWS_COLUMN(INTEGER, struct query_window, period_us),
		ROWS_COLUMN(INTEGER, struct query_window, settle_ms),
		ROWS_COLUMN(INTEGER, struct query_window, duration_ms),
		ROWS_COLUMN(INTEGER, struct query_window, seed),
		ROWS_COLUMN(INTEGER, struct query_window, started_ms),
		ROWS_COLUMN(INTEGER, struct query_window, ended_ms),
	};
	static const struct rows_kind kind = ROWS_KIND(struct query_window, columns);

	return rows_read(store, (void **)windows, &kind,
		"SELECT id, run_id, number, bench, name, load, phase, n, period_us, settle_ms, "
		"duration_ms, seed, started_ms, ended_ms FROM windows WHERE run_id = ? "
		"ORDER BY number",
		"i", run_id);
}

int query_series(struct store *store, int64_t window_id, struct query_series **series)
{
	static const struct rows_column columns[] = {
		ROWS_COLUMN(INTEGER, struct query_series, id),
		ROWS_COLUMN(INTEGER, struct query_series, window_id),
		ROWS_COLUMN(INTEGER, struct query_series, number),
		ROWS_COLUMN(TEXT, struct query_series, name),
		ROWS_COLUMN(INTEGER, struct query_series, kind),
		ROWS_COLUMN(INTEGER, struct query_series, count),
		ROWS_COLUMN(INTEGER, struct query_series, clipped),
		ROWS_COLUMN(INTEGER, struct query_series, crc32c),
		ROWS_COLUMN(INTEGER, struct query_series, stored_bytes),
	};
	static const struct rows_kind kind = ROWS_KIND(struct query_series, columns);

	return rows_read(store, (void **)series, &kind,
		"SELECT id, window_id, number, name, kind, count, clipped, crc32c, length(data) "
		"FROM series WHERE window_id = ? ORDER BY number",
		"i", window_id);
}

int query_metrics(struct store *store, int64_t run_id, struct query_metric **metrics)
{
	static const struct rows_column columns[] = {
		ROWS_COLUMN(INTEGER, struct query_metric, window_id),
		ROWS_COLUMN(TEXT, struct query_metric, series),
		ROWS_COLUMN(TEXT, struct query_metric, name),
		ROWS_COLUMN(NUMBER, struct query_metric, value),
		ROWS_COLUMN(TEXT, struct query_metric, unit),
	};
	static const struct rows_kind kind = ROWS_KIND(struct query_metric, columns);

	return rows_read(store, (void **)metrics, &kind,
		"SELECT metrics.window_id, series.name, metrics.name, value, unit FROM metrics "
		"LEFT JOIN series ON series.id = series_id WHERE run_id = ? ORDER BY metrics.id",
		"i", run_id);
}

int query_evidence(struct store *store, int64_t run_id, struct query_evidence **evidence)
{
	static const struct rows_column columns[] = {
		ROWS_COLUMN(INTEGER, struct query_evidence, window),
		ROWS_COLUMN(TEXT, struct query_evidence, text),
	};
	static const struct rows_kind kind = ROWS_KIND(struct query_evidence, columns);

	return rows_read(store, (void **)evidence, &kind,
		"SELECT window, text FROM evidence WHERE run_id = ? ORDER BY window", "i", run_id);
}

int query_imports(struct store *store, const char *name, struct query_import **imports)
{
	static const struct rows_column columns[] = {
		ROWS_COLUMN(TEXT, struct query_import, name),
		ROWS_COLUMN(TEXT, struct query_import, format),
		ROWS_COLUMN(TEXT, struct query_import, results),
		ROWS_COLUMN(TEXT, struct query_import, source_name),
		ROWS_COLUMN(TEXT, struct query_import, source_sha256),
		ROWS_COLUMN(INTEGER, struct query_import, imported_ms),
	};
	static const struct rows_kind kind = ROWS_KIND(struct query_import, columns);

	return rows_read(store, (void **)imports, &kind,
		"SELECT name, format, results, source_name, source_sha256, imported_ms FROM imports "
		"WHERE ?1 IS NULL OR name = ?1 ORDER BY name",
		"t", name);
}

int query_gates(struct store *store, int64_t run_id, struct query_gate **gates)
{
	static const struct rows_column columns[] = {
		ROWS_COLUMN(TEXT, struct query_gate, id),
		ROWS_COLUMN(INTEGER, struct query_gate, window),
		ROWS_COLUMN(GATE, struct query_gate, verdict),
		ROWS_COLUMN(TEXT, struct query_gate, evidence),
		ROWS_COLUMN(TEXT, struct query_gate, threshold),
	};
	static const struct rows_kind kind = ROWS_KIND(struct query_gate, columns);

	return rows_read(store, (void **)gates, &kind,
		"SELECT gate, windows.number, verdict, evidence, threshold FROM gates "
		"LEFT JOIN windows ON windows.id = window_id WHERE gates.run_id = ? "
		"ORDER BY gates.id",
		"i", run_id);
}

int query_events(struct store *store, int64_t run_id, struct query_event **events)
{
	static const struct rows_column columns[] = {
		ROWS_COLUMN(INTEGER, struct query_event, at_ms),
		ROWS_COLUMN(INTEGER, struct query_event, window),
		ROWS_COLUMN(TEXT, struct query_event, kind),
		ROWS_COLUMN(TEXT, struct query_event, text),
	};
	static const struct rows_kind kind = ROWS_KIND(struct query_event, columns);

	return rows_read(store, (void **)events, &kind,
		"SELECT at_ms, windows.number, kind, text FROM events "
		"LEFT JOIN windows ON windows.id = window_id WHERE events.run_id = ? "
		"ORDER BY at_ms, events.id",
		"i", run_id);
}

int query_facts(struct store *store, int64_t run_id, struct query_fact **facts)
{
	static const struct rows_column columns[] = {
		ROWS_COLUMN(TEXT, struct query_fact, key),
		ROWS_COLUMN(TEXT, struct query_fact, value),
	};
	static const struct rows_kind kind = ROWS_KIND(struct query_fact, columns);

	return rows_read(store, (void **)facts, &kind,
		"SELECT key, value FROM facts WHERE run_id = ? ORDER BY key", "i", run_id);
}

int query_baselines(struct store *store, struct query_baseline **baselines)
{
	static const struct rows_column columns[] = {
		ROWS_COLUMN(TEXT, struct query_baseline, name),
		ROWS_COLUMN(TEXT, struct query_baseline, note),
		ROWS_COLUMN(INTEGER, struct query_baseline, created_ms),
		ROWS_COLUMN(INTEGER, struct query_baseline, run_id),
	};
	static const struct rows_kind kind = ROWS_KIND(struct query_baseline, columns);

	return rows_read(store, (void **)baselines, &kind,
		"SELECT name, note, created_ms, run_id FROM baselines JOIN baseline_runs ON "
		"baseline_id = baselines.id ORDER BY name, run_id",
		"");
}

const char *query_find_fact(
	const struct query_fact *facts, int count, const char *key, const char *fallback)
{
	for (int i = 0; i < count; i++) {
		if (!strcmp(facts[i].key, key))
			return facts[i].value;
	}
	return fallback;
}
