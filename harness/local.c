/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/local.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "harness/paths.h"

/* Of a pseudo-terminal, which has none; only waits are reckoned by it. */
#define LOCAL_BAUD 1000000u

bool local_is_named(const char *board)
{
	return board && strcmp(board, LOCAL_NAME) == 0;
}

const struct lab_board *local_get_board(struct local *local)
{
	/* Where that fails, so does the start of the agent, which says it. */
	if (paths_beside_program("sameboard-agent", local->agent, sizeof(local->agent)) != 0)
		local->agent[0] = '\0';
	local->board = (struct lab_board){
		.name = LOCAL_NAME,
		.model = "this machine",
		.console = {.driver = "child", .path = local->agent, .baud = LOCAL_BAUD},
		.latency_ms = 1,
		.rest = LAB_REST_ON,
		.time = LAB_TIME_REAL,
		.is_local = true,
	};
	return &local->board;
}

struct manifest *local_make_manifest(void)
{
	/* The text behind the struct: both are freed at once. */
	struct utsname name = {.release = "unknown"};
	struct manifest *manifest = calloc(1, sizeof(*manifest) + sizeof(name.release) + 256);
	char *version = manifest ? (char *)(manifest + 1) : NULL;
	char *text = version ? version + sizeof(name.release) : NULL;

	if (!manifest)
		return NULL;
	if (uname(&name) == 0)
		strcpy(version, name.release);
	snprintf(text, 256,
		"{\n  \"system\": \"" LOCAL_SYSTEM "\",\n  \"version\": \"%.100s\",\n"
		"  \"start\": \"auto\",\n  \"writes_card\": false\n}\n",
		version);
	manifest->system = LOCAL_SYSTEM;
	manifest->version = version;
	manifest->file = "";
	manifest->image_path = "";
	manifest->sha256 = "";
	manifest->start = "auto";
	manifest->start_is_auto = true;
	manifest->uart.baud = LOCAL_BAUD;
	manifest->start_timeout_s = 30;
	manifest->protection = "";
	manifest->address_space = "";
	manifest->tick = "";
	manifest->text = text;
	manifest->path = LOCAL_NAME;
	return manifest;
}
