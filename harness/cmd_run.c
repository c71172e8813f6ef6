/* SPDX-License-Identifier: Apache-2.0 */
/* sameboard run, plan */
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli.h"
#include "harness/cmd_compare.h"
#include "harness/cmd_queue.h"
#include "harness/job.h"
#include "harness/local.h"
#include "harness/log.h"
#include "harness/paths.h"

#define RETRY_BOOTS 5

/* ------------------------------------------------------------------- plan */

/* The manifests of a plan's systems, where a folder of images is named. */
struct plan_images {
	struct manifest *manifests[JOB_SYSTEMS_MAX];
	size_t count;
};

static const struct manifest *find_image(const struct plan_images *images, const char *system)
{
	for (size_t i = 0; i < images->count; i++)
		if (strcmp(images->manifests[i]->system, system) == 0)
			return images->manifests[i];
	return NULL;
}

static struct plan_card card_of(void *context, const char *system)
{
	const struct manifest *manifest = find_image(context, system);

	return (struct plan_card){manifest->sha256, manifest_spends_card(manifest)};
}

/* Writes are counted by the cards there are.  An exit code. */
static int look_at_images(struct plan *plan, const char *dir)
{
	struct plan_images images = {.count = 0};
	int exit_code = CLI_PASS;

	for (size_t i = 0; exit_code == CLI_PASS && i < plan->run_count; i++) {
		struct manifest *manifest = NULL;

		if (find_image(&images, plan->runs[i].system))
			continue;
		if (images.count < JOB_SYSTEMS_MAX &&
			manifest_find(&manifest, dir, plan->runs[i].system) == 0) {
			images.manifests[images.count++] = manifest;
			continue;
		}
		if (images.count == JOB_SYSTEMS_MAX)
			log_error("more than %d systems in one job", JOB_SYSTEMS_MAX);
		else
			log_error("%s", manifest_error(manifest));
		manifest_close(manifest);
		exit_code = CLI_USAGE;
	}
	if (exit_code == CLI_PASS)
		plan_set_cards(plan, card_of, &images);
	for (size_t i = 0; i < images.count; i++)
		manifest_close(images.manifests[i]);
	return exit_code;
}

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
	if (cli->images_is_given) {
		exit_code = look_at_images(&plan, cli->images);
		if (exit_code != CLI_PASS)
			goto out;
		exit_code = CLI_LAB;
	}
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

/* One job: measured, stored, compared, judged.  An exit code. */
static int execute(struct cli *cli, struct job_request *request, const struct baseline *baseline,
	struct cmd_outcome *outcome)
{
	struct job job;
	char *plan;
	int64_t *ids = NULL;
	int count, exit_code = job_init(&job, request);

	if (exit_code != 0) {
		log_error("%s", job.error);
		cmd_compare_write_failure(cli, request->suite->name, job.error);
		job_fini(&job);
		return exit_code;
	}
	plan = plan_to_text(&job.plan, request->suite);
	log_progress("%s", plan ? plan : "");
	free(plan);
	exit_code = job_execute(&job);
	if (job.error[0])
		log_error("%s", job.error);
	outcome->error = exit_code == CLI_LAB ? job.error : NULL;
	count = job.id ? query_job_runs(request->store, job.id, &ids) : 0;
	if (count > 0) {
		/* A job that failed has no runs to hold against it. */
		const struct baseline *held_against = exit_code == CLI_PASS ? baseline : NULL;
		int rc = cmd_compare_print(cli, request->store, ids, (size_t)count, held_against,
			outcome,
			cli->json ? runs_to_json(request->store, job.id, exit_code, job.error)
				  : NULL);

		exit_code = rc != CLI_PASS ? rc : exit_code;
		if (!cli->json)
			log_result("\njob %lld, stored in %s\n", (long long)job.id,
				store_path(request->store));
	} else {
		cmd_compare_write_failure(cli, request->suite->name, job.error);
	}
	outcome->error = NULL;
	free(ids);
	job_fini(&job);
	return exit_code;
}

static void outcome_free(struct cmd_outcome *outcome)
{
	for (size_t i = 0; i < outcome->suspect_count; i++)
		free(outcome->suspects[i]);
	free(outcome->suspects);
	cJSON_Delete(outcome->json);
	*outcome = (struct cmd_outcome){0};
}

/*
 * A suspect is measured again, RETRY_BOOTS of each system, and judged against the
 * same baseline by these runs alone.  What shows twice has failed; what does not
 * was chance, and both jobs stay stored and shown.
 */
static int retry(struct cli *cli, struct job_request *request, const struct baseline *baseline,
	struct cmd_outcome *first)
{
	struct cmd_outcome second = {.confirmed = (const char *const *)(uintptr_t)first->suspects};
	unsigned shown = 0;
	int exit_code;

	log_progress("%zu suspects: measured again, %d boots of each system", first->suspect_count,
		RETRY_BOOTS);
	request->boots = RETRY_BOOTS;
	request->seed++;
	exit_code = execute(cli, request, baseline, &second);
	for (size_t i = 0; i < first->suspect_count; i++) {
		bool is_shown = cmd_compare_is_suspect(&second, first->suspects[i]);

		shown += is_shown;
		log_error("suspect %s %s", first->suspects[i],
			is_shown ? "shows again: a regression" : "does not show again");
	}
	cmd_compare_join(first, &second);
	outcome_free(&second);
	return exit_code == CLI_PASS && shown ? CLI_FAIL : exit_code;
}

static int execute_all(
	struct cli *cli, struct job_request *request, const struct baseline *baseline)
{
	struct cmd_outcome outcome = {0};
	int exit_code = execute(cli, request, baseline, &outcome);
	int rc = CLI_PASS;

	if (exit_code == CLI_PASS && outcome.suspect_count && (cli->retry || cli->bisect))
		exit_code = retry(cli, request, baseline, &outcome);
	if (outcome.json)
		rc = cli_print_json(outcome.json);
	outcome.json = NULL;
	outcome_free(&outcome);
	return rc != CLI_PASS ? rc : exit_code;
}

/* Without a daemon, under the board's lock. */
static int run_here(struct cli *cli)
{
	struct lab *lab = NULL;
	struct local local;
	struct suite *suite = NULL;
	struct store *store = NULL;
	struct job_request request = {.boots = cli->repeat,
		.seed = cli->seed,
		.images = cli->images,
		.given = cli->image,
		.given_count = cli->image_count,
		.command = cli->command_line,
		.system_count = cli->system_count};
	struct baseline baseline = {0};
	int exit_code = CLI_USAGE;

	memcpy(request.systems, cli->systems, sizeof(request.systems));
	if (suite_open(&suite, cli->arguments[0]) != 0) {
		log_error("%s", suite_error(suite));
		goto out;
	}
	if (local_is_named(cli->board)) {
		request.board = local_get_board(&local);
	} else if (lab_open(&lab, cli->lab) != 0 ||
		   !(request.board = lab_find_board(lab, cli->board))) {
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
	if (baseline_find(&baseline, store, cli->baseline) != 0) {
		log_error("--baseline: %s", baseline.error);
		goto out;
	}
	exit_code = execute_all(cli, &request, &baseline);
out:
	baseline_fini(&baseline);
	store_close(store);
	lab_close(lab);
	suite_close(suite);
	return exit_code;
}

int command_run(struct cli *cli)
{
	bool is_done = false;
	int exit_code = CLI_PASS;

	/* A daemon has boards; this machine is anybody's. */
	if (!local_is_named(cli->board))
		exit_code = cmd_queue_run(cli, &is_done);
	if (!is_done)
		exit_code = run_here(cli);
	return cli->bisect && exit_code == CLI_LAB ? CLI_SKIP : exit_code;
}
