/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text in a buffer of the caller's: facts, counters and the catalogue are made
 * of lines `key=value`.  Nothing is terminated by NUL.  From the first
 * line that does not fit on, lines are left out whole and `truncated` says so.
 */
#ifndef AGENTS_CORE_TEXT_H
#define AGENTS_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	char *data;
	uint32_t size;
	uint32_t capacity;
	uint32_t line; /* where the unfinished line begins */
	bool truncated;
};

void text_init(struct text *text, char *data, uint32_t capacity);

/* Append a piece as it is; control characters become blanks. */
void text_append(struct text *text, const char *piece);
void text_append_bytes(struct text *text, const char *piece, size_t size);
void text_append_u64(struct text *text, uint64_t value);
void text_append_i64(struct text *text, int64_t value);
void text_append_hex(struct text *text, uint64_t value);
void text_end_line(struct text *text);

/* One line `key=value\n`. */
void text_put(struct text *text, const char *key, const char *value);
void text_put_u64(struct text *text, const char *key, uint64_t value);
void text_put_i64(struct text *text, const char *key, int64_t value);

/* A line for each of `keys`, which one blank keeps apart, with the values in their order. */
void text_put_u64s(struct text *text, const char *keys, const uint64_t *values);

/* Whole lines, of constant text. */
void text_put_lines(struct text *text, const char *lines);

#endif
