/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The console as a line of bytes. Waiting is VTIME's, since some configurations
 * of RT-Smart have neither poll() nor select().
 */
#ifndef AGENTS_RTSMART_RTSMART_CONSOLE_H
#define AGENTS_RTSMART_RTSMART_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <termios.h>

struct rtsmart_console {
	struct termios saved;
	bool is_raw;
	bool drains; /* tcdrain() works here */
};

/* 0 or a negative error number: no terminal. */
int rtsmart_console_open(struct rtsmart_console *console);
void rtsmart_console_close(struct rtsmart_console *console);

/* As in struct agent_port_ops; a timeout is kept to a tenth of a second. */
int rtsmart_console_read(uint8_t *data, size_t capacity, uint32_t timeout_ms);
int rtsmart_console_write(struct rtsmart_console *console, const uint8_t *data, size_t size);

#endif
