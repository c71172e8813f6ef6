/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_FAIL_H
#define BOARDCTL_FAIL_H

#include <stddef.h>

/* Room for an error text in a handle; longer texts are cut. */
#define FAIL_TEXT_SIZE 512

/*
 * Write an error text into text[size] and return code, so that a caller can
 * write `return fail_format(h->error, sizeof(h->error), -EIO, "...", ...)`.
 * Bytes that a terminal would obey, or that are no UTF-8, come out as '?'.
 */
int fail_format(char *text, size_t size, int code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif
