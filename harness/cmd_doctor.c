/* SPDX-License-Identifier: Apache-2.0 */
/* sameboard doctor */
#include <cjson/cJSON.h>
#include <string.h>

#include "harness/cli.h"
#include "harness/doctor.h"
#include "harness/log.h"

/* The image that needs the least of a board. */
#define DOCTOR_SYSTEM "baremetal"

static void print_check(void *context, const struct doctor_check *check)
{
	(void)context;
	log_result(
		"%-14s %-8s %s\n", check->id, doctor_verdict_name(check->verdict), check->evidence);
	if (check->advice[0])
		log_result("%-23s -> %s\n", "", check->advice);
	log_flush();
}

static cJSON *checks_to_json(const struct doctor *doctor, const char *board)
{
	cJSON *json = cJSON_CreateObject();
	cJSON *list = cJSON_AddArrayToObject(json, "checks");

	cJSON_AddStringToObject(json, "board", board);
	for (size_t i = 0; i < doctor->count; i++) {
		cJSON *item = cJSON_CreateObject();

		cJSON_AddStringToObject(item, "check", doctor->checks[i].id);
		cJSON_AddStringToObject(
			item, "verdict", doctor_verdict_name(doctor->checks[i].verdict));
		cJSON_AddStringToObject(item, "evidence", doctor->checks[i].evidence);
		cJSON_AddStringToObject(item, "advice", doctor->checks[i].advice);
		cJSON_AddItemToArray(list, item);
	}
	return json;
}

int command_doctor(struct cli *cli)
{
	struct doctor doctor = {.tell = cli->json ? NULL : print_check};
	struct manifest *manifest = NULL;
	const struct lab_board *config;
	struct lab *lab = NULL;
	int exit_code = CLI_USAGE;

	if (lab_open(&lab, cli->lab) != 0 || !(config = lab_find_board(lab, cli->arguments[0]))) {
		log_error("%s", lab_error(lab));
		lab_close(lab);
		return CLI_USAGE;
	}
	if (manifest_find(&manifest, cli->images, DOCTOR_SYSTEM) != 0) {
		log_progress("no image with an agent: %s", manifest_error(manifest));
		manifest_close(manifest);
		manifest = NULL;
	}
	exit_code = doctor_examine(&doctor, config, manifest) ? CLI_PASS : CLI_LAB;
	if (cli->json && cli_print_json(checks_to_json(&doctor, config->name)) != CLI_PASS)
		exit_code = CLI_LAB;
	manifest_close(manifest);
	lab_close(lab);
	return exit_code;
}
