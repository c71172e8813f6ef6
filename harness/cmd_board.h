/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands that act on a board by hand share. */
#ifndef SAMEBOARD_HARNESS_CMD_BOARD_H
#define SAMEBOARD_HARNESS_CMD_BOARD_H

#include "harness/board.h"
#include "harness/cli.h"

/* Open the board that the first argument names, act, and leave it as it is. An exit code. */
int cmd_board_with(struct cli *cli, int (*act)(struct cli *cli, struct board *board));

/* Prints {"board": ..., name: value}, or the value alone. */
int cmd_board_print(
	struct cli *cli, const struct board *board, const char *name, const char *value);

#endif
