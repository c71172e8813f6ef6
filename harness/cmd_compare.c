/* SPDX-License-Identifier: Apache-2.0 */
/* sameboard compare, baseline */
#include "harness/cmd_compare.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/query.h"
#include "harness/against.h"
#include "harness/compare.h"
#include "harness/junit.h"
#include "harness/log.h"
#include "harness/report_runs.h"

/* Into `json` where it is not NULL, else printed. */
static void tell(const struct against *against, cJSON *json)
{
	char *text = json ? NULL : against_to_text(against);

	if (against->error[0])
		log_error("%s", against->error);
	if (text)
		log_result("%s", text);
	if (json)
		against_add_json(against, json);
	free(text);
}

/* -------------------------------------------------------------------- CI */

static int close_file(FILE *out, const char *path, bool is_written)
{
	if (out && fclose(out) != 0)
		is_written = false;
	if (!is_written)
		log_error("cannot write %s: %s", path, strerror(errno));
	return is_written ? CLI_PASS : CLI_LAB;
}

static int write_junit(const char *path, const struct junit *junit)
{
	FILE *out = fopen(path, "we");

	return close_file(out, path, out && junit_write(out, junit));
}

static int write_summary(const char *path, const struct junit *junit)
{
	FILE *out = fopen(path, "we");
	struct report report;
	int exit_code;

	report_init(&report, junit->suite);
	report_add_summary(&report, junit->compare, junit->against, junit->error);
	exit_code = close_file(out, path, out && report_write_markdown(&report, out));
	report_fini(&report);
	return exit_code;
}

static int write_files(struct cli *cli, const struct junit *junit)
{
	int rc = cli->junit ? write_junit(cli->junit, junit) : CLI_PASS;

	if (rc == CLI_PASS && cli->summary)
		rc = write_summary(cli->summary, junit);
	return rc;
}

int cmd_compare_write_failure(struct cli *cli, const char *suite, const char *error)
{
	return write_files(cli, &(struct junit){.suite = suite, .error = error});
}

static void keep_suspects(const struct change *change, struct cmd_outcome *outcome)
{
	outcome->suspects = calloc(change->row_count + 1, sizeof(*outcome->suspects));
	for (size_t i = 0; outcome->suspects && i < change->row_count; i++) {
		char *name = change->judged[i].judgement == JUDGEMENT_SUSPECT
				     ? strdup(change->rows[i].name)
				     : NULL;

		if (name)
			outcome->suspects[outcome->suspect_count++] = name;
	}
}

int cmd_compare_print(struct cli *cli, struct store *store, const int64_t *ids, size_t count,
	const struct baseline *baseline, struct cmd_outcome *outcome, cJSON *json)
{
	struct against against = {0};
	struct junit junit = {.error = outcome && outcome->error ? outcome->error : "",
		.confirmed = outcome ? outcome->confirmed : NULL,
		.against = &against};
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
	exit_code = against_init(&against, store, baseline, ids, count);
	if (cli->json) {
		if (json)
			cJSON_AddItemToObject(json, "comparison", compare_to_json(&compare));
		else
			json = compare_to_json(&compare);
		tell(&against, json);
		if (outcome)
			outcome->json = json;
		else
			rc = cli_print_json(json);
	} else {
		text = compare_to_text(&compare);
		log_result("%s", text ? text : "out of memory\n");
		rc = text ? CLI_PASS : CLI_LAB;
		free(text);
		tell(&against, NULL);
	}
	if (outcome)
		keep_suspects(&against.change, outcome);
	junit.compare = &compare;
	junit.suite = count ? compare.runs[0]->suite : "sameboard";
	if (rc == CLI_PASS)
		rc = write_files(cli, &junit);
	against_fini(&against);
	compare_fini(&compare);
	return rc != CLI_PASS ? rc : exit_code;
}

bool cmd_compare_is_suspect(const struct cmd_outcome *outcome, const char *row)
{
	for (size_t i = 0; i < outcome->suspect_count; i++)
		if (strcmp(row, outcome->suspects[i]) == 0)
			return true;
	return false;
}

void cmd_compare_join(struct cmd_outcome *first, struct cmd_outcome *second)
{
	cJSON *suspects;

	if (!first->json || !second->json)
		return;
	suspects = cJSON_AddArrayToObject(second->json, "suspects");
	for (size_t i = 0; i < first->suspect_count; i++) {
		cJSON *suspect = cJSON_CreateObject();

		cJSON_AddStringToObject(suspect, "row", first->suspects[i]);
		cJSON_AddBoolToObject(
			suspect, "shows_again", cmd_compare_is_suspect(second, first->suspects[i]));
		cJSON_AddItemToArray(suspects, suspect);
	}
	cJSON_AddItemToObject(first->json, "retry", second->json);
	second->json = NULL;
}

int cmd_compare_find_runs(struct cli *cli, struct store *store, const char *const *words,
	size_t word_count, int64_t **ids, char *set, size_t set_size)
{
	int64_t job_id = 0;
	int rc = 0, count;

	*ids = NULL;
	snprintf(set, set_size, "%zu runs", word_count);
	if (word_count > 0 && cli->job) {
		log_error("give --job or runs, not both");
		return -CLI_USAGE;
	}
	if (word_count > 0) {
		*ids = calloc(word_count, sizeof(**ids));
		for (size_t i = 0; *ids && rc == 0 && i < word_count; i++)
			rc = query_resolve_run(store, words[i], &(*ids)[i]);
		count = (int)word_count;
	} else {
		rc = query_resolve_job(store, cli->job ? cli->job : "LAST", &job_id);
		count = rc == 0 ? query_job_runs(store, job_id, ids) : rc;
		rc = count < 0 ? count : 0;
		snprintf(set, set_size, "job %lld", (long long)job_id);
	}
	if (rc != 0 || !*ids) {
		log_error("%s", rc ? store_error(store) : "there are no runs");
		return -CLI_USAGE;
	}
	return count;
}

int command_compare(struct cli *cli)
{
	struct store *store = NULL;
	struct baseline baseline = {0};
	int64_t *ids = NULL;
	char set[64];
	int count, exit_code = CLI_USAGE;

	if (store_open(&store, cli->db, STORE_READ_ONLY) != 0) {
		log_error("%s", store_error(store));
		goto out;
	}
	if (baseline_find(&baseline, store, cli->baseline) != 0) {
		log_error("--baseline: %s", baseline.error);
		goto out;
	}
	count = cmd_compare_find_runs(
		cli, store, cli->arguments, cli->argument_count, &ids, set, sizeof(set));
	exit_code = count < 0 ? -count
			      : cmd_compare_print(
					cli, store, ids, (size_t)count, &baseline, NULL, NULL);
out:
	baseline_fini(&baseline);
	free(ids);
	store_close(store);
	return exit_code;
}

/* --------------------------------------------------------------- baseline */

static int list_baselines(struct cli *cli, struct store *store)
{
	struct query_baseline *rows = NULL;
	int count = query_baselines(store, &rows);
	cJSON *json = cli->json ? cJSON_CreateArray() : NULL, *runs = NULL;

	if (count < 0) {
		log_error("%s", store_error(store));
		cJSON_Delete(json);
		return CLI_LAB;
	}
	for (int i = 0; i < count; i++) {
		bool is_first = i == 0 || strcmp(rows[i].name, rows[i - 1].name) != 0;

		if (!json) {
			if (is_first)
				log_result("%s%s: runs", i ? "\n" : "", rows[i].name);
			log_result(" %lld", (long long)rows[i].run_id);
			continue;
		}
		if (is_first) {
			cJSON *one = cJSON_CreateObject();

			cJSON_AddItemToArray(json, one);
			cJSON_AddStringToObject(one, "baseline", rows[i].name);
			cJSON_AddNumberToObject(one, "created_ms", (double)rows[i].created_ms);
			runs = cJSON_AddArrayToObject(one, "runs");
		}
		cJSON_AddItemToArray(runs, cJSON_CreateNumber((double)rows[i].run_id));
	}
	free(rows);
	if (json)
		return cli_print_json(json);
	log_result("%s", count ? "\n" : "no baselines\n");
	return CLI_PASS;
}

/* Only valid runs of one suite on one board are something to hold others against. */
static bool may_be_baseline(struct store *store, const int64_t *ids, int count)
{
	char board[64] = "", suite[64] = "";

	for (int i = 0; i < count; i++) {
		struct query_run *run = NULL;
		bool is_good = false;

		if (query_run(store, ids[i], &run) != 0)
			log_error("%s", store_error(store));
		else if (run->verdict != VERDICT_PASS)
			log_error("run %lld is not valid (%s: %s): nothing can be held against it",
				(long long)ids[i], verdict_name(run->verdict), run->reason);
		else if (i > 0 &&
			 (strcmp(board, run->board) != 0 || strcmp(suite, run->suite) != 0))
			log_error("run %lld is of suite %s on board %s, the others of %s on %s: a "
				  "baseline is of one suite on one board",
				(long long)ids[i], run->suite, run->board, suite, board);
		else
			is_good = true;
		if (is_good && i == 0) {
			snprintf(board, sizeof(board), "%s", run->board);
			snprintf(suite, sizeof(suite), "%s", run->suite);
		}
		free(run);
		if (!is_good)
			return false;
	}
	return count > 0;
}

static int set_baseline(struct cli *cli, struct store *store)
{
	const char *name = cli->arguments[0];
	int64_t *ids = NULL;
	char set[64];
	int count, exit_code = CLI_USAGE;

	if (!baseline_is_name(name)) {
		log_error("\"%s\" is no name for a baseline: letters, digits and ._-, at most 64, "
			  "not digits alone and not LAST",
			name);
		return CLI_USAGE;
	}
	count = cmd_compare_find_runs(
		cli, store, cli->arguments + 1, cli->argument_count - 1, &ids, set, sizeof(set));
	if (count > 0 && may_be_baseline(store, ids, count)) {
		exit_code = store_set_baseline(
				    store, name, NULL, ids, (size_t)count, store_now_ms()) == 0
				    ? CLI_PASS
				    : CLI_LAB;
		if (exit_code != CLI_PASS)
			log_error("%s", store_error(store));
		else if (!cli->json)
			log_result("baseline %s: %d runs\n", name, count);
	}
	free(ids);
	return exit_code == CLI_PASS && cli->json ? list_baselines(cli, store) : exit_code;
}

int command_baseline(struct cli *cli)
{
	struct store *store = NULL;
	bool is_list = cli->argument_count == 0;
	int exit_code = CLI_USAGE;

	if (store_open(&store, cli->db, is_list ? STORE_READ_ONLY : 0) != 0)
		log_error("%s", store_error(store));
	else
		exit_code = is_list ? list_baselines(cli, store) : set_baseline(cli, store);
	store_close(store);
	return exit_code;
}
