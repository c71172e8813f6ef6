/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/api.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/against.h"
#include "harness/board.h"
#include "harness/cli.h"
#include "harness/compare.h"
#include "harness/daemon.h"
#include "harness/http.h"
#include "harness/show.h"

#define RUNS_LIMIT 100

/* ------------------------------------------------------------------ errors */

/* What a command ends with that was answered so. */
static int exit_code_of(unsigned status)
{
	return status == 409 || status >= 500 ? CLI_LAB : CLI_USAGE;
}

void api_fail(struct api_reply *reply, unsigned status, const char *format, ...)
{
	char text[1536];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	cJSON_Delete(reply->json);
	reply->status = status;
	reply->json = cJSON_CreateObject();
	cJSON_AddStringToObject(reply->json, "error", text);
	cJSON_AddNumberToObject(reply->json, "exit_code", exit_code_of(status));
}

static void fail_store(struct api_call *call, struct api_reply *reply, int error)
{
	unsigned status = error == -ENOENT     ? 404
			  : error == -EALREADY ? 409
			  : error == -ENOSPC   ? 507
					       : 500;

	api_fail(reply, status, "%s", store_error(call->daemon->store));
}

/* A number of the path; 0 and a 404 if it is none. */
static int64_t get_id(struct api_call *call, struct api_reply *reply)
{
	char *end;
	long long id;

	errno = 0;
	id = strtoll(call->word, &end, 10);
	if (errno == 0 && *end == '\0' && id > 0 && call->word[0] >= '0' && call->word[0] <= '9')
		return id;
	api_fail(reply, 404, "\"%s\" is no number", call->word);
	return 0;
}

/* ------------------------------------------------------------------ boards */

static void answer_root(struct api_call *call, struct api_reply *reply)
{
	reply->json = cJSON_CreateObject();
	cJSON_AddStringToObject(reply->json, "version", SAMEBOARD_VERSION);
	cJSON_AddStringToObject(reply->json, "lab", call->daemon->lab_path);
	cJSON_AddStringToObject(reply->json, "database", call->daemon->db_path);
	cJSON_AddStringToObject(reply->json, "images", call->daemon->images_path);
}

static cJSON *board_to_json(struct daemon *daemon, const struct daemon_worker *worker)
{
	struct queue_health *health = NULL;
	struct cardlog *card = NULL;
	cJSON *json;

	queue_get_health(daemon->store, worker->board->name, &health);
	cardlog_get(daemon->store, worker->board->name, &card);
	json = show_board_to_json(worker->board, health, card);
	free(health);
	free(card);
	if (worker->job)
		cJSON_AddNumberToObject(json, "job", (double)worker->job);
	cJSON_AddStringToObject(json, "state",
		worker->needs_recovery ? "recovering"
		: worker->pid > 0      ? "running"
				       : "idle");
	return json;
}

static void answer_boards(struct api_call *call, struct api_reply *reply)
{
	reply->json = cJSON_CreateArray();
	for (size_t i = 0; i < call->daemon->worker_count; i++)
		cJSON_AddItemToArray(
			reply->json, board_to_json(call->daemon, &call->daemon->workers[i]));
}

static struct daemon_worker *find_board(struct api_call *call, struct api_reply *reply)
{
	struct daemon_worker *worker = daemon_worker_find(call->daemon, call->word);

	if (!worker)
		api_fail(reply, 404, "there is no board \"%s\"", call->word);
	return worker;
}

static void answer_console(struct api_call *call, struct api_reply *reply)
{
	struct daemon_worker *worker = find_board(call, reply);

	if (worker)
		reply->view = (struct api_view){
			&worker->console, worker->console.start, &worker->viewers, false};
}

static void answer_release(struct api_call *call, struct api_reply *reply)
{
	struct daemon_worker *worker = find_board(call, reply);
	int rc;

	if (!worker)
		return;
	rc = queue_release(call->daemon->store, worker->board->name);
	if (rc != 0) {
		fail_store(call, reply, rc == -ENOENT ? -EALREADY : rc);
		return;
	}
	worker->failures = 0;
	worker->retry_ms = 0;
	reply->json = board_to_json(call->daemon, worker);
}

/* -------------------------------------------------------------------- jobs */

static cJSON *queued_to_json(const struct queue_row *row)
{
	cJSON *json = cJSON_CreateObject();
	char time[32];

	cJSON_AddNumberToObject(json, "job", (double)row->id);
	cJSON_AddStringToObject(json, "state", queue_state_name(row->state));
	cJSON_AddStringToObject(json, "board", row->job.board);
	cJSON_AddStringToObject(json, "client", row->job.client);
	cJSON_AddStringToObject(json, "suite", row->job.suite);
	cJSON_AddStringToObject(json, "systems", row->job.systems);
	cJSON_AddNumberToObject(json, "boots", (double)row->job.boots);
	cJSON_AddNumberToObject(json, "seed", (double)row->job.seed);
	cJSON_AddStringToObject(json, "command", row->job.command);
	cJSON_AddStringToObject(json, "submitted", show_utc(row->job.submitted_ms, time));
	cJSON_AddStringToObject(json, "started", show_utc(row->started_ms, time));
	cJSON_AddStringToObject(json, "ended", show_utc(row->ended_ms, time));
	if (row->exit_code >= 0)
		cJSON_AddNumberToObject(json, "exit_code", (double)row->exit_code);
	cJSON_AddStringToObject(json, "error", row->error);
	return json;
}

static void answer_queue(struct api_call *call, struct api_reply *reply)
{
	struct queue_row *rows = NULL;
	int count = queue_list_open(call->daemon->store, &rows);

	if (count < 0)
		fail_store(call, reply, count);
	else
		reply->json = cJSON_CreateArray();
	for (int i = 0; i < count; i++)
		cJSON_AddItemToArray(reply->json, queued_to_json(&rows[i]));
	free(rows);
}

/* Runs of a job, oldest first; their number or an error. */
static int find_runs(struct daemon *daemon, int64_t job, struct query_run **runs)
{
	struct query_filter filter = {.job_id = job};

	*runs = NULL;
	return query_runs(daemon->store, &filter, runs);
}

/* Against the job's baseline, once it has ended with runs to hold against one. */
static void judge(struct daemon *daemon, const struct queue_row *row, struct against *against)
{
	struct baseline baseline = {0};
	int64_t *ids = NULL;
	int count = 0;

	*against = (struct against){0};
	if (row->job.baseline[0] && row->state == QUEUE_STATE_DONE)
		count = query_job_runs(daemon->store, row->id, &ids);
	if (count > 0 && baseline_find(&baseline, daemon->store, row->job.baseline) == 0)
		against_init(against, daemon->store, &baseline, ids, (size_t)count);
	baseline_fini(&baseline);
	free(ids);
}

static void answer_job(struct api_call *call, struct api_reply *reply)
{
	int64_t id = get_id(call, reply);
	struct queue_row *row = NULL;
	struct query_run *runs = NULL;
	struct against against;
	cJSON *list;
	int rc, count;

	if (!id)
		return;
	rc = queue_get(call->daemon->store, id, &row);
	if (rc != 0) {
		fail_store(call, reply, rc);
		return;
	}
	reply->json = queued_to_json(row);
	list = cJSON_AddArrayToObject(reply->json, "runs");
	count = find_runs(call->daemon, id, &runs);
	for (int i = count - 1; i >= 0; i--)
		cJSON_AddItemToArray(list, show_run_to_json(&runs[i]));
	judge(call->daemon, row, &against);
	against_add_json(&against, reply->json);
	against_fini(&against);
	free(runs);
	free(row);
}

/* For people the verdicts stand below the comparison. */
static void append_verdicts(struct daemon *daemon, int64_t id, char **text)
{
	struct queue_row *row = NULL;
	char *more = NULL, *both = NULL;
	struct against against;

	if (*text && queue_get(daemon->store, id, &row) == 0) {
		judge(daemon, row, &against);
		more = against_to_text(&against);
		against_fini(&against);
	}
	if (more && asprintf(&both, "%s%s", *text, more) >= 0) {
		free(*text);
		*text = both;
	}
	free(more);
	free(row);
}

static void answer_comparison(struct api_call *call, struct api_reply *reply)
{
	int64_t id = get_id(call, reply), *ids;
	struct query_run *runs = NULL;
	struct compare compare;
	int count, rc = -ENOMEM;

	if (!id)
		return;
	count = find_runs(call->daemon, id, &runs);
	if (count <= 0) {
		api_fail(reply, count < 0 ? 500 : 404, "job %lld has no runs to compare",
			(long long)id);
		return;
	}
	ids = calloc((size_t)count, sizeof(*ids));
	for (int i = 0; ids && i < count; i++)
		ids[i] = runs[count - 1 - i].id;
	if (ids) {
		rc = compare_init(&compare, call->daemon->store, ids, (size_t)count);
		if (rc == 0 && call->wants_text)
			reply->text = compare_to_text(&compare);
		else if (rc == 0)
			reply->json = compare_to_json(&compare);
		compare_fini(&compare);
		append_verdicts(call->daemon, id, &reply->text);
	}
	if (!reply->text && !reply->json)
		api_fail(reply, 500, "%s",
			rc == -ENOMEM || rc == 0 ? "out of memory"
						 : store_error(call->daemon->store));
	free(ids);
	free(runs);
}

/* The events of a job that an earlier daemon had: only its state is left. */
static struct job_log *revive_log(struct daemon *daemon, int64_t id)
{
	struct job_log *log = job_logs_get(&daemon->logs, id);
	struct queue_row *row = NULL;
	char text[96];

	if (!log || stream_end(&log->events) > 0 || queue_get(daemon->store, id, &row) != 0)
		return log;
	snprintf(text, sizeof(text), "{\"state\":\"%s\"}", queue_state_name(row->state));
	job_log_add(log, "state", text);
	if (row->state == QUEUE_STATE_DONE || row->state == QUEUE_STATE_CANCELLED) {
		if (row->error[0])
			job_log_add(log, "error", row->error);
		snprintf(text, sizeof(text), "{\"state\":\"%s\",\"exit_code\":%lld}",
			queue_state_name(row->state), (long long)row->exit_code);
		job_log_end(log, text);
	}
	free(row);
	return log;
}

static void answer_events(struct api_call *call, struct api_reply *reply)
{
	int64_t id = get_id(call, reply);
	struct queue_row *row = NULL;
	struct job_log *log;
	int rc = id ? queue_get(call->daemon->store, id, &row) : -EINVAL;

	free(row);
	if (!id)
		return;
	if (rc != 0) {
		fail_store(call, reply, rc);
		return;
	}
	log = revive_log(call->daemon, id);
	if (!log) {
		api_fail(reply, 500, "out of memory");
		return;
	}
	reply->view = (struct api_view){
		&log->events, job_log_find_place(log, call->last_event), &log->viewers, true};
}

static void answer_cancel(struct api_call *call, struct api_reply *reply)
{
	int64_t id = get_id(call, reply);
	int rc;

	if (!id)
		return;
	rc = daemon_worker_cancel(call->daemon, id);
	if (rc != 0) {
		fail_store(call, reply, rc);
		return;
	}
	reply->status = 202;
	reply->json = cJSON_CreateObject();
	cJSON_AddNumberToObject(reply->json, "job", (double)id);
}

/* -------------------------------------------------------------------- runs */

static void answer_runs(struct api_call *call, struct api_reply *reply)
{
	struct query_filter filter = {.limit = RUNS_LIMIT};
	struct query_run *runs = NULL;
	int count = query_runs(call->daemon->store, &filter, &runs);

	if (count < 0)
		fail_store(call, reply, count);
	else
		reply->json = cJSON_CreateArray();
	for (int i = 0; i < count; i++)
		cJSON_AddItemToArray(reply->json, show_run_to_json(&runs[i]));
	free(runs);
}

static void answer_run(struct api_call *call, struct api_reply *reply)
{
	int64_t id = get_id(call, reply);
	struct show show = {0};
	int rc;

	if (!id)
		return;
	rc = show_load(call->daemon->store, id, &show);
	if (rc < 0)
		fail_store(call, reply, rc);
	else
		reply->json = show_to_json(call->daemon->store, &show);
	show_fini(&show);
}

/* ------------------------------------------------------------------ routes */

static const struct api_route routes[] = {
	{"GET", "/v1", answer_root},
	{"GET", "/v1/boards", answer_boards},
	{"GET", "/v1/boards/*/console", answer_console},
	{"POST", "/v1/boards/*/release", answer_release},
	{"GET", "/v1/queue", answer_queue},
	{"POST", "/v1/jobs", api_submit},
	{"GET", "/v1/jobs/*", answer_job},
	{"DELETE", "/v1/jobs/*", answer_cancel},
	{"POST", "/v1/jobs/*/cancel", answer_cancel},
	{"GET", "/v1/jobs/*/events", answer_events},
	{"GET", "/v1/jobs/*/comparison", answer_comparison},
	{"GET", "/v1/runs", answer_runs},
	{"GET", "/v1/runs/*", answer_run},
};

/* The part for "*" goes into word[API_WORD_SIZE]. */
static bool fits(const char *pattern, const char *path, char *word)
{
	word[0] = '\0';
	while (*pattern) {
		size_t length;

		if (*pattern != '*') {
			if (*pattern++ != *path++)
				return false;
			continue;
		}
		length = strcspn(path, "/");
		if (length == 0 || length >= API_WORD_SIZE)
			return false;
		memcpy(word, path, length);
		word[length] = '\0';
		path += length;
		pattern++;
	}
	return *path == '\0';
}

const struct api_route *api_find_route(
	const char *method, const char *path, char *word, struct api_reply *reply)
{
	const char *allow = NULL;

	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		if (!fits(routes[i].path, path, word))
			continue;
		if (strcmp(routes[i].method, method) == 0)
			return &routes[i];
		allow = routes[i].method;
	}
	if (allow) {
		api_fail(reply, 405, "%s does not take this method", path);
		reply->allow = allow;
	} else {
		api_fail(reply, 404, "there is nothing at %s", path);
	}
	return NULL;
}
