/* SPDX-License-Identifier: Apache-2.0 */
/* sameboard submit, watch, cancel, queue; and run, where a daemon has the boards. */
#include <cjson/cJSON.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli.h"
#include "harness/client.h"
#include "harness/cmd_queue.h"
#include "harness/log.h"
#include "harness/suite.h"
#include "harness/table.h"

static int fail(const struct client *client, int exit_code)
{
	log_error("%s", client_error(client));
	return exit_code;
}

/* An exit code; the client is the caller's to close in every case. */
static int open_client(struct cli *cli, struct client **client)
{
	char path[PATH_MAX];
	int rc;

	*client = NULL;
	if (client_find_socket(cli->socket, path, sizeof(path)) != 0) {
		log_error("the path of the daemon's socket is too long");
		return CLI_USAGE;
	}
	rc = client_open(client, path);
	return rc == 0 ? 0 : fail(*client, rc);
}

/* ------------------------------------------------------------------ submit */

static cJSON *make_submission(const struct cli *cli, const struct suite *suite)
{
	const char *client = cli->client ? cli->client : getenv("SAMEBOARD_CLIENT");
	cJSON *json = cJSON_CreateObject();

	cJSON_AddStringToObject(json, "suite", suite->path);
	cJSON_AddStringToObject(json, "suite_text", suite->text);
	cJSON_AddStringToObject(json, "command", cli->command_line);
	cJSON_AddNumberToObject(json, "seed", (double)cli->seed);
	if (cli->board)
		cJSON_AddStringToObject(json, "board", cli->board);
	if (cli->repeat)
		cJSON_AddNumberToObject(json, "boots", cli->repeat);
	if (cli->baseline)
		cJSON_AddStringToObject(json, "baseline", cli->baseline);
	if (cli->system_count)
		cJSON_AddItemToObject(json, "systems",
			cJSON_CreateStringArray(cli->systems, (int)cli->system_count));
	if (client && *client)
		cJSON_AddStringToObject(json, "client", client);
	return json;
}

/* The suite is read here, so that the daemon need not see this user's files. */
static int submit(struct cli *cli, struct client *client, int64_t *job, cJSON **answer)
{
	struct suite *suite = NULL;
	cJSON *body;
	int rc;

	*answer = NULL;
	if (suite_open(&suite, cli->arguments[0]) != 0) {
		log_error("%s", suite_error(suite));
		suite_close(suite);
		return CLI_USAGE;
	}
	body = make_submission(cli, suite);
	rc = client_ask(client, "POST", "/v1/jobs", body, answer);
	*job = rc == 0 ? (int64_t)cJSON_GetNumberValue(cJSON_GetObjectItem(*answer, "job")) : 0;
	cJSON_Delete(body);
	suite_close(suite);
	return rc == 0 ? 0 : fail(client, rc);
}

int command_submit(struct cli *cli)
{
	struct client *client;
	cJSON *answer = NULL;
	int64_t job = 0;
	int rc = open_client(cli, &client);

	if (rc == 0)
		rc = submit(cli, client, &job, &answer);
	if (rc == 0 && cli->json)
		rc = cli_print_json(answer);
	else if (rc == 0)
		log_result("job %lld; `sameboard watch %lld` follows it\n", (long long)job,
			(long long)job);
	if (!cli->json || rc != 0)
		cJSON_Delete(answer);
	client_close(client);
	return rc;
}

/* ------------------------------------------------------------------- watch */

static void see_event(void *context, const char *event, const char *data)
{
	(void)context;
	if (strcmp(event, "error") == 0)
		log_error("%s", data);
	else if (strcmp(event, "progress") == 0)
		log_relay(data);
}

/* The job with its runs, and their comparison where there is one. */
static int print_job_json(struct client *client, int64_t job)
{
	char path[64];
	cJSON *json, *comparison;
	int rc;

	snprintf(path, sizeof(path), "/v1/jobs/%lld", (long long)job);
	rc = client_ask(client, "GET", path, NULL, &json);
	if (rc != 0)
		return fail(client, rc);
	snprintf(path, sizeof(path), "/v1/jobs/%lld/comparison", (long long)job);
	cJSON_AddStringToObject(json, "database", client_get_fact(client, "database"));
	if (client_ask(client, "GET", path, NULL, &comparison) == 0)
		cJSON_AddItemToObject(json, "comparison", comparison);
	return cli_print_json(json);
}

static void print_job_text(struct client *client, int64_t job)
{
	char path[64], *text = NULL;

	snprintf(path, sizeof(path), "/v1/jobs/%lld/comparison", (long long)job);
	if (client_get_text(client, path, &text) != 0)
		return; /* it has no runs: its error has been shown */
	log_result("%s\njob %lld, stored in %s\n", text, (long long)job,
		client_get_fact(client, "database"));
	free(text);
}

static int watch(struct cli *cli, struct client *client, int64_t job)
{
	struct client_events events = {NULL, see_event};
	int exit_code;
	int rc = client_watch(client, job, &events, &exit_code);

	if (rc != 0) {
		fail(client, rc);
		if (rc == CLI_LAB)
			log_error("`sameboard watch %lld` follows job %lld again, `sameboard "
				  "cancel %lld` ends it",
				(long long)job, (long long)job, (long long)job);
		return rc;
	}
	if (!cli->json) {
		print_job_text(client, job);
		return exit_code;
	}
	rc = print_job_json(client, job);
	return rc != 0 ? rc : exit_code;
}

/* A number of 1 or more; 0 and a message if it is none. */
static int64_t parse_job(const char *text)
{
	char *end;
	long long job;

	errno = 0;
	job = strtoll(text, &end, 10);
	if (errno == 0 && end != text && *end == '\0' && job > 0)
		return job;
	log_error("\"%s\" is no number of a job; `sameboard queue` lists them", text);
	return 0;
}

int command_watch(struct cli *cli)
{
	struct client *client;
	int64_t job = parse_job(cli->arguments[0]);
	int rc;

	if (!job)
		return CLI_USAGE;
	rc = open_client(cli, &client);
	if (rc == 0)
		rc = watch(cli, client, job);
	client_close(client);
	return rc;
}

/* --------------------------------------------------------------------- run */

static bool is_same_file(const char *a, const char *b)
{
	char real_a[PATH_MAX], real_b[PATH_MAX];

	return realpath(a, real_a) && realpath(b, real_b) && strcmp(real_a, real_b) == 0;
}

static bool is_for_here(const struct cli *cli)
{
	return cli->image_count || cli->retry || cli->bisect || cli->junit || cli->summary;
}

/* Whether the daemon would do what was asked for: same lab, database, images. */
static bool is_the_same(const struct cli *cli, const struct client *client)
{
	const char *lab = cli->lab ? cli->lab : getenv("SAMEBOARD_LAB");

	/* What it was not told of, it would not do. */
	if (is_for_here(cli))
		return false;
	if (lab && *lab && !is_same_file(lab, client_get_fact(client, "lab")))
		return false;
	if (cli->db_is_given && !is_same_file(cli->db, client_get_fact(client, "database")))
		return false;
	return !cli->images_is_given ||
	       is_same_file(cli->images, client_get_fact(client, "images"));
}

int cmd_queue_run(struct cli *cli, bool *is_done)
{
	struct client *client = NULL;
	char path[PATH_MAX];
	cJSON *answer = NULL;
	int64_t job;
	int rc = CLI_PASS;

	*is_done = false;
	if (client_find_socket(cli->socket, path, sizeof(path)) != 0)
		return CLI_PASS;
	rc = client_open(&client, path);
	if (rc != 0 && cli->socket) {
		*is_done = true; /* named, so it must answer */
		rc = fail(client, rc);
	} else if (rc == 0 && cli->socket && is_for_here(cli)) {
		*is_done = true;
		rc = CLI_USAGE;
		log_error(
			"--image, --retry, --bisect, --junit and --summary are for a job without a "
			"daemon; of a job that is done, `sameboard compare --job` has the last two");
	} else if (rc == 0 && cli->socket && !is_the_same(cli, client)) {
		*is_done = true;
		rc = CLI_USAGE;
		log_error("the daemon at %s has lab %s, database %s and images %s: name these, or "
			  "none",
			path, client_get_fact(client, "lab"), client_get_fact(client, "database"),
			client_get_fact(client, "images"));
	} else if (rc == 0 && is_the_same(cli, client)) {
		*is_done = true;
		rc = submit(cli, client, &job, &answer);
		if (rc == 0) {
			log_progress("job %lld of the daemon at %s", (long long)job, path);
			rc = watch(cli, client, job);
		}
		cJSON_Delete(answer);
	}
	client_close(client);
	return rc;
}

/* ----------------------------------------------------------- cancel, queue */

int command_cancel(struct cli *cli)
{
	struct client *client;
	int64_t job = parse_job(cli->arguments[0]);
	char path[64];
	cJSON *answer;
	int rc;

	if (!job)
		return CLI_USAGE;
	snprintf(path, sizeof(path), "/v1/jobs/%lld/cancel", (long long)job);
	rc = open_client(cli, &client);
	if (rc == 0) {
		rc = client_ask(client, "POST", path, NULL, &answer);
		if (rc != 0)
			fail(client, rc);
		else if (cli->json)
			rc = cli_print_json(answer);
		else
			log_result("job %lld is cancelled; a board that ran it goes to its rest "
				   "state first\n",
				(long long)job);
		if (!cli->json)
			cJSON_Delete(answer);
	}
	client_close(client);
	return rc;
}

static void print_queue(const cJSON *rows)
{
	static const char *const columns[] = {
		"job", "state", "board", "client", "suite", "submitted", "command"};
	struct table table;
	const cJSON *row;
	char *text;

	table_init(&table, "rllllll");
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		table_add(&table, "%s", columns[i]);
	cJSON_ArrayForEach(row, rows)
	{
		table_add(&table, "%.0f", cJSON_GetNumberValue(cJSON_GetObjectItem(row, "job")));
		for (size_t i = 1; i < sizeof(columns) / sizeof(columns[0]); i++) {
			const char *value =
				cJSON_GetStringValue(cJSON_GetObjectItem(row, columns[i]));

			table_add(&table, "%s", value ? value : "");
		}
	}
	text = table_to_text(&table);
	log_result("%s", text ? text : "");
	free(text);
	table_fini(&table);
}

int command_queue(struct cli *cli)
{
	struct client *client;
	cJSON *rows = NULL;
	int rc = open_client(cli, &client);

	if (rc == 0) {
		rc = client_ask(client, "GET", "/v1/queue", NULL, &rows);
		if (rc != 0)
			fail(client, rc);
		else if (cli->json)
			rc = cli_print_json(rows);
		else
			print_queue(rows);
		if (!cli->json)
			cJSON_Delete(rows);
	}
	client_close(client);
	return rc;
}
