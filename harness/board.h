/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A board of the lab, held: its lock, power, mux, card and console.  The board
 * is driven to its rest state by board_close() on every path, and that is
 * verified where the relay can tell.
 *
 * Errors: 0 or a negative errno of boardctl/{link,power,sdmux,card}.h, the
 * text in board_error().  -EBUSY also when another process holds the board.
 * One thread.
 */
#ifndef SAMEBOARD_HARNESS_BOARD_H
#define SAMEBOARD_HARNESS_BOARD_H

#include <stdbool.h>

#include "harness/lab.h"

struct board {
	const struct lab_board *config; /* borrowed */
	struct link *console;		/* NULL until board_open_console() */
	struct power *power;
	struct sdmux *mux;	     /* NULL: the card is changed by hand */
	struct console_share *share; /* the console for viewers; NULL without one */
	int lock;
	bool lock_is_busy;   /* another process has the board */
	bool is_powered;     /* as commanded last */
	bool is_touched;     /* anything was switched: close drives to rest */
	uint64_t card_bytes; /* of the card that the host saw last; 0: none */
	char error[768];
};

/*
 * Take the lock and open relay and mux.  Switches nothing.  `what` is shown to
 * others that want the board, e.g. "run demo".  *board is the caller's storage;
 * always board_close() it.
 */
int board_open(struct board *board, const struct lab_board *config, const char *what);

/* The rest state, verified, with the board kept open. */
int board_rest(struct board *board);

/* Rest state, verified; everything closed.  0, or the error of the rest state:
 * the board may then be powered, and board_error() says so. */
int board_close(struct board *board);
const char *board_error(const struct board *board);

/* Who holds a board's lock, as text: "pid 12 (run demo)"; "" if nobody. */
void board_get_holder(const struct lab_board *config, char *text, size_t size);

/* Where the holder of the board lets others see its console. 0 or a negative errno. */
int board_find_share(const struct lab_board *config, char *path, size_t size);

/* Switch and read back.  The local board has no switch: nothing to do. */
int board_set_power(struct board *board, bool on);

/* What the board takes; -ENOTSUP where its switch does not measure that. */
int board_get_watts(struct board *board, double *watts);

/* Open the console, and let viewers see it from now on. */
int board_open_console(struct board *board);

/*
 * Board off, mux to host, write and verify, mux off, mux to the board.
 * written gets the hash as read back.  Without a mux: -ENOTSUP.
 */
int board_write_card(struct board *board, const struct card_image *image,
	const struct card_progress *progress, char written[SHA256_HEX_SIZE]);

/* The same, but only reads: the hash of the card's first size_bytes. */
int board_read_card(struct board *board, uint64_t size_bytes, const struct card_progress *progress,
	char hash[SHA256_HEX_SIZE]);

/* Board off, card to the board.  Nothing to do without a mux. */
int board_insert_card(struct board *board);

/* "off", "host", "dut"; -ENOTSUP without a mux. */
int board_set_mux(struct board *board, enum sdmux_position position);

#endif
