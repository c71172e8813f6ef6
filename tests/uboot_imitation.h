/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loader on a pty that goes wrong on demand in the ways the real one only
 * does on a bad line. It edits lines, knows quotes, `;` and $?, and a few
 * commands:
 *   true, fail, echo TEXT, crc32 A S, lines N, stuck (until Ctrl-C), if (asks
 *   for more), reset, and anything else starts the system.
 */
#ifndef TESTS_UBOOT_IMITATION_H
#define TESTS_UBOOT_IMITATION_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct imitation {
	/* Set before imitation_start(). */
	const char *banner;    /* before the countdown; NULL = U-Boot's; "" = none */
	unsigned delay_ms;     /* before it */
	char key;	       /* that stops autoboot; 0 = any */
	bool has_no_countdown; /* it says nothing after its banner */
	bool is_plain;	       /* knows neither quotes nor $? */
	bool is_deaf;	       /* prints a prompt and reads nothing */
	unsigned eat_every;    /* this many bytes, one is not received */
	unsigned change_every; /* this many bytes, one is received as another */
	unsigned garble_every; /* this many bytes, one is sent damaged */

	/* To be read after imitation_stop(). */
	unsigned early_bytes;  /* received before the banner */
	unsigned bare_returns; /* CR on an empty line: runs the last command again */
	unsigned commands;     /* run, without the echoes */
	char booted[256];      /* the command that started the system */

	char path[64]; /* of the port */
	int master_fd, slave_fd, stop_fd;
	pthread_t thread;
	unsigned received, sent;
	int status;
};

void imitation_start(struct imitation *imitation);
/* Also hangs up; a second call does nothing. */
void imitation_stop(struct imitation *imitation);

#endif
