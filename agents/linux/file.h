/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small files of /proc and /sys.  Errors are negative errno values.
 */
#ifndef AGENTS_LINUX_FILE_H
#define AGENTS_LINUX_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * At most size-1 bytes into text, a NUL behind them, trailing newlines, blanks
 * and NULs cut off.  The length, or a negative errno and an empty text.
 */
ssize_t file_read_text(const char *path, char *text, size_t size);

/* The first big-endian 32- or 64-bit cell of a device-tree property; 0 when there is none. */
uint64_t file_read_cell(const char *path);

/* The whole text in one write. */
int file_write_text(const char *path, const char *text);

#endif
