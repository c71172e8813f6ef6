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
#include "harness/show.h"
#include "harness/table.h"

#define LIST_LIMIT 20

/* ------------------------------------------------------------------- list */

static int print_runs(struct cli *cli, const struct query_run *runs, int count)
{
	struct table table;
	char *text, started[32];

	if (cli->json) {
		cJSON *json = cJSON_CreateArray();

		for (int i = 0; i < count; i++)
			cJSON_AddItemToArray(json, show_run_to_json(&runs[i]));
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
		table_add(&table, "%s", show_utc(runs[i].started_ms, started));
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

static double metric_of(
	const struct show *s, int64_t window_id, const char *series, const char *name)
{
	for (int i = 0; i < s->metric_count; i++)
		if (s->metrics[i].window_id == window_id &&
			strcmp(s->metrics[i].series, series) == 0 &&
			strcmp(s->metrics[i].name, name) == 0)
			return s->metrics[i].value;
	return NAN;
}

static void show_windows(const struct show *s)
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
		const char *unit;
		double to_us, batch;
		char name[96];

		for (int i = 0; i < s->window_count; i++)
			if (s->windows[i].id == metric->window_id)
				w = &s->windows[i];
		if (!w || strcmp(metric->name, "n") != 0 || !rows_is_measured(metric->series))
			continue;
		batch = metric_of(s, w->id, metric->series, "batch");
		batch = batch >= 1 ? batch : 1;
		unit = rows_unit(metric->series);
		to_us = unit ? 1 : 1e6 / metric_of(s, w->id, "", "counter_hz") / batch;
		rows_name(name, sizeof(name), w->name, w->phase, metric->series);
		table_add(&table, "%lld", (long long)w->number);
		table_add(&table, "%s", name);
		if (batch > 1)
			table_add(&table, "%.0f, means of %.0f", metric->value, batch);
		else
			table_add(&table, "%.0f", metric->value);
		if (unit)
			table_add(&table, "-");
		else
			table_add(&table, "%.3f", metric_of(s, w->id, "", "floor") * to_us);
		for (int i = 4; i < 9; i++) {
			char statistic[16];

			snprintf(statistic, sizeof(statistic), "%.*s",
				(int)strcspn(heading[i], " "), heading[i]);
			if (unit)
				table_add(&table, "%.0f %s",
					metric_of(s, w->id, metric->series, statistic), unit);
			else
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

static void add_view(struct table *table, const struct show *s, int64_t window_id,
	const char *series, const char *prefix)
{
	static const char *const statistics[] = {"p99", "p99.9", "max"};
	double to_us = 1e6 / metric_of(s, window_id, "", "counter_hz");
	char name[32];

	snprintf(name, sizeof(name), "%sn", prefix);
	table_add(table, "%.0f", metric_of(s, window_id, series, name));
	snprintf(name, sizeof(name), "%smissed", prefix);
	table_add(table, "%.0f", metric_of(s, window_id, series, name));
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "%s%s", prefix, statistics[i]);
		table_add(table, "%.3f", metric_of(s, window_id, series, name) * to_us);
	}
}

/* Both views of each lateness: every release, and those that a tool which skips would have. */
static void show_skipped(const struct show *s)
{
	static const char *const heading[] = {
		"window", "row", "view", "early", "n", "missed", "p99 us", "p99.9 us", "max us"};
	struct table table;
	char *text;
	bool found = false;

	table_init(&table, "rllrrrrrr");
	for (size_t i = 0; i < sizeof(heading) / sizeof(heading[0]); i++)
		table_add(&table, "%s", heading[i]);
	for (int m = 0; m < s->metric_count; m++) {
		const struct query_metric *metric = &s->metrics[m];
		const struct query_window *w = NULL;
		char name[96];

		for (int i = 0; i < s->window_count; i++)
			if (s->windows[i].id == metric->window_id)
				w = &s->windows[i];
		if (!w || strcmp(metric->name, "skipped.n") != 0)
			continue;
		found = true;
		rows_name(name, sizeof(name), w->name, w->phase, metric->series);
		table_add(&table, "%lld", (long long)w->number);
		table_add(&table, "%s", name);
		table_add(&table, "every release");
		table_add(&table, "%.0f", metric_of(s, w->id, metric->series, "early"));
		add_view(&table, s, w->id, metric->series, "");
		table_add(&table, "%s", "");
		table_add(&table, "%s", "");
		table_add(&table, "skipped");
		table_add(&table, "%s", "");
		add_view(&table, s, w->id, metric->series, "skipped.");
	}
	text = table_to_text(&table);
	if (found)
		log_result(
			"\nreleases that were missed counted, and skipped as other tools do:\n%s",
			text ? text : "");
	free(text);
	table_fini(&table);
}

static void show_gates(const struct show *s)
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

static int show_text(const struct show *s)
{
	const struct query_run *run = s->run;
	char text[32];

	log_result("run %lld of job %lld: %s: %s\n", (long long)run->id, (long long)run->job_id,
		verdict_name(run->verdict), run->reason);
	log_result("board %s (%s), system %s %s, boot %lld, suite %s, started %s%s\n", run->board,
		run->model, run->system, run->image_version, (long long)run->boot, run->suite,
		show_utc(run->started_ms, text), run->emulated ? ", EMULATED" : "");
	log_result("image %s, SHA-256 %s\n", run->image_file, run->image_sha256);
	show_windows(s);
	show_skipped(s);
	show_gates(s);
	log_result("\nfacts:\n");
	for (int i = 0; i < s->fact_count; i++)
		log_result("  %s = %s\n", s->facts[i].key, s->facts[i].value);
	log_result("\nevents:\n");
	for (int i = 0; i < s->event_count; i++)
		log_result("  %s  %-12s %s\n", show_utc(s->events[i].at_ms, text),
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
	struct show shown = {0};
	int64_t run_id;
	int exit_code = CLI_USAGE;
	int rc = store_open(&store, cli->db, STORE_READ_ONLY);

	if (rc == 0)
		rc = query_resolve_run(store, cli->arguments[0], &run_id);
	if (rc == 0)
		rc = show_load(store, run_id, &shown);
	if (rc < 0)
		log_error("%s", store_error(store));
	else if (cli->console)
		exit_code = show_console(store, run_id);
	else
		exit_code =
			cli->json ? cli_print_json(show_to_json(store, &shown)) : show_text(&shown);
	show_fini(&shown);
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
