/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small files of /proc, /sys and /dev.  Errors are negative errno values.
 *
 * An overlay is a folder whose files stand before the system's own of the same
 * path: so that a test can show the agent a setting that refuses to change.
 */
#ifndef AGENTS_LINUX_FILE_H
#define AGENTS_LINUX_FILE_H

#include <glob.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The overlay for everything below, kept by reference; NULL: none.  Once, at the start. */
void file_set_overlay(const char *folder);

/* As open(2) with O_CLOEXEC and O_NOCTTY; -1 with errno. */
int file_open(const char *path, int flags);

/*
 * At most size-1 bytes into text, a NUL behind them, trailing newlines, blanks
 * and NULs cut off.  The length, or a negative errno and an empty text.
 */
ssize_t file_read_text(const char *path, char *text, size_t size);

/* A decimal number at the beginning of the file; 0, or a negative errno and *number as it was. */
int file_read_number(const char *path, int64_t *number);

/* The first big-endian 32- or 64-bit cell of a device-tree property; 0 when there is none. */
uint64_t file_read_cell(const char *path);

/* The whole text in one write. */
int file_write_text(const char *path, const char *text);

/*
 * Paths that fit the pattern, without the overlay's name in front; those of the
 * overlay where it has any.  The number; file_free_list() in every case.
 */
size_t file_list(const char *pattern, glob_t *found);
const char *file_list_path(const glob_t *found, size_t i);
void file_free_list(glob_t *found);

#endif
