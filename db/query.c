/* SPDX-License-Identifier: Apache-2.0 */
#include "db/query.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/handle.h"
#include "db/rows.h"

#define COLUMN(kind, type, member)                                                                 \
	{                                                                                          \
		ROWS_##kind, offsetof(type, member)                                                \
	}

static const struct rows_column run_columns[] = {
	COLUMN(INTEGER, struct query_run, id),
	COLUMN(INTEGER, struct query_run, job_id),
	COLUMN(TEXT, struct query_run, board),
	COLUMN(TEXT, struct query_run, model),
	COLUMN(TEXT, struct query_run, system),
	COLUMN(TEXT, struct query_run, suite),
	COLUMN(TEXT, struct query_run, image_version),
	COLUMN(TEXT, struct query_run, image_file),
	COLUMN(TEXT, struct query_run, image_sha256),
	COLUMN(INTEGER, struct query_run, boot),
	COLUMN(INTEGER, struct query_run, seed),
	COLUMN(INTEGER, struct query_run, session),
	COLUMN(BOOLEAN, struct query_run, emulated),
	COLUMN(VERDICT, struct query_run, verdict),
	COLUMN(TEXT, struct query_run, reason),
	COLUMN(INTEGER, struct query_run, started_ms),
	COLUMN(INTEGER, struct query_run, ended_ms),
	COLUMN(INTEGER, struct query_run, windows),
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
	COLUMN(INTEGER, struct query_job, id),
	COLUMN(TEXT, struct query_job, command),
	COLUMN(TEXT, struct query_job, suite),
	COLUMN(TEXT, struct query_job, suite_json),
	COLUMN(TEXT, struct query_job, plan),
	COLUMN(TEXT, struct query_job, version),
	COLUMN(INTEGER, struct query_job, started_ms),
	COLUMN(INTEGER, struct query_job, ended_ms),
	COLUMN(INTEGER, struct query_job, exit_code),
	COLUMN(INTEGER, struct query_job, runs),
};

#define JOB_COLUMNS                                                                                \
	"SELECT id, command, suite, suite_json, plan, version, started_ms, ended_ms, "             \
	"ifnull(exit_code, -1), (SELECT count(*) FROM runs WHERE job_id = jobs.id) FROM jobs "

static const struct rows_kind job_rows = ROWS_KIND(struct query_job, job_columns);

int query_jobs(struct store *store, size_t limit, struct query_job **jobs)
{
	return rows_read(store, (void **)jobs, &job_rows,
		JOB_COLUMNS "ORDER BY started_ms DESC, id DESC LIMIT ?", "i",
		limit ? (int64_t)limit : (int64_t)-1);
}

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
		COLUMN(INTEGER, struct query_window, id),
		COLUMN(INTEGER, struct query_window, run_id),
		COLUMN(INTEGER, struct query_window, number),
		COLUMN(INTEGER, struct query_window, bench),
		COLUMN(TEXT, struct query_window, name),
		COLUMN(TEXT, struct query_window, load),
		COLUMN(TEXT, struct query_window, phase),
		COLUMN(INTEGER, struct query_window, n),
		COLUMN(INTEGER, struct query_window, period_us),
		COLUMN(INTEGER, struct query_window, settle_ms),
		COLUMN(INTEGER, struct query_window, duration_ms),
		COLUMN(INTEGER, struct query_window, seed),
		COLUMN(INTEGER, struct query_window, started_ms),
		COLUMN(INTEGER, struct query_window, ended_ms),
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
		COLUMN(INTEGER, struct query_series, id),
		COLUMN(INTEGER, struct query_series, window_id),
		COLUMN(INTEGER, struct query_series, number),
		COLUMN(TEXT, struct query_series, name),
		COLUMN(INTEGER, struct query_series, kind),
		COLUMN(INTEGER, struct query_series, count),
		COLUMN(INTEGER, struct query_series, clipped),
		COLUMN(INTEGER, struct query_series, crc32c),
		COLUMN(INTEGER, struct query_series, stored_bytes),
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
		COLUMN(INTEGER, struct query_metric, window_id),
		COLUMN(TEXT, struct query_metric, series),
		COLUMN(TEXT, struct query_metric, name),
		COLUMN(NUMBER, struct query_metric, value),
		COLUMN(TEXT, struct query_metric, unit),
	};
	static const struct rows_kind kind = ROWS_KIND(struct query_metric, columns);

	return rows_read(store, (void **)metrics, &kind,
		"SELECT metrics.window_id, series.name, metrics.name, value, unit FROM metrics "
		"LEFT JOIN series ON series.id = series_id WHERE run_id = ? ORDER BY metrics.id",
		"i", run_id);
}

/* A metric of the series; one of its window, which no series has. */
#define FIGURE(name) "max(CASE WHEN metrics.name = '" name "' THEN value END), "
#define OF_WINDOW(name)                                                                            \
	"(SELECT value FROM metrics AS of WHERE of.run_id = metrics.run_id AND of.window_id = "    \
	"windows.id AND of.series_id IS NULL AND of.name = '" name "'), "

int query_figures(struct store *store, int64_t run_id, struct query_figures **figures)
{
	static const struct rows_column columns[] = {
		COLUMN(INTEGER, struct query_figures, run_id),
		COLUMN(INTEGER, struct query_figures, number),
		COLUMN(INTEGER, struct query_figures, bench),
		COLUMN(TEXT, struct query_figures, window),
		COLUMN(TEXT, struct query_figures, phase),
		COLUMN(TEXT, struct query_figures, series),
		COLUMN(NUMBER, struct query_figures, counter_hz),
		COLUMN(NUMBER, struct query_figures, floor),
		COLUMN(NUMBER, struct query_figures, n),
		COLUMN(NUMBER, struct query_figures, early),
		COLUMN(NUMBER, struct query_figures, missed),
		COLUMN(NUMBER, struct query_figures, p50),
		COLUMN(NUMBER, struct query_figures, p90),
		COLUMN(NUMBER, struct query_figures, p95),
		COLUMN(NUMBER, struct query_figures, p99),
		COLUMN(NUMBER, struct query_figures, p999),
		COLUMN(NUMBER, struct query_figures, p9999),
		COLUMN(NUMBER, struct query_figures, max),
		COLUMN(NUMBER, struct query_figures, batch),
	};
	static const struct rows_kind kind = ROWS_KIND(struct query_figures, columns);

	return rows_read(store, (void **)figures, &kind,
		"SELECT metrics.run_id, windows.number, bench, windows.name, phase, series.name, " OF_WINDOW(
			"counter_hz") OF_WINDOW("floor") FIGURE("n") FIGURE("early")
			FIGURE("missed") FIGURE("p50") FIGURE("p90") FIGURE("p95") FIGURE(
				"p99") FIGURE("p99.9") FIGURE("p99.99")
				FIGURE("max") "ifnull(max(CASE WHEN metrics.name = 'batch' THEN value END), 1) "
					      "FROM metrics JOIN series ON series.id = series_id "
					      "JOIN windows ON windows.id = metrics.window_id WHERE metrics.run_id = ? "
					      "GROUP BY series.id HAVING sum(metrics.name = 'p50') "
					      "ORDER BY windows.number, series.number",
		"i", run_id);
}

int query_gates(struct store *store, int64_t run_id, struct query_gate **gates)
{
	static const struct rows_column columns[] = {
		COLUMN(TEXT, struct query_gate, id),
		COLUMN(INTEGER, struct query_gate, window),
		COLUMN(GATE, struct query_gate, verdict),
		COLUMN(TEXT, struct query_gate, evidence),
		COLUMN(TEXT, struct query_gate, threshold),
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
		COLUMN(INTEGER, struct query_event, at_ms),
		COLUMN(INTEGER, struct query_event, window),
		COLUMN(TEXT, struct query_event, kind),
		COLUMN(TEXT, struct query_event, text),
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
		COLUMN(TEXT, struct query_fact, key),
		COLUMN(TEXT, struct query_fact, value),
	};
	static const struct rows_kind kind = ROWS_KIND(struct query_fact, columns);

	return rows_read(store, (void **)facts, &kind,
		"SELECT key, value FROM facts WHERE run_id = ? ORDER BY key", "i", run_id);
}

int query_baselines(struct store *store, struct query_baseline **baselines)
{
	static const struct rows_column columns[] = {
		COLUMN(TEXT, struct query_baseline, name),
		COLUMN(TEXT, struct query_baseline, note),
		COLUMN(INTEGER, struct query_baseline, created_ms),
		COLUMN(INTEGER, struct query_baseline, run_id),
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
