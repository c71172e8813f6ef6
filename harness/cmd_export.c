/* SPDX-License-Identifier: Apache-2.0 */
/* sameboard export, verify */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli.h"
#include "harness/export.h"
#include "harness/log.h"
#include "harness/verify.h"

/* ------------------------------------------------------------------ export */

static int write_file(const char *path, const char *text)
{
	FILE *out = strcmp(path, "-") == 0 ? stdout : fopen(path, "wxe");
	size_t size = strlen(text);
	bool is_written = out && fwrite(text, 1, size, out) == size && fputc('\n', out) != EOF;

	if (out && out != stdout && fclose(out) != 0)
		is_written = false;
	if (is_written)
		return CLI_PASS;
	log_error("cannot write %s: %s", path, strerror(errno));
	return errno == EEXIST ? CLI_USAGE : CLI_LAB;
}

int command_export(struct cli *cli)
{
	const char *path = cli->arguments[1];
	struct store *store = NULL;
	char *text = NULL;
	int64_t run_id = 0;
	int rc = store_open(&store, cli->db, STORE_READ_ONLY);
	int exit_code = CLI_USAGE;

	if (rc == 0)
		rc = query_resolve_run(store, cli->arguments[0], &run_id);
	if (rc == 0)
		rc = export_run(store, run_id, &text);
	if (rc != 0)
		log_error("%s", rc == -ENOMEM ? "out of memory" : store_error(store));
	else
		exit_code = write_file(path, text);
	if (exit_code == CLI_PASS && strcmp(path, "-") != 0) {
		cJSON *json = cJSON_CreateObject();

		cJSON_AddNumberToObject(json, "run", (double)run_id);
		cJSON_AddStringToObject(json, "file", path);
		cJSON_AddNumberToObject(json, "bytes", (double)strlen(text) + 1);
		if (cli->json)
			exit_code = cli_print_json(json);
		else
			log_result("run %lld: %zu bytes in %s; `sameboard verify %s` judges it "
				   "again\n",
				(long long)run_id, strlen(text) + 1, path, path);
		if (!cli->json)
			cJSON_Delete(json);
	}
	free(text);
	store_close(store);
	return exit_code;
}

/* ------------------------------------------------------------------ verify */

static void print_checks(const struct verify *verify)
{
	log_result("%s: %s\n", verify->title,
		verify_holds(verify) ? "everything holds" : "NOT what it was");
	for (int i = 0; i < VERIFY_CHECKS; i++) {
		const struct verify_check *check = &verify->checks[i];

		log_result("  %-14s %s, %u looked at%s%s\n", check->what,
			check->wrong  ? "DIFFERS"
			: check->done ? "holds"
				      : "nothing to look at",
			check->done, check->detail[0] ? ": " : "", check->detail);
		if (check->wrong > 1)
			log_result("  %-14s and %u more\n", "", check->wrong - 1);
	}
}

int command_verify(struct cli *cli)
{
	struct verify verify;
	cJSON *json, *list;
	int exit_code;

	if (verify_file(&verify, cli->arguments[0]) != 0) {
		log_error("%s", verify.error);
		return CLI_USAGE;
	}
	exit_code = verify_holds(&verify) ? CLI_PASS : CLI_FAIL;
	if (!cli->json) {
		print_checks(&verify);
		return exit_code;
	}
	json = cJSON_CreateObject();
	cJSON_AddStringToObject(json, "title", verify.title);
	cJSON_AddBoolToObject(json, "holds", verify_holds(&verify));
	list = cJSON_AddArrayToObject(json, "checks");
	for (int i = 0; i < VERIFY_CHECKS; i++) {
		cJSON *item = cJSON_CreateObject();

		cJSON_AddStringToObject(item, "check", verify.checks[i].what);
		cJSON_AddNumberToObject(item, "done", verify.checks[i].done);
		cJSON_AddNumberToObject(item, "wrong", verify.checks[i].wrong);
		cJSON_AddStringToObject(item, "detail", verify.checks[i].detail);
		cJSON_AddItemToArray(list, item);
	}
	return cli_print_json(json) == CLI_PASS ? exit_code : CLI_LAB;
}
