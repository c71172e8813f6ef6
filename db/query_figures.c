/* SPDX-License-Identifier: Apache-2.0 */
/* What was reckoned of samples: of one run, and of one row over many runs. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "db/query.h"
#include "db/rows.h"

/* A metric of the series. */
#define FIGURE(name) "max(CASE WHEN metrics.name = '" name "' THEN value END), "

int query_figures(struct store *store, int64_t run_id, struct query_figures **figures)
{
	static const struct rows_column columns[] = {
		ROWS_COLUMN(INTEGER, struct query_figures, run_id),
		ROWS_COLUMN(INTEGER, struct query_figures, number),
		ROWS_COLUMN(INTEGER, struct query_figures, bench),
		ROWS_COLUMN(TEXT, struct query_figures, window),
		ROWS_COLUMN(TEXT, struct query_figures, phase),
		ROWS_COLUMN(TEXT, struct query_figures, load),
		ROWS_COLUMN(TEXT, struct query_figures, series),
		ROWS_COLUMN(INTEGER, struct query_figures, window_id),
		ROWS_COLUMN(INTEGER, struct query_figures, series_id),
		ROWS_COLUMN(INTEGER, struct query_figures, period_us),
		ROWS_COLUMN(NUMBER, struct query_figures, counter_hz),
		ROWS_COLUMN(NUMBER, struct query_figures, floor),
		ROWS_COLUMN(NUMBER, struct query_figures, bracket),
		ROWS_COLUMN(NUMBER, struct query_figures, n),
		ROWS_COLUMN(NUMBER, struct query_figures, early),
		ROWS_COLUMN(NUMBER, struct query_figures, missed),
		ROWS_COLUMN(NUMBER, struct query_figures, min),
		ROWS_COLUMN(NUMBER, struct query_figures, mean),
		ROWS_COLUMN(NUMBER, struct query_figures, sd),
		ROWS_COLUMN(NUMBER, struct query_figures, p50),
		ROWS_COLUMN(NUMBER, struct query_figures, p90),
		ROWS_COLUMN(NUMBER, struct query_figures, p95),
		ROWS_COLUMN(NUMBER, struct query_figures, p99),
		ROWS_COLUMN(NUMBER, struct query_figures, p999),
		ROWS_COLUMN(NUMBER, struct query_figures, p9999),
		ROWS_COLUMN(NUMBER, struct query_figures, max),
		ROWS_COLUMN(NUMBER, struct query_figures, max_index),
		ROWS_COLUMN(NUMBER, struct query_figures, batch),
	};
	static const struct rows_kind kind = ROWS_KIND(struct query_figures, columns);

	/* What belongs to a window and to no series is gathered once. */
	return rows_read(store, (void **)figures, &kind,
		"WITH whole AS MATERIALIZED (SELECT window_id AS id, "
		"max(CASE WHEN name = 'counter_hz' THEN value END) AS hz, "
		"max(CASE WHEN name = 'floor' THEN value END) AS floor, "
		"max(CASE WHEN name = 'bracket' THEN value END) AS bracket "
		"FROM metrics WHERE run_id = ?1 AND series_id IS NULL GROUP BY window_id) "
		"SELECT metrics.run_id, windows.number, bench, windows.name, phase, load, "
		"series.name, windows.id, series.id, period_us, whole.hz, whole.floor, "
		"whole.bracket, "
		/* clang-format off */
		FIGURE("n") FIGURE("early") FIGURE("missed") FIGURE("min") FIGURE("mean")
		FIGURE("sd") FIGURE("p50") FIGURE("p90") FIGURE("p95") FIGURE("p99")
		FIGURE("p99.9") FIGURE("p99.99") FIGURE("max") FIGURE("max_index")
		/* clang-format on */
		"ifnull(max(CASE WHEN metrics.name = 'batch' THEN value END), 1) "
		"FROM metrics JOIN series ON series.id = series_id "
		"JOIN windows ON windows.id = metrics.window_id "
		"LEFT JOIN whole ON whole.id = windows.id WHERE metrics.run_id = ?1 "
		"GROUP BY series.id HAVING sum(metrics.name = 'p50') "
		"ORDER BY windows.number, series.number",
		"i", run_id);
}

#define OF_SERIES(metric)                                                                          \
	"(SELECT value FROM metrics WHERE window_id = windows.id AND name = " metric               \
	" AND series_id = series.id)"

int query_points(struct store *store, const struct query_points *which, struct query_point **points)
{
	static const struct rows_column columns[] = {
		ROWS_COLUMN(INTEGER, struct query_point, run_id),
		ROWS_COLUMN(INTEGER, struct query_point, started_ms),
		ROWS_COLUMN(TEXT, struct query_point, system),
		ROWS_COLUMN(TEXT, struct query_point, image_version),
		ROWS_COLUMN(TEXT, struct query_point, image_sha256),
		ROWS_COLUMN(VERDICT, struct query_point, verdict),
		ROWS_COLUMN(NUMBER, struct query_point, value),
		ROWS_COLUMN(NUMBER, struct query_point, counter_hz),
		ROWS_COLUMN(NUMBER, struct query_point, batch),
	};
	static const struct rows_kind kind = ROWS_KIND(struct query_point, columns);

	return rows_read(store, (void **)points, &kind,
		"SELECT * FROM (SELECT runs.id, runs.started_ms, runs.system, images.version, "
		"images.sha256, verdict, " OF_SERIES(
			"?4") " AS value, "
			      "(SELECT value FROM metrics WHERE window_id = windows.id AND "
			      "name = 'counter_hz'), ifnull(" OF_SERIES(
				      "'batch'") ", 1) "
						 "FROM windows JOIN runs ON runs.id = windows.run_id "
						 "JOIN series ON series.window_id = windows.id AND series.name = ?3 "
						 "JOIN jobs ON jobs.id = job_id JOIN boards ON boards.id = board_id "
						 "JOIN images ON images.id = image_id "
						 "WHERE windows.name = ?1 AND (?2 IS NULL OR phase = ?2) "
						 "AND (?5 IS NULL OR boards.name = ?5) AND (?6 IS NULL OR jobs.suite = ?6) "
						 "AND (?7 IS NULL OR runs.system = ?7) AND verdict IS NOT NULL "
						 "AND (?9 = 0 OR job_id = ?9) AND (?10 IS NULL OR load = ?10) "
						 "ORDER BY runs.started_ms DESC, runs.id DESC LIMIT ?8) "
						 "WHERE value IS NOT NULL ORDER BY 2, 1",
		"tttttttiit", which->window, which->phase, which->series, which->metric,
		which->board, which->suite, which->system,
		which->limit ? (int64_t)which->limit : (int64_t)-1, which->job_id, which->load);
}

int query_newest_with(struct store *store, const struct query_points *which, int64_t *run_id)
{
	static const struct rows_column columns[] = {{ROWS_INTEGER, 0}};
	static const struct rows_kind kind = {columns, 1, sizeof(int64_t)};
	int64_t *found = NULL;
	int count = rows_read(store, (void **)&found, &kind,
		"SELECT runs.id FROM runs CROSS JOIN windows ON windows.run_id = runs.id "
		"JOIN jobs ON jobs.id = job_id JOIN boards ON boards.id = board_id "
		"WHERE windows.name = ?1 AND verdict = 'pass' "
		"AND (?2 IS NULL OR boards.name = ?2) AND (?3 IS NULL OR jobs.suite = ?3) "
		"AND (?4 IS NULL OR runs.system = ?4) "
		"ORDER BY runs.started_ms DESC, runs.id DESC LIMIT 1",
		"tttt", which->window, which->board, which->suite, which->system);

	*run_id = count > 0 ? *found : 0;
	free(found);
	return count < 0 ? count : count ? 0 : -ENOENT;
}

int query_metric(struct store *store, int64_t run_id, const char *name, double *value)
{
	static const struct rows_column columns[] = {{ROWS_NUMBER, 0}};
	static const struct rows_kind kind = {columns, 1, sizeof(double)};
	double *found = NULL;
	int count = rows_read(store, (void **)&found, &kind,
		"SELECT value FROM metrics WHERE run_id = ? AND name = ? AND series_id IS NULL "
		"ORDER BY id LIMIT 1",
		"it", run_id, name);

	*value = count > 0 ? *found : (double)NAN;
	free(found);
	return count < 0 ? count : 0;
}
