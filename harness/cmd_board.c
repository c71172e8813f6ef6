/* SPDX-License-Identifier: Apache-2.0 */
/* sameboard boards, power */
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/queue.h"
#include "harness/board.h"
#include "harness/cli.h"
#include "harness/cmd_board.h"
#include "harness/log.h"
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

static struct cardlog *find_card(struct store *store, const char *board)
{
	struct cardlog *card = NULL;

	if (store)
		cardlog_get(store, board, &card);
	return card;
}

static void print_card(const struct cardlog *card)
{
	char when[32];

	log_result("  card %s: %lld writes, %lld errors", card->device, (long long)card->writes,
		(long long)card->errors);
	if (card->sha256[0])
		log_result(
			", holds %.12s since %s", card->sha256, show_utc(card->written_ms, when));
	log_result("\n");
	if (card->error[0])
		log_result("    the last error: %s\n", card->error);
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
		struct cardlog *card;

		if (only && strcmp(only, board->name) != 0)
			continue;
		health = find_health(store, board->name);
		card = find_card(store, board->name);
		if (json)
			cJSON_AddItemToArray(json, show_board_to_json(board, health, card));
		else
			print_board(board, health);
		if (!json && card)
			print_card(card);
		free(health);
		free(card);
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

int cmd_board_with(struct cli *cli, int (*act)(struct cli *cli, struct board *board))
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

int cmd_board_print(struct cli *cli, const struct board *board, const char *name, const char *value)
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
	return cmd_board_print(cli, board, "power", on ? "on" : "off");
}

int command_power(struct cli *cli)
{
	static const char *const verbs[] = {"on", "off", "cycle", "status"};

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(cli->arguments[1], verbs[i]) == 0)
			return cmd_board_with(cli, act_power);
	log_error("power: \"%s\" is none of on, off, cycle, status", cli->arguments[1]);
	return CLI_USAGE;
}
