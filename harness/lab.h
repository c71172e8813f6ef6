/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lab files: the boards of a bench and the wires to each of them, as the
 * configuration structs of boardctl.  JSON with comments, see
 * harness/schema/lab.json.
 *
 * Paths in the file are relative to the folder of the lab file.  A mux command
 * without a slash is a name on PATH; a mux device without a slash is a name
 * below /dev/usb-sd-mux.
 *
 * Errors: 0 or a negative errno, text in lab_error() ("FILE:LINE: KEY: ...").
 * Everything in the structs lives until lab_close(); one thread a lab.
 */
#ifndef SAMEBOARD_HARNESS_LAB_H
#define SAMEBOARD_HARNESS_LAB_H

#include "boardctl/card.h"
#include "boardctl/link.h"
#include "boardctl/loader.h"
#include "boardctl/power.h"
#include "boardctl/sdmux.h"
#include "harness/bootrules.h"
#include "harness/document.h"

/* The board's clock. */
enum lab_time {
	LAB_TIME_REAL,
	LAB_TIME_ICOUNT, /* a virtual board's, by executed instructions: nothing may be typed */
};

/* What power is driven to, and read back, on every exit path. */
enum lab_rest {
	LAB_REST_OFF,
	LAB_REST_ON,
};

struct lab_board {
	const char *name;
	const char *model; /* e.g. "lichee-rv-86-panel" */
	struct link_config console;
	unsigned latency_ms; /* of the console's adapter: its bytes may come so late; 16, pty 1 */
	uint32_t max_baud;   /* pulls may raise the line so far; 0 = never */
	struct power_config power;
	bool has_sdmux; /* without one, sdmux and card are empty: the card is changed by hand */
	struct sdmux_config sdmux;
	struct card_config card;
	struct loader_config loader;
	enum lab_rest rest;
	enum lab_time time;
	bool is_local;		 /* this machine itself (harness/local.h); never from a file */
	const char *rules_path;	 /* of the watcher's own rules; NULL = only the built-in ones */
	struct bootrules *rules; /* never NULL in an open lab; lab_close() frees it */
	const struct document_node *node;
};

struct lab {
	struct lab_board *boards; /* in the order of the file, at least one */
	size_t board_count;
	const char *path;
	struct document *document;
	char error[768];
};

/*
 * Reads `path`, or if NULL the first there is of $SAMEBOARD_LAB, ./lab.json and
 * ~/.config/sameboard/lab.json ($XDG_CONFIG_HOME is honoured); -ENOENT names
 * where it looked.  $SAMEBOARD_LAB must exist if set.  *lab is set even on
 * failure (NULL only without memory); always close it.
 */
int lab_open(struct lab **lab, const char *path);

/* The same from text; `name` stands for the file. */
int lab_parse(struct lab **lab, const char *name, const char *text, size_t size);
void lab_close(struct lab *lab);
const char *lab_error(const struct lab *lab);

/*
 * The board of this name, or the only one if `name` is NULL.  NULL with the
 * boards there are in lab_error() where that fails.
 */
const struct lab_board *lab_find_board(struct lab *lab, const char *name);

/* The table that the file is read by (compared with the JSON schema by a test). */
extern const struct document_shape lab_shape;

#endif
