/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's end of a serial adapter: a pseudo-terminal whose slave the host opens through a
 * symbolic link. Functions return 0 or a negative errno. pty(7), tty_ioctl(4).
 */
#ifndef VBOARD_PTY_H
#define VBOARD_PTY_H

#include <stdbool.h>
#include <stdint.h>

struct pty {
	int master_fd;	/* non-blocking */
	int inotify_fd; /* readable when somebody opens the slave; -1 where there is none */
	char path[64];	/* the slave's */
};

/* Open a pair, raw at the given rate, and make link point to its slave. */
int pty_open(struct pty *pty, const char *link, unsigned baud);
void pty_close(struct pty *pty);

/* Whether the host has the slave open at this moment. */
bool pty_is_listened(const struct pty *pty);

/* Forget inotify's messages. */
void pty_clear_inotify(struct pty *pty);

/*
 * Throw away what was written for the host and not yet read by it, after it has closed the slave.
 * One that closes and opens again at once still reads it.
 */
void pty_flush(struct pty *pty);

/* The host's rate in baud; 0 when it is hung up (B0) or not set to eight bits without parity. */
unsigned pty_get_baud(const struct pty *pty);

#endif
