/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Series and the index that lists them (PROTOCOL.md, "Windows and series").
 * Freestanding, in the caller's buffers. Errors are enum wire_error.
 */
#ifndef PROTOCOL_SERIES_H
#define PROTOCOL_SERIES_H

#include <stddef.h>
#include <stdint.h>

#include "protocol/message.h"

#define SERIES_WINDOW_FACTS   0u /* the window that is always there */
#define SERIES_ID_INDEX	      0u /* of windows 1 to 65535 */
#define SERIES_ID_FACTS	      1u /* of window 0: key=value lines */
#define SERIES_ID_CATALOG     2u /* of window 0: "id name status[ reason]" lines */
#define SERIES_ID_PATTERN     3u /* of window 0: the test pattern */
#define SERIES_PATTERN_SIZE   65536u
#define SERIES_ENTRY_FIXED    22u /* bytes of an entry without its name */
#define SERIES_ENTRY_SIZE_MAX (SERIES_ENTRY_FIXED + MESSAGE_NAME_SIZE - 1u)
#define SERIES_INDEX_MAX      16384u /* bytes; more is an error */

enum series_kind {
	SERIES_KIND_COUNTS = 1, /* i32, saturating */
	SERIES_KIND_STAMPS = 2, /* u64 */
	SERIES_KIND_TEXT = 3,	/* UTF-8; count = bytes */
};

enum series_encoding {
	SERIES_ENCODING_RAW = 0,   /* little-endian values, one after the other */
	SERIES_ENCODING_CODED = 1, /* of counts: a stream of protocol/codec.h */
	SERIES_ENCODING_STEPS = 2, /* of stamps: the first one, raw, then its steps so coded */
};

struct series_entry {
	uint16_t id;	  /* 1 to 65535, unique in the window */
	uint8_t kind;	  /* enum series_kind */
	uint8_t encoding; /* enum series_encoding */
	uint32_t count;	  /* values */
	uint32_t clipped; /* values that hit a limit of i32 */
	uint32_t bytes;	  /* as encoded, what READ counts in */
	uint32_t crc;	  /* crc32c of those bytes */
	char name[MESSAGE_NAME_SIZE];
};

/* Appends one entry; returns its length or WIRE_ERROR_NO_ROOM. */
int series_encode_entry(const struct series_entry *entry, uint8_t *bytes, size_t capacity);

struct series_iterator {
	const uint8_t *bytes;
	size_t size;
	size_t offset;
};

/* Walks an index; bytes stays the caller's. */
void series_iterator_init(struct series_iterator *iterator, const uint8_t *bytes, size_t size);

/*
 * 1 and the next entry, 0 at the end, or WIRE_ERROR_BAD_MESSAGE when the index
 * is cut, an id is 0, or count and bytes of a raw series do not fit together.
 * Kinds and encodings that it does not know are passed on unjudged.
 */
int series_iterator_next(struct series_iterator *iterator, struct series_entry *entry);

/* The byte at that place of the test pattern: every value in every 256 of them. */
static inline uint8_t series_pattern_byte(uint32_t at)
{
	return (uint8_t)(at * 167u + (at >> 8) * 59u);
}

/* Bytes of one value of a kind in raw encoding; 0 for an unknown kind. */
size_t series_kind_size(uint8_t kind);

#endif
