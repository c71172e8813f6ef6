/* SPDX-License-Identifier: Apache-2.0 */
/* sameboard bisect */
#include <cjson/cJSON.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/bisect.h"
#include "harness/cli.h"
#include "harness/log.h"

/* --name=value, kept in the caller's room. */
static void add(struct bisect *bisect, size_t *count, char room[][600], const char *name,
	const char *value, bool is_path)
{
	char path[PATH_MAX];

	if (!value)
		return;
	/* git works in the top folder, wherever this was started. */
	if (is_path && realpath(value, path) && strlen(path) < 500)
		value = path;
	snprintf(room[*count], 600, "--%s=%s", name, value);
	bisect->measure[*count] = room[*count];
	++*count;
}

int command_bisect(struct cli *cli)
{
	char program[PATH_MAX], room[BISECT_ARGUMENTS_MAX][600];
	struct bisect bisect = {.good = cli->arguments[0],
		.bad = cli->arguments[1],
		.build = cli->build ? cli->build : "make"};
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	size_t count = 0;
	cJSON *json;
	int rc;

	if (!cli->baseline) {
		log_error("bisect: --baseline is needed: what is slower is slower than something");
		return CLI_USAGE;
	}
	program[length > 0 ? length : 0] = '\0';
	bisect.measure[count++] = program;
	bisect.measure[count++] = "run";
	bisect.measure[count++] = cli->arguments[2];
	bisect.measure[count++] = "--bisect";
	add(&bisect, &count, room, "baseline", cli->baseline, false);
	add(&bisect, &count, room, "lab", cli->lab, true);
	add(&bisect, &count, room, "board", cli->board, false);
	add(&bisect, &count, room, "db", cli->db, true);
	if (cli->images_is_given)
		add(&bisect, &count, room, "images", cli->images, true);
	for (size_t i = 0; i < cli->system_count && i < 1; i++)
		add(&bisect, &count, room, "os", cli->systems[i], false);
	if (cli->system_count > 1) {
		log_error("bisect: --os takes one system here");
		return CLI_USAGE;
	}
	rc = bisect_run(&bisect);
	if (bisect.error[0])
		log_error("%s", bisect.error);
	if (rc == 1)
		rc = CLI_LAB;
	if (rc != 0 || !cli->json) {
		if (rc == 0)
			log_result("first bad commit: %s %s\n", bisect.first_bad, bisect.subject);
		return rc;
	}
	json = cJSON_CreateObject();
	cJSON_AddStringToObject(json, "first_bad", bisect.first_bad);
	cJSON_AddStringToObject(json, "subject", bisect.subject);
	return cli_print_json(json);
}
