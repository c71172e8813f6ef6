/* SPDX-License-Identifier: Apache-2.0 */
/* Stored runs, and boards, as JSON: for the command line and for the daemon alike. */
#ifndef SAMEBOARD_HARNESS_SHOW_H
#define SAMEBOARD_HARNESS_SHOW_H

#include <cjson/cJSON.h>

#include "db/cardlog.h"
#include "db/query.h"
#include "db/queue.h"
#include "harness/lab.h"

/* Everything of one run, in the arrays of the queries. */
struct show {
	struct query_run *run;
	struct query_window *windows;
	struct query_metric *metrics;
	struct query_gate *gates;
	struct query_event *events;
	struct query_fact *facts;
	int window_count, metric_count, gate_count, event_count, fact_count;
};

/* "2026-08-24T12:00:00Z", "-" for 0. */
const char *show_utc(int64_t at_ms, char text[32]);

/* A board with its health, which may be NULL; the caller deletes it. */
cJSON *show_board_to_json(const struct lab_board *board, const struct queue_health *health,
	const struct cardlog *card);

/* A row of a list; the caller deletes it. */
cJSON *show_run_to_json(const struct query_run *run);

/* 0 or an error of the store; show_fini() in every case. */
int show_load(struct store *store, int64_t run_id, struct show *show);
void show_fini(struct show *show);

/* All of it; NULL without memory. */
cJSON *show_to_json(struct store *store, const struct show *show);

#endif
