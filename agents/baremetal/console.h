/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for a person on the console: the line at start and the last words of a
 * crash.  Each line counts as one kernel message.
 */
#ifndef AGENTS_BAREMETAL_CONSOLE_H
#define AGENTS_BAREMETAL_CONSOLE_H

#include <stdint.h>

#include "agents/core/text.h"

#define CONSOLE_LINE_MAX 160u

/* From now on lines go to the UART; before, the firmware prints them. */
void console_use_uart(void);

/* Prints the text (no line end in it) as one line. */
void console_say(const struct text *text);

/* Lines printed so far. */
uint64_t console_count_lines(void);

/* Prints why, and stops for good with interrupts kept out. */
_Noreturn void console_halt(const char *why);

#endif
