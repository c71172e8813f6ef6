/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POST /v1/jobs: everything that can be known to be wrong is refused before
 * the job waits for its board.
 */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/api.h"
#include "harness/baseline.h"
#include "harness/daemon.h"
#include "harness/job.h"
#include "harness/word.h"

struct submission {
	const char *suite;	/* name or path, for messages and the record */
	const char *suite_text; /* of the file; NULL: a suite that the daemon knows */
	const char *board;	/* NULL: the only one */
	const char **systems;
	size_t system_count;
	unsigned boots;
	int64_t seed;
	const char *command, *client, *baseline;
};

static const struct document_key keys[] = {
	{.name = "suite",
		.kind = DOCUMENT_STRING,
		.required = true,
		.expected = "the name of a suite",
		DOCUMENT_AT(struct submission, suite)},
	{.name = "suite_text",
		.kind = DOCUMENT_STRING,
		.expected = "the text of a suite file",
		DOCUMENT_AT(struct submission, suite_text)},
	{.name = "board",
		.kind = DOCUMENT_STRING,
		.expected = "the name of a board",
		DOCUMENT_AT(struct submission, board)},
	{.name = "systems",
		.kind = DOCUMENT_STRINGS,
		.min = 1,
		.max = JOB_SYSTEMS_MAX,
		.expected = "the name of a system",
		DOCUMENT_AT(struct submission, systems),
		.count_offset = offsetof(struct submission, system_count)},
	{.name = "boots",
		.kind = DOCUMENT_INTEGER,
		.min = 1,
		.max = 1000,
		DOCUMENT_AT(struct submission, boots)},
	{.name = "seed",
		.kind = DOCUMENT_INTEGER,
		.min = 1,
		.max = 9007199254740991.0,
		DOCUMENT_AT(struct submission, seed)},
	{.name = "command",
		.kind = DOCUMENT_STRING,
		.expected = "what the person typed",
		DOCUMENT_AT(struct submission, command)},
	{.name = "client",
		.kind = DOCUMENT_STRING,
		.expected = "a name to queue under",
		DOCUMENT_AT(struct submission, client)},
	{.name = "baseline",
		.kind = DOCUMENT_STRING,
		.expected = "a baseline's name, or a run: an id, LAST or LAST~N",
		DOCUMENT_AT(struct submission, baseline)},
};

static const struct document_shape shape = {
	.noun = "a job",
	.keys = keys,
	.key_count = sizeof(keys) / sizeof(keys[0]),
	.size = sizeof(struct submission),
	.name_offset = SIZE_MAX,
	.node_offset = SIZE_MAX,
};

/* Jobs of one client wait for each other: the user, or the name it gives itself. */
static void name_client(const struct api_call *call, const char *given, char *name, size_t size)
{
	struct passwd *user = call->uid >= 0 ? getpwuid((uid_t)call->uid) : NULL;
	char who[128];

	if (call->is_tcp)
		snprintf(who, sizeof(who), "tcp");
	else if (user)
		snprintf(who, sizeof(who), "%s", user->pw_name);
	else
		snprintf(who, sizeof(who), "uid %lld", (long long)call->uid);
	snprintf(name, size, "%s%s%s", who, given ? "/" : "", given ? given : "");
}

static bool check_suite(const struct submission *s, struct suite **suite, struct api_reply *reply)
{
	int rc;

	*suite = NULL;
	if (s->suite_text) {
		rc = suite_parse(suite, s->suite, s->suite_text, strlen(s->suite_text));
	} else if (!word_is_name(s->suite)) {
		api_fail(
			reply, 400, "suite: \"%s\" is no name; expected " WORD_NAME_RULE, s->suite);
		return false;
	} else {
		rc = suite_open(suite, s->suite);
	}
	if (rc != 0)
		api_fail(reply, 400, "%s", suite_error(*suite));
	return rc == 0;
}

static bool check_systems(
	const char *images, const char *const *systems, size_t count, struct api_reply *reply)
{
	for (size_t i = 0; i < count; i++) {
		struct manifest *manifest = NULL;
		int rc = word_is_name(systems[i]) ? manifest_find(&manifest, images, systems[i])
						  : -EINVAL;

		if (rc == -EINVAL && !manifest)
			api_fail(reply, 400, "systems: \"%s\" is no name; expected " WORD_NAME_RULE,
				systems[i]);
		else if (rc != 0)
			api_fail(reply, 400, "%s", manifest_error(manifest));
		manifest_close(manifest);
		if (rc != 0)
			return false;
	}
	return true;
}

static const struct lab_board *check_board(
	struct daemon *daemon, const char *name, const struct suite *suite, struct api_reply *reply)
{
	const struct lab_board *board = lab_find_board(daemon->lab, name);
	struct queue_health *health = NULL;

	char wrong_clock[256];

	if (!board) {
		api_fail(reply, 400, "%s", lab_error(daemon->lab));
		return NULL;
	}
	if (!job_has_clock(suite, board, wrong_clock, sizeof(wrong_clock))) {
		api_fail(reply, 400, "%s", wrong_clock);
		return NULL;
	}
	if (queue_get_health(daemon->store, board->name, &health) != 0) {
		api_fail(reply, 500, "%s", store_error(daemon->store));
		return NULL;
	}
	if (health && health->quarantined_ms) {
		api_fail(reply, 409,
			"board %s is in quarantine after %lld lab failures in a row, the last: %s; "
			"mend it, then `sameboard boards %s --release`",
			board->name, (long long)health->lab_failures, health->reason, board->name);
		board = NULL;
	}
	free(health);
	return board;
}

/* A run becomes its number: LAST is what it was when the job was given. */
static bool check_baseline(
	struct daemon *daemon, const char *word, char *found, size_t size, struct api_reply *reply)
{
	struct baseline baseline;
	int rc = baseline_find(&baseline, daemon->store, word);

	found[0] = '\0';
	if (rc != 0)
		api_fail(reply, rc == -ENOENT || rc == -EINVAL ? 400 : 500, "baseline: %s",
			baseline.error);
	else if (baseline.is_named)
		snprintf(found, size, "%s", word);
	else if (baseline.run_count)
		snprintf(found, size, "%lld", (long long)baseline.run_ids[0]);
	baseline_fini(&baseline);
	return rc == 0;
}

static void enqueue(struct api_call *call, const struct submission *s, const struct suite *suite,
	const struct lab_board *board, const char *baseline, struct api_reply *reply)
{
	char client[256], systems[JOB_SYSTEMS_MAX * 65] = "", command[600];
	struct queue_job job = {
		.board = board->name,
		.client = client,
		.uid = call->uid,
		.pid = call->pid,
		.suite = suite->name,
		.suite_json = suite->text,
		.systems = systems,
		.boots = s->boots,
		.seed = s->seed,
		.baseline = baseline,
		.command = command,
		.submitted_ms = store_now_ms(),
	};
	int64_t id;
	int rc;

	name_client(call, s->client, client, sizeof(client));
	snprintf(command, sizeof(command), "%s", s->command ? s->command : "submit");
	for (size_t i = 0, at = 0; i < s->system_count; i++)
		at += (size_t)snprintf(
			systems + at, sizeof(systems) - at, "%s%s", i ? "," : "", s->systems[i]);
	rc = queue_add(call->daemon->store, &job, &id);
	if (rc != 0) {
		api_fail(reply, rc == -ENOSPC ? 507 : 500, "%s", store_error(call->daemon->store));
		return;
	}
	job_log_add(job_logs_get(&call->daemon->logs, id), "state", "{\"state\":\"queued\"}");
	daemon_worker_tick(call->daemon, 0);
	reply->status = 201;
	reply->json = cJSON_CreateObject();
	cJSON_AddNumberToObject(reply->json, "job", (double)id);
	cJSON_AddStringToObject(reply->json, "board", board->name);
}

void api_submit(struct api_call *call, struct api_reply *reply)
{
	struct submission s = {.seed = 1};
	struct document *document = NULL;
	struct suite *suite = NULL;
	const struct lab_board *board;
	char baseline[80];
	int rc = document_parse(&document, "request", call->body, call->body_size);

	if (rc == 0)
		rc = document_read(document, &shape, &s);
	if (rc != 0) {
		api_fail(reply, rc == -ENOMEM ? 500 : 400, "%s",
			document ? document_error(document) : "out of memory");
	} else if (s.client && !word_is_name(s.client)) {
		api_fail(reply, 400, "client: \"%s\" is no name; expected " WORD_NAME_RULE,
			s.client);
	} else if (check_suite(&s, &suite, reply)) {
		const char *const *systems = (const char *const *)s.systems;

		if (s.system_count == 0)
			systems = (const char *const *)suite->systems;
		if (check_systems(call->daemon->images_path, systems,
			    s.system_count ? s.system_count : suite->system_count, reply) &&
			(board = check_board(call->daemon, s.board, suite, reply)) &&
			check_baseline(call->daemon, s.baseline, baseline, sizeof(baseline), reply))
			enqueue(call, &s, suite, board, baseline, reply);
	}
	suite_close(suite);
	document_close(document);
}
