/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/show.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/board.h"

const char *show_utc(int64_t at_ms, char text[32])
{
	time_t seconds = (time_t)(at_ms / 1000);
	struct tm tm;

	if (at_ms == 0 || !gmtime_r(&seconds, &tm) ||
		strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		strcpy(text, "-");
	return text;
}

static cJSON *card_to_json(const struct cardlog *card)
{
	cJSON *json = cJSON_CreateObject();
	char when[32];

	cJSON_AddStringToObject(json, "device", card->device);
	cJSON_AddNumberToObject(json, "size_bytes", (double)card->size_bytes);
	cJSON_AddStringToObject(json, "sha256", card->sha256);
	cJSON_AddNumberToObject(json, "writes", (double)card->writes);
	cJSON_AddNumberToObject(json, "errors", (double)card->errors);
	cJSON_AddStringToObject(json, "error", card->error);
	if (card->written_ms)
		cJSON_AddStringToObject(json, "written", show_utc(card->written_ms, when));
	return json;
}

cJSON *show_board_to_json(const struct lab_board *board, const struct queue_health *health,
	const struct cardlog *card)
{
	cJSON *json = cJSON_CreateObject();
	char holder[256], since[32];

	board_get_holder(board, holder, sizeof(holder));
	cJSON_AddStringToObject(json, "board", board->name);
	cJSON_AddStringToObject(json, "model", board->model);
	cJSON_AddStringToObject(json, "console", board->console.driver);
	cJSON_AddStringToObject(json, "power", board->power.driver);
	cJSON_AddStringToObject(json, "sdmux", board->has_sdmux ? board->sdmux.driver : "none");
	cJSON_AddStringToObject(json, "holder", holder);
	cJSON_AddNumberToObject(json, "lab_failures", health ? (double)health->lab_failures : 0);
	if (health && health->quarantined_ms) {
		cJSON_AddStringToObject(
			json, "quarantined", show_utc(health->quarantined_ms, since));
		cJSON_AddStringToObject(json, "reason", health->reason);
	}
	if (card)
		cJSON_AddItemToObject(json, "card", card_to_json(card));
	return json;
}

cJSON *show_run_to_json(const struct query_run *run)
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
	cJSON_AddStringToObject(json, "started", show_utc(run->started_ms, text));
	cJSON_AddStringToObject(json, "ended", show_utc(run->ended_ms, text));
	return json;
}

int show_load(struct store *store, int64_t run_id, struct show *s)
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

void show_fini(struct show *s)
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

static cJSON *metrics_to_json(const struct show *s, int64_t window_id)
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

cJSON *show_to_json(struct store *store, const struct show *s)
{
	cJSON *json = show_run_to_json(s->run), *list;
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

		cJSON_AddStringToObject(event, "at", show_utc(s->events[i].at_ms, text));
		cJSON_AddNumberToObject(event, "window", (double)s->events[i].window);
		cJSON_AddStringToObject(event, "kind", s->events[i].kind);
		cJSON_AddStringToObject(event, "text", s->events[i].text);
		cJSON_AddItemToArray(list, event);
	}
	return json;
}
