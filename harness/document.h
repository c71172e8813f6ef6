/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON documents that people write: comments allowed, every mistake answered
 * with file, line, key and what would be right.
 *
 * A reader describes its file by tables (struct document_shape) and gets a
 * filled struct; the same tables are compared with the JSON schemas by a test.
 * Unknown keys, duplicate keys, wrong types and values out of range are
 * errors.  `//` and block comments are blanked in place, so lines and offsets
 * survive.
 *
 * Errors: 0 or a negative errno: -EINVAL the content is wrong, -EFBIG larger
 * than DOCUMENT_SIZE_MAX, or what open/read gave.  The FIRST error stays in
 * document_error(), as "FILE:LINE: KEY: what is wrong; expected ...".  Limits:
 * 1 MiB, 32 levels.  Everything read (strings, arrays) belongs to the document
 * and lives until document_close().  A document belongs to one thread.
 */
#ifndef SAMEBOARD_HARNESS_DOCUMENT_H
#define SAMEBOARD_HARNESS_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DOCUMENT_SIZE_MAX  (1024 * 1024)
#define DOCUMENT_DEPTH_MAX 32

struct document;
struct document_node; /* one value in the file */

enum document_kind {
	DOCUMENT_STRING,  /* const char *; not empty unless min < 0 */
	DOCUMENT_WORD,	  /* enum or unsigned: index into `words` */
	DOCUMENT_CHOICE,  /* const char *: one of `words` */
	DOCUMENT_INTEGER, /* any integer member, within min..max */
	DOCUMENT_NUMBER,  /* double, within min..max */
	DOCUMENT_BOOLEAN, /* bool */
	DOCUMENT_OBJECT,  /* an embedded struct described by `shape` */
	DOCUMENT_STRINGS, /* const char **, number at count_offset; within min..max elements */
	DOCUMENT_OBJECTS, /* array of structs of `shape`, number at count_offset; min..max */
	DOCUMENT_MAP,	  /* the same from an object with free keys, see name_offset */
};

struct document_key {
	const char *name;
	enum document_kind kind;
	bool required;
	size_t offset, size;	  /* DOCUMENT_AT(struct, member) */
	double min, max;	  /* both 0: no limit */
	const char *unit;	  /* "ms", "baud", ... or NULL */
	const char *expected;	  /* for strings: "a file name" or NULL */
	const char *const *words; /* ends with NULL */
	const struct document_shape *shape;
	size_t count_offset; /* of a size_t */
};

#define DOCUMENT_AT(type, member)                                                                  \
	.offset = offsetof(type, member), .size = sizeof(((type *)0)->member)

struct document_shape {
	const char *noun; /* "a board", for messages */
	const struct document_key *keys;
	size_t key_count;
	size_t size;	      /* of the struct */
	const void *defaults; /* a struct that elements start from; NULL: zeroes */
	/*
	 * Where the element of a MAP keeps its own key (const char *), and where
	 * any struct keeps its node (const struct document_node *) for later
	 * checks; SIZE_MAX: nowhere.
	 */
	size_t name_offset, node_offset;
	/* A MAP whose values are no objects: how to read one. */
	const struct document_key *value;
};

/*
 * Reads and parses a file, or `size` bytes of text under the name `name`.
 * *document is set even on failure (NULL only without memory); always close it.
 */
int document_open(struct document **document, const char *path);
int document_parse(struct document **document, const char *name, const char *text, size_t size);
void document_close(struct document *document);

/* Fills `out` (defaults already in it) from the object at the root. */
int document_read(struct document *document, const struct document_shape *shape, void *out);

/* First error, "" if none. */
const char *document_error(const struct document *document);

/* The text as it was read, NUL-terminated, with comments; its length without NUL. */
const char *document_text(const struct document *document, size_t *size);
const char *document_path(const struct document *document);

/* Root, and the value at `key` of an object, or NULL where there is none. */
const struct document_node *document_root(const struct document *document);
const struct document_node *document_find(const struct document_node *node, const char *key);
unsigned document_line(const struct document_node *node);

/* The text of a value that is one, else NULL; lives as long as the document. */
const char *document_string(const struct document_node *node);

/*
 * Records (unless an earlier one is there) an error at `key` of `node`, or at
 * the node itself if key is NULL; `format` says what is wrong and what was
 * expected.  Returns -EINVAL.
 */
int document_fail(struct document *document, const struct document_node *node, const char *key,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Copies or formats a string that lives as long as the document; NULL without memory. */
char *document_format(struct document *document, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Zeroed memory that lives as long as the document. */
void *document_allocate(struct document *document, size_t size);

/* `path` itself if absolute, else below the folder of the document's file; lives as long. */
const char *document_resolve(struct document *document, const char *path);

/* Of `words` (ends with NULL) the nearest to `word`, or NULL if none is near. */
const char *document_nearest(const char *word, const char *const *words);

#endif
