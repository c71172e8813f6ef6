/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tty that the agent answers on: raw while it is open, put back as it was
 * afterwards.  Errors are negative errno values, texts in console_error().
 */
#ifndef AGENTS_LINUX_CONSOLE_H
#define AGENTS_LINUX_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <termios.h>

struct console {
	int input;
	int output;
	bool is_owned; /* the descriptors were opened here */
	bool is_raw;
	struct termios saved;
	char error[160];
};

/* Bytes the UART has moved, as its driver counts them. */
struct console_counts {
	bool rx_is_known;
	bool tx_is_known;
	uint64_t rx;
	uint64_t tx;
};

/*
 * `path` NULL: standard input and output.  `baud` 0 leaves the rate.  The
 * handle is set even on failure; console_close() in every case.
 */
int console_open(struct console *console, const char *path, unsigned int baud);
void console_close(struct console *console);
const char *console_error(const struct console *console);

/* As struct agent_port_ops; signals are let through here: one gives -EINTR. */
int console_read(struct console *console, uint8_t *data, size_t capacity, uint32_t timeout_ms);
/* Returns when the driver's buffer, the FIFO and the shift register are empty. */
int console_write(struct console *console, const uint8_t *data, size_t size);

/* Where the driver does not count, rx is what waits unread and tx is not known. */
void console_get_counts(const struct console *console, struct console_counts *counts);

/* Any rate; what was written has left before.  0 or a negative errno. */
int console_set_baud(struct console *console, uint32_t baud);

/* The rate that is set, 0 when it is none of the standard ones. */
unsigned int console_get_baud(const struct console *console);

#endif
