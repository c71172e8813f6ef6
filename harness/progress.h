/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a worker tells its daemon, over a SOCK_SEQPACKET socket: one packet a
 * record, its first byte the kind, the rest bytes as they are.  A daemon that
 * does not listen never holds a worker up: what finds no room is counted and
 * the count is the next record that does.
 */
#ifndef SAMEBOARD_HARNESS_PROGRESS_H
#define SAMEBOARD_HARNESS_PROGRESS_H

#include "boardctl/link.h"

enum progress_kind {
	PROGRESS_LINE = 'p',  /* a line of progress */
	PROGRESS_ERROR = 'e', /* an error's text */
	PROGRESS_RX = 'r',    /* console bytes from the board */
	PROGRESS_TX = 't',    /* console bytes to the board */
	PROGRESS_LOST = 'l',  /* number of records that were dropped, in decimal */
};

#define PROGRESS_SIZE_MAX 16384 /* of a packet */

struct progress {
	int fd;
	unsigned lost;
};

/* Progress and errors of this process go to fd (kept by the caller) from now on. */
void progress_begin(struct progress *progress, int fd);
void progress_end(struct progress *progress);

/* Console bytes as records; lives as long as it. */
struct link_tap progress_tap(struct progress *progress);

#endif
