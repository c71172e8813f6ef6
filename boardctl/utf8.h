/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_UTF8_H
#define BOARDCTL_UTF8_H

#include <stddef.h>

/*
 * Boards, relays and clients send any bytes; what is printed, stored or put
 * into JSON must be UTF-8 (RFC 3629). No state.
 */

/* Length of the sequence at `bytes`, 0 if it is none or longer than `left`. */
size_t utf8_measure(const char *bytes, size_t left);

/* Puts '?' in the place of every byte of the text that belongs to none. */
void utf8_mend(char *text);

/* The same, and of every control character but LF and tab: what a terminal only shows. */
void utf8_mend_text(char *text);

/* The same, LF and tab too: one line. */
void utf8_mend_line(char *text);

#endif
