/* SPDX-License-Identifier: Apache-2.0 */
/* The console as a line of bytes: standard input and output in raw mode. */
#ifndef AGENTS_NUTTX_NUTTX_CONSOLE_H
#define AGENTS_NUTTX_NUTTX_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <termios.h>

struct nuttx_console {
	struct termios saved;
	bool is_raw;
};

/* 0 or a negative error number: no terminal. */
int nuttx_console_open(struct nuttx_console *console);
/* As it was before; what was typed meanwhile is the shell's. */
void nuttx_console_close(struct nuttx_console *console);

/* As in struct agent_port_ops. */
int nuttx_console_read(uint8_t *data, size_t capacity, uint32_t timeout_ms);
int nuttx_console_write(const uint8_t *data, size_t size);

/* Bytes that have come and were not read; negative: not known. */
int nuttx_console_count_waiting(void);

#endif
