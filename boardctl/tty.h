/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_TTY_H
#define BOARDCTL_TTY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * What every tty has in common below a link driver: a non-blocking descriptor.
 * 0 or a count, else a negative errno; a tty that is gone is always -ENODEV.
 */

/* Bytes, or 0 after timeout_ms without any. */
ssize_t tty_read(int fd, void *buffer, size_t size, unsigned timeout_ms);

/* All of it, or -ETIMEDOUT when nothing moved for two seconds beyond the line time. */
int tty_write(int fd, const void *data, size_t size, uint32_t baud);

int tty_drain(int fd);
int tty_flush_input(int fd);

/* Raw, 8N1, no flow control, no HUPCL, any rate. -ENOTTY when it is no tty. */
int tty_set_raw(int fd, uint32_t baud);

/* Only the rate; waits for what was written. */
int tty_set_baud(int fd, uint32_t baud);

/* One process at a time, by an advisory lock: -EBUSY. It ends with the descriptor. */
int tty_lock(int fd);

#endif
