/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DIR/vboard.sock, for vboard-sdmux and for tests: a stream socket, one command a line, one answer
 * line each, "ok ..." or "error TEXT".
 *
 *   power       ok on PID | ok on none (QEMU has ended by itself) | ok off
 *   mux         ok host | ok dut | ok off
 *   mux MODE    the same, after switching
 *   card        ok PATH of the card's file
 *   stats       ok KEY=VALUE ... (control_stats in control.c names them)
 *   quit        ok; vboard ends
 */
#ifndef VBOARD_CONTROL_H
#define VBOARD_CONTROL_H

#include "boardctl/vboard/board.h"
#include "boardctl/vboard/loop.h"

#define CONTROL_CLIENTS_MAX 8
#define CONTROL_LINE_MAX    256

struct control;

struct control_client {
	struct control *control;
	struct loop_watch watch; /* fd -1: free */
	char text[CONTROL_LINE_MAX];
	size_t used;
};

struct control {
	struct loop *loop;
	struct board *board;
	struct loop_watch watch;
	struct control_client clients[CONTROL_CLIENTS_MAX];
};

/* Listen at "vboard.sock" in the directory. 0 or a negative errno; close in any case. */
int control_open(struct control *control, struct loop *loop, struct board *board, int dir_fd);
void control_close(struct control *control);

#endif
