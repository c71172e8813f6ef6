/* SPDX-License-Identifier: Apache-2.0 */
/* sameboard boards, power, sd */
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/queue.h"
#include "harness/board.h"
#include "harness/cli.h"
#include "harness/log.h"
#include "harness/manifest.h"
#include "harness/show.h"

/* ----------------------------------------------------------------- boards */

/* NULL where nothing is known: no database yet, or one that cannot be read. */
static struct queue_health *find_health(struct store *store, const char *board)
{
	struct queue_health *health = NULL;

	if (store)
		queue_get_health(store, board, &health);
	return health;
}

static void print_board(const struct lab_board *board, const struct queue_health *health)
{
	char holder[128], since[32];

	board_get_holder(board, holder, sizeof(holder));
	log_result("%s  %s  console %s, power %s, sdmux %s  %s%s\n", board->name, board->model,
		board->console.driver, board->power.driver,
		board->has_sdmux ? board->sdmux.driver : "none", holder[0] ? "in use by " : "free",
		holder);
	if (health && health->quarantined_ms)
		log_result("  in quarantine since %s, after %lld lab failures in a row, the last: "
			   "%s\n  mend it, then `sameboard boards %s --release`\n",
			show_utc(health->quarantined_ms, since), (long long)health->lab_failures,
			health->reason, board->name);
}

static int show_boards(struct cli *cli, const struct lab *lab, const char *only)
{
	cJSON *json = cli->json ? cJSON_CreateArray() : NULL;
	struct store *store = NULL;

	if (store_open(&store, cli->db, STORE_READ_ONLY) != 0) {
		store_close(store);
		store = NULL;
	}
	for (size_t i = 0; i < lab->board_count; i++) {
		const struct lab_board *board = &lab->boards[i];
		struct queue_health *health;

		if (only && strcmp(only, board->name) != 0)
			continue;
		health = find_health(store, board->name);
		if (json)
			cJSON_AddItemToArray(json, show_board_to_json(board, health));
		else
			print_board(board, health);
		free(health);
	}
	store_close(store);
	return json ? cli_print_json(json) : CLI_PASS;
}

static int release(struct cli *cli, const char *board)
{
	struct store *store = NULL;
	int rc = store_open(&store, cli->db, STORE_NO_CREATE);

	if (rc == 0)
		rc = queue_release(store, board);
	if (rc != 0)
		log_error("%s", store_error(store));
	store_close(store);
	return rc == 0 ? CLI_PASS : rc == -ENOENT ? CLI_USAGE : CLI_LAB;
}

int command_boards(struct cli *cli)
{
	const char *only = cli->argument_count ? cli->arguments[0] : NULL;
	struct lab *lab = NULL;
	int exit_code = CLI_USAGE;

	if (lab_open(&lab, cli->lab) != 0 || (only && !lab_find_board(lab, only)))
		log_error("%s", lab_error(lab));
	else if (cli->release && !only)
		log_error("boards: --release needs the name of a board");
	else
		exit_code = cli->release ? release(cli, only) : CLI_PASS;
	if (exit_code == CLI_PASS)
		exit_code = show_boards(cli, lab, only);
	lab_close(lab);
	return exit_code;
}

/* Open the board that the first argument names, and do something with it. */
static int with_board(struct cli *cli, int (*act)(struct cli *cli, struct board *board))
{
	const struct lab_board *config;
	struct lab *lab = NULL;
	struct board board;
	int rc, exit_code = CLI_USAGE;

	if (lab_open(&lab, cli->lab) != 0 || !(config = lab_find_board(lab, cli->arguments[0]))) {
		log_error("%s", lab_error(lab));
		lab_close(lab);
		return CLI_USAGE;
	}
	rc = board_open(&board, config, cli->command_line);
	if (rc != 0) {
		log_error("%s", board_error(&board));
		exit_code = rc == -EINVAL ? CLI_USAGE : CLI_LAB;
	} else {
		exit_code = act(cli, &board);
	}
	/* What was asked for by hand stays as it is. */
	board.is_touched = false;
	board_close(&board);
	lab_close(lab);
	return exit_code;
}

/* Prints {"board": ..., name: value}, or the value alone. */
static int print_state(
	struct cli *cli, const struct board *board, const char *name, const char *value)
{
	cJSON *json;

	if (!cli->json) {
		log_result("%s\n", value);
		return CLI_PASS;
	}
	json = cJSON_CreateObject();
	cJSON_AddStringToObject(json, "board", board->config->name);
	cJSON_AddStringToObject(json, name, value);
	return cli_print_json(json);
}

/* ------------------------------------------------------------------ power */

static int act_power(struct cli *cli, struct board *board)
{
	const char *verb = cli->arguments[1];
	bool on = false;
	int rc;

	if (strcmp(verb, "on") == 0 || strcmp(verb, "off") == 0) {
		on = strcmp(verb, "on") == 0;
		rc = board_set_power(board, on);
	} else if (strcmp(verb, "cycle") == 0) {
		rc = board_set_power(board, false);
		on = rc == 0;
		if (rc == 0)
			rc = board_set_power(board, true);
	} else {
		rc = power_get(board->power, &on);
		if (rc != 0) {
			log_error("board %s: relay: %s", board->config->name,
				power_error(board->power));
			return CLI_LAB;
		}
	}
	if (rc != 0) {
		log_error("%s", board_error(board));
		return CLI_LAB;
	}
	return print_state(cli, board, "power", on ? "on" : "off");
}

int command_power(struct cli *cli)
{
	static const char *const verbs[] = {"on", "off", "cycle", "status"};

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(cli->arguments[1], verbs[i]) == 0)
			return with_board(cli, act_power);
	log_error("power: \"%s\" is none of on, off, cycle, status", cli->arguments[1]);
	return CLI_USAGE;
}

/* --------------------------------------------------------------------- sd */

static void see_progress(
	void *context, enum card_phase phase, uint64_t done_bytes, uint64_t total_bytes)
{
	static const char *const words[] = {"hashing image", "writing card", "verifying card"};

	(void)context;
	if (done_bytes == total_bytes)
		log_progress("%s, %llu MiB", words[phase], (unsigned long long)(total_bytes >> 20));
}

/* IMAGE is an image, or a manifest (then the image must be what it says). */
static int write_image(struct cli *cli, struct board *board)
{
	const char *path = cli->arguments[2];
	const char *dot = strrchr(path, '.');
	struct card_progress progress = {see_progress, NULL};
	struct card_image image = {path, NULL};
	struct manifest *manifest = NULL;
	char written[SHA256_HEX_SIZE];
	int rc, exit_code = CLI_LAB;

	if (dot && strcmp(dot, ".json") == 0) {
		if (manifest_open(&manifest, path) != 0) {
			log_error("%s", manifest_error(manifest));
			manifest_close(manifest);
			return CLI_USAGE;
		}
		image = (struct card_image){manifest->image_path, manifest->sha256};
	}
	rc = board_write_card(board, &image, &progress, written);
	if (rc == -EFBIG || rc == -EBADMSG || rc == -ENOENT)
		exit_code = CLI_USAGE;
	if (rc != 0)
		log_error("%s", board_error(board));
	else
		exit_code = print_state(cli, board, "sha256", written);
	manifest_close(manifest);
	return exit_code;
}

static int act_sd(struct cli *cli, struct board *board)
{
	const char *verb = cli->arguments[1];
	enum sdmux_position position = SDMUX_POSITION_OFF;
	bool powered = false;
	int rc;

	if (!board->mux) {
		log_error("board %s has no \"sdmux\" in the lab file", board->config->name);
		return CLI_USAGE;
	}
	if (strcmp(verb, "write") == 0)
		return write_image(cli, board);
	if (strcmp(verb, "status") == 0) {
		rc = sdmux_get(board->mux, &position);
		if (rc == 0)
			return print_state(cli, board, "sdmux", sdmux_position_name(position));
		log_error("board %s: SD mux: %s", board->config->name, sdmux_error(board->mux));
		return CLI_LAB;
	}
	if (power_get(board->power, &powered) == 0 && powered) {
		log_error("board %s is powered: its card is not moved; `sameboard power %s off` "
			  "first",
			board->config->name, board->config->name);
		return CLI_LAB;
	}
	while (strcmp(sdmux_position_name(position), verb) != 0)
		position++;
	if (board_set_mux(board, position) != 0) {
		log_error("%s", board_error(board));
		return CLI_LAB;
	}
	return print_state(cli, board, "sdmux", verb);
}

int command_sd(struct cli *cli)
{
	static const char *const verbs[] = {"host", "dut", "off", "status", "write"};
	const char *verb = cli->arguments[1];
	bool is_write = strcmp(verb, "write") == 0;

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(verb, verbs[i]) != 0)
			continue;
		if (is_write == (cli->argument_count == 3))
			return with_board(cli, act_sd);
		log_error(
			"sd: %s", is_write ? "write needs an IMAGE" : "only write takes an IMAGE");
		return CLI_USAGE;
	}
	log_error("sd: \"%s\" is none of host, dut, off, status, write", verb);
	return CLI_USAGE;
}
