/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SD mux: the card's file is at the host (DIR/card is a symbolic link to it, as a by-id name
 * is one to a disk), at the board, or at neither.
 */
#ifndef VBOARD_MUX_H
#define VBOARD_MUX_H

#include <stdbool.h>

enum mux_mode { MUX_MODE_HOST, MUX_MODE_DUT, MUX_MODE_OFF };

struct mux {
	enum mux_mode mode;
	int dir_fd;	  /* borrowed */
	const char *card; /* borrowed, an absolute path */
	bool hides_card;  /* the host never sees the card */
};

/* Begin at "dut". */
void mux_init(struct mux *mux, int dir_fd, const char *card, bool hides_card);

/* 0, or a negative errno when the link cannot be made or removed: then the mode is unchanged. */
int mux_set_mode(struct mux *mux, enum mux_mode mode);

/* "host", "dut" or "off". */
const char *mux_get_name(enum mux_mode mode);

/* False when the name is none of them. */
bool mux_parse_mode(const char *name, enum mux_mode *mode);

#endif
