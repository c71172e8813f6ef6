/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual 86 Panel: the relay's first channel gives power to one QEMU, whose UART is the
 * console line, and the mux decides who has the card. The faults of the plan happen here.
 */
#ifndef VBOARD_BOARD_H
#define VBOARD_BOARD_H

#include <stdbool.h>

#include "boardctl/vboard/fault.h"
#include "boardctl/vboard/guard.h"
#include "boardctl/vboard/line.h"
#include "boardctl/vboard/loop.h"
#include "boardctl/vboard/mux.h"
#include "boardctl/vboard/qemu.h"
#include "boardctl/vboard/relay.h"

struct board {
	struct loop *loop;
	struct guard *guard;
	const struct fault_plan *plan;
	struct line uart;
	struct relay relay;
	struct mux mux;
	struct qemu qemu;
	struct loop_timer reset_timer, window_timer, cut_timer;
	bool has_power;
	/* Faults that have happened since power-on. */
	bool has_frozen, has_bounced, has_reset_window;
	unsigned power_ons;	/* since vboard's start */
	unsigned banner_so_far; /* characters of the awaited banner seen in a row */
};

/*
 * Make the ptys DIR/uart and DIR/relay, the board off. Everything but the board itself is borrowed
 * for its life. 0, or a negative errno after the reason was logged; close in any case.
 */
int board_open(struct board *board, struct loop *loop, struct guard *guard,
	const struct fault_plan *plan, const struct qemu_config *qemu, const char *dir, int dir_fd);

/* Power off and close the lines; the entries in DIR are the guard's to remove. */
void board_close(struct board *board);

/* Switch the mux; under power the board's card really vanishes or appears. 0 or negative errno. */
int board_set_mux(struct board *board, enum mux_mode mode);

/* A child of vboard has ended; true when it was this board's. */
bool board_reap(struct board *board, pid_t pid, int status);

#endif
