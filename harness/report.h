/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a worker tells its daemon, over a SOCK_SEQPACKET socket: one packet a
 * record, its first byte the kind, the rest bytes as they are.  A daemon that
 * does not listen never holds a worker up: what finds no room is counted and
 * the count is the next record that does.
 */
#ifndef SAMEBOARD_HARNESS_REPORT_H
#define SAMEBOARD_HARNESS_REPORT_H

#include "boardctl/link.h"

enum report_kind {
	REPORT_PROGRESS = 'p', /* a line of progress */
	REPORT_ERROR = 'e',    /* an error's text */
	REPORT_RX = 'r',       /* console bytes from the board */
	REPORT_TX = 't',       /* console bytes to the board */
	REPORT_LOST = 'l',     /* number of records that were dropped, in decimal */
};

#define REPORT_SIZE_MAX 16384 /* of a packet */

struct report {
	int fd;
	unsigned lost;
};

/* Progress and errors of this process go to fd (kept by the caller) from now on. */
void report_begin(struct report *report, int fd);
void report_end(struct report *report);

/* Console bytes as records; lives as long as the report. */
struct link_tap report_tap(struct report *report);

#endif
