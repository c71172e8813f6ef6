/* SPDX-License-Identifier: Apache-2.0 */
/* sameboard list, show, gates */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "db/query.h"
#include "harness/cli.h"
#include "harness/gates.h"
#include "harness/log.h"
#include "harness/rows.h"
#include "harness/table.h"

#define LIST_LIMIT 20

static const char *utc_text(int64_t at_ms, char text[32])
{
	time_t seconds = (time_t)(at_ms / 1000);
	struct tm tm;

	if (at_ms == 0 || !gmtime_r(&seconds, &tm) ||
		strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		strcpy(text, "-");
	return text;
}

/* ------------------------------------------------------------------- list */

static cJSON *run_to_json(const struct query_run *run)
{
	cJSON *json = cJSON_CreateObject();
	char text[32];

	cJSON_AddNumberToObject(json, "run", (double)run->id);
	cJSON_AddNumberToObject(json, "job", (double)run->job_id);
	cJSON_AddStringToObject(json, "suite", run->suite);
	cJSON_AddStringToObject(json, "board", run->board);
	cJSON_AddStringToObject(json, "model", run->model);
	cJSON_AddStringToObject(json, "system", run->system);
	cJSON_AddStringToObject(json, "image_version", run->image_version);
	cJSON_AddStringToObject(json, "image_sha256", run->image_sha256);
	cJSON_AddNumberToObject(json, "boot", (double)run->boot);
	cJSON_AddBoolToObject(json, "emulated", run->emulated);
	cJSON_AddStringToObject(json, "verdict", verdict_name(run->verdict));
	cJSON_AddStringToObject(json, "reason", run->reason);
	cJSON_AddStringToObject(json, "started", utc_text(run->started_ms, text));
	cJSON_AddStringToObject(json, "ended", utc_text(run->ended_ms, text));
	return json;
}

static int print_runs(struct cli *cli, const struct query_run *runs, int count)
{
	struct table table;
	char *text, started[32];

	if (cli->json) {
		cJSON *json = cJSON_CreateArray();

		for (int i = 0; i < count; i++)
			cJSON_AddItemToArray(json, run_to_json(&runs[i]));
		return cli_print_json(json);
	}
	table_init(&table, "rrlllll");
	for (int i = 0; i < 7; i++)
		table_add(&table, "%s",
			(const char *const[]){"run", "job", "started", "board", "system", "verdict",
				"reason"}[i]);
	for (int i = 0; i < count; i++) {
		table_add(&table, "%lld", (long long)runs[i].id);
		table_add(&table, "%lld", (long long)runs[i].job_id);
		table_add(&table, "%s", utc_text(runs[i].started_ms, started));
		table_add(&table, "%s", runs[i].board);
		table_add(&table, "%s", runs[i].system);
		table_add(&table, "%s", verdict_name(runs[i].verdict));
		table_add(&table, "%s", runs[i].reason);
	}
	text = table_to_text(&table);
	log_result("%s", text ? text : "");
	free(text);
	table_fini(&table);
	return text ? CLI_PASS : CLI_LAB;
}

int command_list(struct cli *cli)
{
	struct query_filter filter = {.limit = cli->limit ? cli->limit : LIST_LIMIT};
	struct query_run *runs = NULL;
	struct store *store = NULL;
	int count, exit_code = CLI_USAGE;

	if (cli->system_count > 1) {
		log_error("list: --os takes one system here");
		return CLI_USAGE;
	}
	filter.system = cli->system_count ? cli->systems[0] : NULL;
	count = store_open(&store, cli->db, STORE_READ_ONLY);
	if (count == 0)
		count = query_runs(store, &filter, &runs);
	if (count < 0)
		log_error("%s", store_error(store));
	else
		exit_code = print_runs(cli, runs, count);
	free(runs);
	store_close(store);
	return exit_code;
}

/* ------------------------------------------------------------------- show */

/* Everything of one run, in the arrays of the queries. */
struct shown {
	struct query_run *run;
	struct query_window *windows;
	struct query_metric *metrics;
	struct query_gate *gates;
	struct query_event *events;
	struct query_fact *facts;
	int window_count, metric_count, gate_count, event_count, fact_count;
};

static int load_shown(struct store *store, int64_t run_id, struct shown *s)
{
	int rc = query_run(store, run_id, &s->run);

	if (rc < 0 || (rc = s->window_count = query_windows(store, run_id, &s->windows)) < 0 ||
		(rc = s->metric_count = query_metrics(store, run_id, &s->metrics)) < 0 ||
		(rc = s->gate_count = query_gates(store, run_id, &s->gates)) < 0 ||
		(rc = s->event_count = query_events(store, run_id, &s->events)) < 0)
		return rc;
	rc = s->fact_count = query_facts(store, run_id, &s->facts);
	return rc < 0 ? rc : 0;
}

static void free_shown(struct shown *s)
{
	free(s->run);
	free(s->windows);
	free(s->metrics);
	free(s->gates);
	free(s->events);
	free(s->facts);
}

static void add_number(cJSON *json, const char *name, double value)
{
	if (isnan(value))
		cJSON_AddNullToObject(json, name);
	else
		cJSON_AddNumberToObject(json, name, value);
}

static cJSON *metrics_to_json(const struct shown *s, int64_t window_id)
{
	cJSON *json = cJSON_CreateArray();

	for (int i = 0; i < s->metric_count; i++) {
		cJSON *metric;

		if (s->metrics[i].window_id != window_id)
			continue;
		metric = cJSON_CreateObject();
		cJSON_AddStringToObject(metric, "series", s->metrics[i].series);
		cJSON_AddStringToObject(metric, "name", s->metrics[i].name);
		add_number(metric, "value", s->metrics[i].value);
		cJSON_AddStringToObject(metric, "unit", s->metrics[i].unit);
		cJSON_AddItemToArray(json, metric);
	}
	return json;
}

static cJSON *series_to_json(struct store *store, int64_t window_id)
{
	struct query_series *series = NULL;
	int count = query_series(store, window_id, &series);
	cJSON *json = cJSON_CreateArray();

	for (int i = 0; i < count; i++) {
		cJSON *item = cJSON_CreateObject();
		char crc[16];

		snprintf(crc, sizeof(crc), "%08llx", (unsigned long long)series[i].crc32c);
		cJSON_AddStringToObject(item, "name", series[i].name);
		cJSON_AddNumberToObject(item, "count", (double)series[i].count);
		cJSON_AddNumberToObject(item, "clipped", (double)series[i].clipped);
		cJSON_AddStringToObject(item, "crc32c", crc);
		cJSON_AddNumberToObject(item, "stored_bytes", (double)series[i].stored_bytes);
		cJSON_AddItemToArray(json, item);
	}
	free(series);
	return json;
}

static int show_json(struct store *store, const struct shown *s)
{
	cJSON *json = run_to_json(s->run), *list;
	char text[32];

	list = cJSON_AddArrayToObject(json, "gates");
	for (int i = 0; i < s->gate_count; i++) {
		cJSON *gate = cJSON_CreateObject();

		cJSON_AddStringToObject(gate, "id", s->gates[i].id);
		cJSON_AddNumberToObject(gate, "window", (double)s->gates[i].window);
		cJSON_AddStringToObject(gate, "verdict", verdict_gate_name(s->gates[i].verdict));
		cJSON_AddStringToObject(gate, "evidence", s->gates[i].evidence);
		cJSON_AddStringToObject(gate, "threshold", s->gates[i].threshold);
		cJSON_AddItemToArray(list, gate);
	}
	list = cJSON_AddArrayToObject(json, "windows");
	for (int i = 0; i < s->window_count; i++) {
		const struct query_window *w = &s->windows[i];
		cJSON *window = cJSON_CreateObject();

		cJSON_AddNumberToObject(window, "number", (double)w->number);
		cJSON_AddStringToObject(window, "bench", w->name);
		cJSON_AddStringToObject(window, "load", w->load);
		cJSON_AddStringToObject(window, "phase", w->phase);
		cJSON_AddNumberToObject(window, "n", (double)w->n);
		cJSON_AddNumberToObject(window, "period_us", (double)w->period_us);
		cJSON_AddItemToObject(window, "series", series_to_json(store, w->id));
		cJSON_AddItemToObject(window, "metrics", metrics_to_json(s, w->id));
		cJSON_AddItemToArray(list, window);
	}
	cJSON_AddItemToObject(json, "metrics", metrics_to_json(s, 0));
	list = cJSON_AddObjectToObject(json, "facts");
	for (int i = 0; i < s->fact_count; i++)
		cJSON_AddStringToObject(list, s->facts[i].key, s->facts[i].value);
	list = cJSON_AddArrayToObject(json, "events");
	for (int i = 0; i < s->event_count; i++) {
		cJSON *event = cJSON_CreateObject();

		cJSON_AddStringToObject(event, "at", utc_text(s->events[i].at_ms, text));
		cJSON_AddNumberToObject(event, "window", (double)s->events[i].window);
		cJSON_AddStringToObject(event, "kind", s->events[i].kind);
		cJSON_AddStringToObject(event, "text", s->events[i].text);
		cJSON_AddItemToArray(list, event);
	}
	return cli_print_json(json);
}

static double metric_of(
	const struct shown *s, int64_t window_id, const char *series, const char *name)
{
	for (int i = 0; i < s->metric_count; i++)
		if (s->metrics[i].window_id == window_id &&
			strcmp(s->metrics[i].series, series) == 0 &&
			strcmp(s->metrics[i].name, name) == 0)
			return s->metrics[i].value;
	return NAN;
}

static void show_windows(const struct shown *s)
{
	static const char *const heading[] = {"window", "row", "n", "floor us", "min us", "p50 us",
		"p99 us", "p99.9 us", "max us", "missed"};
	struct table table;
	char *text;

	table_init(&table, "rlrrrrrrrr");
	for (size_t i = 0; i < sizeof(heading) / sizeof(heading[0]); i++)
		table_add(&table, "%s", heading[i]);
	for (int m = 0; m < s->metric_count; m++) {
		const struct query_metric *metric = &s->metrics[m];
		const struct query_window *w = NULL;
		double to_us, batch;
		char name[96];

		for (int i = 0; i < s->window_count; i++)
			if (s->windows[i].id == metric->window_id)
				w = &s->windows[i];
		if (!w || strcmp(metric->name, "n") != 0 || !rows_is_measured(metric->series))
			continue;
		batch = metric_of(s, w->id, metric->series, "batch");
		batch = batch >= 1 ? batch : 1;
		to_us = 1e6 / metric_of(s, w->id, "", "counter_hz") / batch;
		rows_name(name, sizeof(name), w->name, w->phase, metric->series);
		table_add(&table, "%lld", (long long)w->number);
		table_add(&table, "%s", name);
		if (batch > 1)
			table_add(&table, "%.0f, means of %.0f", metric->value, batch);
		else
			table_add(&table, "%.0f", metric->value);
		table_add(&table, "%.3f", metric_of(s, w->id, "", "floor") * to_us);
		for (int i = 4; i < 9; i++) {
			char statistic[16];

			snprintf(statistic, sizeof(statistic), "%.*s",
				(int)strcspn(heading[i], " "), heading[i]);
			table_add(&table, "%.3f",
				metric_of(s, w->id, metric->series, statistic) * to_us);
		}
		table_add(&table, "%.0f", metric_of(s, w->id, metric->series, "missed"));
	}
	text = table_to_text(&table);
	log_result("\n%s", text ? text : "");
	free(text);
	table_fini(&table);
}

static void show_gates(const struct shown *s)
{
	struct table table;
	char *text;

	table_init(&table, "rlll");
	for (int i = 0; i < 4; i++)
		table_add(&table, "%s",
			(const char *const[]){"window", "gate", "verdict", "evidence"}[i]);
	for (int i = 0; i < s->gate_count; i++) {
		if (s->gates[i].window)
			table_add(&table, "%lld", (long long)s->gates[i].window);
		else
			table_add(&table, "run");
		table_add(&table, "%s", s->gates[i].id);
		table_add(&table, "%s", verdict_gate_name(s->gates[i].verdict));
		table_add(&table, "%s", s->gates[i].evidence);
	}
	text = table_to_text(&table);
	log_result("\n%s", text ? text : "");
	free(text);
	table_fini(&table);
}

static int show_text(const struct shown *s)
{
	const struct query_run *run = s->run;
	char text[32];

	log_result("run %lld of job %lld: %s: %s\n", (long long)run->id, (long long)run->job_id,
		verdict_name(run->verdict), run->reason);
	log_result("board %s (%s), system %s %s, boot %lld, suite %s, started %s%s\n", run->board,
		run->model, run->system, run->image_version, (long long)run->boot, run->suite,
		utc_text(run->started_ms, text), run->emulated ? ", EMULATED" : "");
	log_result("image %s, SHA-256 %s\n", run->image_file, run->image_sha256);
	show_windows(s);
	show_gates(s);
	log_result("\nfacts:\n");
	for (int i = 0; i < s->fact_count; i++)
		log_result("  %s = %s\n", s->facts[i].key, s->facts[i].value);
	log_result("\nevents:\n");
	for (int i = 0; i < s->event_count; i++)
		log_result("  %s  %-12s %s\n", utc_text(s->events[i].at_ms, text),
			s->events[i].kind, s->events[i].text);
	return CLI_PASS;
}

/* The raw line as it was recorded, what came from the board alone. */
static int show_console(struct store *store, int64_t run_id)
{
	struct store_mark *marks = NULL;
	char *data = NULL;
	size_t size, mark_count;
	int rc = query_console(store, run_id, &data, &size, &marks, &mark_count);

	if (rc != 0) {
		log_error("%s", store_error(store));
		return CLI_USAGE;
	}
	for (size_t i = 0; i < mark_count; i++) {
		size_t from = (size_t)marks[i].offset;
		size_t to = i + 1 < mark_count ? (size_t)marks[i + 1].offset : size;

		if (!marks[i].sent && to > from)
			log_bytes(data + from, to - from);
	}
	free(data);
	free(marks);
	return CLI_PASS;
}

int command_show(struct cli *cli)
{
	struct store *store = NULL;
	struct shown shown = {0};
	int64_t run_id;
	int exit_code = CLI_USAGE;
	int rc = store_open(&store, cli->db, STORE_READ_ONLY);

	if (rc == 0)
		rc = query_resolve_run(store, cli->arguments[0], &run_id);
	if (rc == 0)
		rc = load_shown(store, run_id, &shown);
	if (rc < 0)
		log_error("%s", store_error(store));
	else if (cli->console)
		exit_code = show_console(store, run_id);
	else
		exit_code = cli->json ? show_json(store, &shown) : show_text(&shown);
	free_shown(&shown);
	store_close(store);
	return exit_code;
}

/* ------------------------------------------------------------------ gates */

int command_gates(struct cli *cli)
{
	cJSON *json = cli->json ? cJSON_CreateArray() : NULL;

	for (int i = 0; i < GATES; i++) {
		const struct gate_description *gate = gate_describe(i);
		cJSON *item;

		if (!cli->json) {
			log_result(
				"%s (of %s)\n  proves:    %s\n  threshold: %s\n  because:   %s\n\n",
				gate->id, gate->is_of_window ? "each window" : "the run",
				gate->proves, gate->threshold, gate->source);
			continue;
		}
		item = cJSON_CreateObject();
		cJSON_AddStringToObject(item, "id", gate->id);
		cJSON_AddStringToObject(item, "of", gate->is_of_window ? "window" : "run");
		cJSON_AddStringToObject(item, "proves", gate->proves);
		cJSON_AddStringToObject(item, "threshold", gate->threshold);
		cJSON_AddStringToObject(item, "because", gate->source);
		cJSON_AddItemToArray(json, item);
	}
	return cli->json ? cli_print_json(json) : CLI_PASS;
}
