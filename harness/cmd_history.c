/* SPDX-License-Identifier: Apache-2.0 */
/* sameboard history */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/query.h"
#include "harness/catalogue.h"
#include "harness/cli.h"
#include "harness/history.h"
#include "harness/log.h"
#include "harness/rows.h"
#include "harness/show.h"
#include "harness/stats.h"
#include "harness/table.h"

#define US 1e6

/* One line of runs: a system, a phase and a series of the benchmark. */
struct trend {
	const char *system, *phase, *series;
	struct query_point *points; /* valid ones alone, borrowed strings */
	double *values;		    /* us of one operation */
	size_t count;
	double resolution; /* us of one count */
	struct history history;
};

static double to_us(const struct query_point *point)
{
	return point->value * US / point->counter_hz / point->batch;
}

static void trend_free(struct trend *trend)
{
	free(trend->points);
	free(trend->values);
}

/* The valid runs of one system among the points. */
static int fill(struct trend *trend, const struct query_point *points, int count)
{
	trend->points = calloc((size_t)count + 1, sizeof(*trend->points));
	trend->values = calloc((size_t)count + 1, sizeof(*trend->values));
	if (!trend->points || !trend->values)
		return -ENOMEM;
	for (int i = 0; i < count; i++) {
		if (points[i].verdict != VERDICT_PASS || !(points[i].counter_hz > 0) ||
			strcmp(points[i].system, trend->system) != 0)
			continue;
		trend->points[trend->count] = points[i];
		trend->values[trend->count++] = to_us(&points[i]);
		trend->resolution = US / points[i].counter_hz / points[i].batch;
	}
	return history_find(&trend->history, trend->values, trend->count, trend->resolution);
}

static const char *newest_name(enum history_newest newest)
{
	static const char *const names[] = {
		[HISTORY_TOO_FEW] = "too few runs before it",
		[HISTORY_WITHIN] = "within",
		[HISTORY_ABOVE] = "suspect: above",
		[HISTORY_BELOW] = "suspect: below",
	};

	return names[newest];
}

/* ------------------------------------------------------------------- print */

static void print_trend(const struct trend *trend, const char *name)
{
	static const char *const heading[] = {
		"from run", "to run", "since", "version", "runs", "median us", "change"};
	const struct history *history = &trend->history;
	struct table table;
	double before = NAN;
	char *text, utc[32];

	log_result("\n%s, %s: %zu valid runs, %zu steps\n", name, trend->system, trend->count,
		history->step_count);
	if (trend->count == 0)
		return;
	table_init(&table, "rrllrrr");
	for (size_t i = 0; i < sizeof(heading) / sizeof(heading[0]); i++)
		table_add(&table, "%s", heading[i]);
	for (size_t s = 0; s <= history->step_count; s++) {
		size_t from = s ? history->steps[s - 1] : 0;
		size_t until = s < history->step_count ? history->steps[s] : trend->count;
		double median = history_median(trend->values, from, until);

		table_add(&table, "%lld", (long long)trend->points[from].run_id);
		table_add(&table, "%lld", (long long)trend->points[until - 1].run_id);
		table_add(&table, "%s", show_utc(trend->points[from].started_ms, utc));
		table_add(&table, "%s", trend->points[from].image_version);
		table_add(&table, "%zu", until - from);
		table_add(&table, "%.3f", median);
		if (s)
			table_add(&table, "%+.1f %%", (median / before - 1) * 100);
		else
			table_add(&table, "-");
		before = median;
	}
	text = table_to_text(&table);
	log_result("%s", text ? text : "out of memory\n");
	free(text);
	table_fini(&table);
	log_result("newest, run %lld: %.3f us, %s",
		(long long)trend->points[trend->count - 1].run_id, trend->values[trend->count - 1],
		newest_name(history->newest));
	if (history->newest == HISTORY_TOO_FEW)
		log_result(" (%d are needed)\n", HISTORY_SIDE_MIN);
	else
		log_result(" %.3f .. %.3f us%s\n", history->low, history->high,
			history->newest == HISTORY_WITHIN ? "" : ": measure it 5 against 5");
}

static cJSON *trend_to_json(const struct trend *trend, const char *name)
{
	cJSON *json = cJSON_CreateObject(), *list;

	cJSON_AddStringToObject(json, "row", name);
	cJSON_AddStringToObject(json, "system", trend->system);
	list = cJSON_AddArrayToObject(json, "points");
	for (size_t i = 0; i < trend->count; i++) {
		cJSON *point = cJSON_CreateObject();

		cJSON_AddNumberToObject(point, "run", (double)trend->points[i].run_id);
		cJSON_AddNumberToObject(point, "started_ms", (double)trend->points[i].started_ms);
		cJSON_AddStringToObject(point, "version", trend->points[i].image_version);
		cJSON_AddNumberToObject(point, "us", trend->values[i]);
		cJSON_AddItemToArray(list, point);
	}
	list = cJSON_AddArrayToObject(json, "steps");
	for (size_t s = 0; s < trend->history.step_count; s++)
		cJSON_AddItemToArray(list,
			cJSON_CreateNumber((double)trend->points[trend->history.steps[s]].run_id));
	cJSON_AddStringToObject(json, "newest", newest_name(trend->history.newest));
	if (trend->history.newest != HISTORY_TOO_FEW) {
		cJSON_AddNumberToObject(json, "low_us", trend->history.low);
		cJSON_AddNumberToObject(json, "high_us", trend->history.high);
	}
	return json;
}

/* -------------------------------------------------------------------- rows */

/* "wake.idle/p99" to its parts; a benchmark and a statistic that exist. */
static int parse_row(const char *word, char bench[64], const char **statistic)
{
	const char *slash = strchr(word, '/');

	*statistic = slash ? slash + 1 : "";
	if (slash && slash - word < 64) {
		snprintf(bench, 64, "%.*s", (int)(slash - word), word);
		if (catalogue_find(bench) && stats_quantile_find(*statistic) >= 0)
			return 0;
	}
	log_error("\"%s\" is no row; expected BENCHMARK/STATISTIC like wake.idle/p99, of p50 p90 "
		  "p95 p99 p99.9 p99.99",
		word);
	return -EINVAL;
}

/* Each system in the points once, in the order of its first run. */
static int show_series(struct cli *cli, const struct query_points *which, cJSON *json,
	const struct query_point *points, int count)
{
	char name[128], row[96];

	rows_name(row, sizeof(row), which->window, which->phase, which->series);
	snprintf(name, sizeof(name), "%s %s", row, which->metric);
	for (int i = 0; i < count; i++) {
		struct trend trend = {.system = points[i].system};
		bool is_first = true;
		int rc;

		for (int j = 0; j < i && is_first; j++)
			is_first = strcmp(points[j].system, points[i].system) != 0;
		if (!is_first)
			continue;
		rc = fill(&trend, points, count);
		if (rc == 0 && json)
			cJSON_AddItemToArray(json, trend_to_json(&trend, name));
		else if (rc == 0)
			print_trend(&trend, name);
		trend_free(&trend);
		if (rc != 0)
			return rc;
		if (cli->system_count) /* asked for, so there is no other */
			break;
	}
	return 0;
}

static int show_bench(struct cli *cli, struct store *store, struct query_points *which, cJSON *json)
{
	struct query_figures *figures = NULL;
	int64_t run_id = 0;
	int count, rc = query_newest_with(store, which, &run_id);
	unsigned shown = 0;

	if (rc == -ENOENT) {
		log_error("no valid run has a row %s/%s; `sameboard list` shows the runs",
			which->window, which->metric);
		return CLI_USAGE;
	}
	count = rc == 0 ? query_figures(store, run_id, &figures) : rc;
	rc = count < 0 ? count : 0;
	for (int i = 0; rc == 0 && i < count; i++) {
		struct query_point *points = NULL;
		int found;

		if (strcmp(figures[i].window, which->window) != 0 ||
			!rows_is_compared((unsigned)figures[i].bench, figures[i].series))
			continue;
		which->phase = figures[i].phase[0] ? figures[i].phase : NULL;
		which->load = figures[i].load[0] ? figures[i].load : NULL;
		which->series = figures[i].series;
		found = query_points(store, which, &points);
		rc = found < 0 ? found : show_series(cli, which, json, points, found);
		shown += found > 0;
		free(points);
	}
	free(figures);
	if (rc != 0) {
		log_error("%s", rc == -ENOMEM ? "out of memory" : store_error(store));
		return CLI_LAB;
	}
	if (!shown)
		log_error("that run has no row of %s", which->window);
	return shown ? CLI_PASS : CLI_USAGE;
}

int command_history(struct cli *cli)
{
	struct query_points which = {.board = cli->board, .limit = cli->limit};
	cJSON *json = cli->json ? cJSON_CreateArray() : NULL;
	struct store *store = NULL;
	char bench[64];
	int exit_code = CLI_USAGE;

	if (cli->system_count > 1) {
		log_error("history: --os takes one system here");
	} else if (parse_row(cli->arguments[0], bench, &which.metric) == 0) {
		which.window = bench;
		which.system = cli->system_count ? cli->systems[0] : NULL;
		which.suite = cli->suite;
		if (store_open(&store, cli->db, STORE_READ_ONLY) != 0)
			log_error("%s", store_error(store));
		else
			exit_code = show_bench(cli, store, &which, json);
	}
	store_close(store);
	if (exit_code == CLI_PASS && json)
		return cli_print_json(json);
	cJSON_Delete(json);
	return exit_code;
}
