/* SPDX-License-Identifier: Apache-2.0 */
/* sameboard run, plan, compare */
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli.h"
#include "harness/cmd_queue.h"
#include "harness/compare.h"
#include "harness/exact.h"
#include "harness/job.h"
#include "harness/log.h"
#include "harness/paths.h"

/* ------------------------------------------------------------------- plan */

int command_plan(struct cli *cli)
{
	struct suite *suite = NULL;
	struct plan plan = {0};
	size_t count;
	const char *const *systems = cli_systems(cli, &count);
	char *text = NULL;
	int exit_code = CLI_USAGE;

	if (suite_open(&suite, cli->arguments[0]) != 0) {
		log_error("%s", suite_error(suite));
		goto out;
	}
	exit_code = CLI_LAB;
	if (plan_init(&plan, suite, systems, count, cli->repeat, cli->seed) != 0)
		goto out;
	if (cli->json) {
		exit_code = cli_print_json(plan_to_json(&plan, suite));
		goto out;
	}
	text = plan_to_text(&plan, suite);
	if (text) {
		log_result("%s", text);
		exit_code = CLI_PASS;
	}
out:
	free(text);
	plan_fini(&plan);
	suite_close(suite);
	return exit_code;
}

/* ---------------------------------------------------------------- compare */

/* Oldest first: the order of the columns is the order in which they ran. */
static int find_job_runs(struct store *store, int64_t job_id, int64_t **ids)
{
	struct query_filter filter = {.job_id = job_id};
	struct query_run *runs = NULL;
	int count = query_runs(store, &filter, &runs);

	*ids = NULL;
	if (count > 0) {
		*ids = calloc((size_t)count, sizeof(**ids));
		if (!*ids)
			count = -ENOMEM;
		for (int i = 0; i < count; i++)
			(*ids)[i] = runs[count - 1 - i].id;
	}
	free(runs);
	return count;
}

/* The id of --baseline, 0 without one; a negative errno with store_error(). */
static int find_baseline(const struct cli *cli, struct store *store, int64_t *id)
{
	*id = 0;
	return cli->baseline ? query_resolve_run(store, cli->baseline, id) : 0;
}

/* Runs that cannot be compared so are wrong usage; a change is a failure. */
static int judge_exactly(struct cli *cli, struct store *store, int64_t baseline_id,
	const int64_t *ids, size_t count, cJSON *json)
{
	struct exact exact;
	char *text = NULL;
	int exit_code, rc = exact_init(&exact, store, baseline_id, ids, count);

	if (rc != 0) {
		log_error("EXACT rule: %s", exact.error);
		exit_code = rc == -EINVAL || rc == -ENOENT ? CLI_USAGE : CLI_LAB;
	} else {
		exit_code = exact.changed ? CLI_FAIL : CLI_PASS;
		if (cli->json)
			cJSON_AddItemToObject(json, "exact", exact_to_json(&exact));
		else
			text = exact_to_text(&exact);
		if (text)
			log_result("%s", text);
	}
	free(text);
	exact_fini(&exact);
	return exit_code;
}

static int print_comparison(struct cli *cli, struct store *store, const int64_t *ids, size_t count,
	int64_t baseline_id, cJSON *json)
{
	int exit_code = CLI_PASS;
	struct compare compare;
	char *text;
	int rc = compare_init(&compare, store, ids, count);

	if (rc != 0) {
		log_error("%s: %s", store_path(store),
			rc == -ENOMEM ? "out of memory" : store_error(store));
		compare_fini(&compare);
		cJSON_Delete(json);
		return CLI_LAB;
	}
	if (cli->json) {
		if (json)
			cJSON_AddItemToObject(json, "comparison", compare_to_json(&compare));
		else
			json = compare_to_json(&compare);
		if (baseline_id)
			exit_code = judge_exactly(cli, store, baseline_id, ids, count, json);
		rc = cli_print_json(json);
	} else {
		text = compare_to_text(&compare);
		log_result("%s", text ? text : "out of memory\n");
		rc = text ? CLI_PASS : CLI_LAB;
		free(text);
		if (baseline_id)
			exit_code = judge_exactly(cli, store, baseline_id, ids, count, NULL);
	}
	compare_fini(&compare);
	return rc != CLI_PASS ? rc : exit_code;
}

int command_compare(struct cli *cli)
{
	struct store *store = NULL;
	int64_t *ids = NULL, job_id = 0, baseline_id = 0;
	int count = (int)cli->argument_count, rc;
	int exit_code = CLI_USAGE;

	rc = store_open(&store, cli->db, STORE_READ_ONLY);
	if (rc != 0)
		goto failed;
	rc = find_baseline(cli, store, &baseline_id);
	if (rc != 0)
		goto failed;
	if (count == 0) {
		rc = query_resolve_job(store, cli->job ? cli->job : "LAST", &job_id);
		if (rc != 0)
			goto failed;
		rc = count = find_job_runs(store, job_id, &ids);
		if (rc < 0)
			goto failed;
	} else if (cli->job) {
		log_error("compare takes --job or runs, not both");
		goto out;
	} else {
		ids = calloc((size_t)count, sizeof(*ids));
		for (int i = 0; ids && i < count; i++) {
			rc = query_resolve_run(store, cli->arguments[i], &ids[i]);
			if (rc != 0)
				goto failed;
		}
	}
	if (count == 0) {
		log_error("job %lld has no runs to compare", (long long)job_id);
		goto out;
	}
	exit_code = print_comparison(cli, store, ids, (size_t)count, baseline_id, NULL);
	goto out;
failed:
	log_error("%s", store_error(store));
out:
	free(ids);
	store_close(store);
	return exit_code;
}

/* -------------------------------------------------------------------- run */

static cJSON *runs_to_json(struct store *store, int64_t job_id, int exit_code, const char *error)
{
	struct query_filter filter = {.job_id = job_id};
	struct query_run *runs = NULL;
	int count = query_runs(store, &filter, &runs);
	cJSON *json = cJSON_CreateObject();
	cJSON *list = cJSON_AddArrayToObject(json, "runs");

	cJSON_AddNumberToObject(json, "job", (double)job_id);
	cJSON_AddStringToObject(json, "database", store_path(store));
	cJSON_AddNumberToObject(json, "exit_code", exit_code);
	if (error[0])
		cJSON_AddStringToObject(json, "error", error);
	for (int i = count - 1; i >= 0; i--) {
		cJSON *run = cJSON_CreateObject();

		cJSON_AddNumberToObject(run, "run", (double)runs[i].id);
		cJSON_AddStringToObject(run, "system", runs[i].system);
		cJSON_AddNumberToObject(run, "boot", (double)runs[i].boot);
		cJSON_AddStringToObject(run, "verdict", verdict_name(runs[i].verdict));
		cJSON_AddStringToObject(run, "reason", runs[i].reason);
		cJSON_AddItemToArray(list, run);
	}
	free(runs);
	return json;
}

static int execute(struct cli *cli, struct job_request *request, int64_t baseline_id)
{
	struct job job;
	char *plan;
	int64_t *ids = NULL;
	int count, exit_code = job_init(&job, request);

	if (exit_code != 0) {
		log_error("%s", job.error);
		job_fini(&job);
		return exit_code;
	}
	plan = plan_to_text(&job.plan, request->suite);
	log_progress("%s", plan ? plan : "");
	free(plan);
	exit_code = job_execute(&job);
	if (job.error[0])
		log_error("%s", job.error);
	count = job.id ? find_job_runs(request->store, job.id, &ids) : 0;
	if (count > 0) {
		/* A job that failed has no runs to hold against it. */
		int64_t held_against = exit_code == CLI_PASS ? baseline_id : 0;
		int rc = print_comparison(cli, request->store, ids, (size_t)count, held_against,
			cli->json ? runs_to_json(request->store, job.id, exit_code, job.error)
				  : NULL);

		exit_code = rc != CLI_PASS ? rc : exit_code;
		if (!cli->json)
			log_result("\njob %lld, stored in %s\n", (long long)job.id,
				store_path(request->store));
	}
	free(ids);
	job_fini(&job);
	return exit_code;
}

/* Without a daemon, under the board's lock. */
static int run_here(struct cli *cli)
{
	struct lab *lab = NULL;
	struct suite *suite = NULL;
	struct store *store = NULL;
	struct job_request request = {.boots = cli->repeat,
		.seed = cli->seed,
		.images = cli->images,
		.command = cli->command_line,
		.system_count = cli->system_count};
	int64_t baseline_id;
	int exit_code = CLI_USAGE;

	memcpy(request.systems, cli->systems, sizeof(request.systems));
	if (suite_open(&suite, cli->arguments[0]) != 0) {
		log_error("%s", suite_error(suite));
		goto out;
	}
	if (lab_open(&lab, cli->lab) != 0 || !(request.board = lab_find_board(lab, cli->board))) {
		log_error("%s", lab_error(lab));
		goto out;
	}
	paths_make_parents(cli->db);
	if (store_open(&store, cli->db, 0) != 0) {
		log_error("%s", store_error(store));
		exit_code = CLI_LAB;
		goto out;
	}
	request.suite = suite;
	request.store = store;
	if (find_baseline(cli, store, &baseline_id) != 0) {
		log_error("--baseline: %s", store_error(store));
		goto out;
	}
	exit_code = execute(cli, &request, baseline_id);
out:
	store_close(store);
	lab_close(lab);
	suite_close(suite);
	return exit_code;
}

int command_run(struct cli *cli)
{
	bool is_done;
	int exit_code = cmd_queue_run(cli, &is_done);

	return is_done ? exit_code : run_here(cli);
}
