/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to document: the strict scanner below cJSON.  It proves the text to
 * be JSON (RFC 8259), names the place of a mistake, and lists every value in
 * the order of the text with its line and key path.
 */
#ifndef SAMEBOARD_HARNESS_DOCUMENT_SCAN_H
#define SAMEBOARD_HARNESS_DOCUMENT_SCAN_H

#include <stdbool.h>
#include <stddef.h>

enum scan_type {
	SCAN_NULL,
	SCAN_BOOLEAN,
	SCAN_NUMBER,
	SCAN_STRING,
	SCAN_ARRAY,
	SCAN_OBJECT,
};

/* Children of a value follow it; `next` is the index behind the last of them. */
struct scan_value {
	enum scan_type type;
	unsigned line;
	size_t offset, length; /* of the text of the value */
	size_t parent;	       /* SIZE_MAX at the root */
	size_t next;
	size_t key, key_length; /* of a member: offset of its key as written */
	size_t index;		/* of an element or member, from 0 */
};

/* More members in one object are refused. */
#define SCAN_MEMBERS_MAX 4096

struct scan {
	const char *text; /* comments blanked; borrowed */
	size_t size;
	size_t at;
	unsigned line;
	unsigned depth, depth_max;
	struct scan_value *values;
	size_t value_count, value_room;
	/* On failure: where, and what is wrong and expected. */
	unsigned error_line;
	char error_path[256];
	char error[256];
};

/*
 * Blanks comments in `text` by spaces, keeping line ends.  Returns 0, or the
 * line of a block comment without an end.
 */
unsigned scan_blank_comments(char *text, size_t size);

/* First byte that is no UTF-8 or a NUL: true and its line and value, else false. */
bool scan_find_bad_byte(
	const char *text, size_t size, unsigned *line, unsigned char *byte, const char **what);

/* Fills values.  0, -EINVAL with the error set, or -ENOMEM. */
int scan_text(struct scan *scan, const char *text, size_t size, unsigned depth_max);
void scan_fini(struct scan *scan);

/*
 * Key path of a value, "boards.panel1.console" or "windows[2].n", "" for the
 * root; cut in front where it is too long.
 */
void scan_write_path(const struct scan *scan, size_t value, char *path, size_t size);

#endif
