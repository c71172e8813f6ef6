/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The board named `local`: the machine that this program runs on.  Its agent
 * is a child behind a pseudo-terminal; there is no relay, no card, no loader,
 * and the gates about those are not-applicable.
 */
#ifndef SAMEBOARD_HARNESS_LOCAL_H
#define SAMEBOARD_HARNESS_LOCAL_H

#include <limits.h>
#include <stdbool.h>

#include "harness/lab.h"
#include "harness/manifest.h"

#define LOCAL_NAME   "local"
#define LOCAL_SYSTEM "linux"

struct local {
	struct lab_board board;
	char agent[PATH_MAX];
};

/* Whether a board's name means this machine; NULL does not. */
bool local_is_named(const char *board);

/* The board; its agent lies beside this program.  `local` must outlive it. */
const struct lab_board *local_get_board(struct local *local);

/*
 * What runs here, in the place of an image's manifest; manifest_close() it.
 * NULL without memory.
 */
struct manifest *local_make_manifest(void);

#endif
