/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes a captured line apart: frames, text, and what was damaged, with offsets
 * and, where they are known, times.  Both directions may be mixed, each has its
 * own reader.  No errors: whatever the bytes are, they are explained.
 */
#ifndef SAMEBOARD_HARNESS_WIRE_DECODE_H
#define SAMEBOARD_HARNESS_WIRE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/frame.h"
#include "protocol/message.h"

enum wire_item_kind {
	WIRE_ITEM_FRAME,   /* CRC right; problem says what is wrong with its body, or NULL */
	WIRE_ITEM_TEXT,	   /* a line of it, or a part: LF ends it */
	WIRE_ITEM_DAMAGED, /* between two 00, and no frame; problem says why */
};

/* Everything it points to is valid during the call only. */
struct wire_item {
	enum wire_item_kind kind;
	uint64_t offset; /* of its first byte; of a frame, of the one behind its opening 00 */
	size_t size;	 /* bytes on the line, delimiters left out */
	int64_t at_ms;	 /* UTC of that byte, 0 = not known */
	bool is_sent;	 /* by the host */
	struct frame frame;
	struct message message; /* when the body could be read */
	const uint8_t *bytes;	/* of text and damage */
	const char *problem;
};

struct wire_totals {
	uint64_t bytes, text_bytes;
	uint32_t frames, damaged, unreadable; /* bodies that could not be read */
};

#define WIRE_DECODE_TEXT_MAX 256u

/* One direction; private. */
struct wire_decode_side {
	struct frame_reader reader;
	uint8_t chunk[FRAME_CHUNK_SIZE(FRAME_BODY_MAX)];
	uint64_t start; /* of what the reader holds back */
	int64_t start_ms;
	size_t held; /* bytes since start */
	uint8_t text[WIRE_DECODE_TEXT_MAX];
	size_t text_size;
	uint64_t text_start;
	int64_t text_ms;
};

struct wire_decoder {
	struct wire_decode_side sides[2]; /* from the target, from the host */
	void (*tell)(void *context, const struct wire_item *item);
	void *context;
	struct wire_totals totals;
};

/* Tells every item to the callback, those of one direction in order. */
void wire_decode_init(struct wire_decoder *decoder,
	void (*tell)(void *context, const struct wire_item *item), void *context);

/* The next bytes of the capture, all of one direction. */
void wire_decode_feed(struct wire_decoder *decoder, const uint8_t *bytes, size_t size, bool is_sent,
	int64_t at_ms);

/* The end: what is held back is text. */
void wire_decode_finish(struct wire_decoder *decoder);

/* A field of a message for people and for JSON. */
struct wire_field {
	const char *name;
	bool is_number; /* else text */
	uint64_t number;
	bool is_signed; /* then number is an int64_t */
	char text[64];	/* always: decimal, hexadecimal where that is usual, words for states */
};

/* The field number `at` of a message: true, or false behind the last. */
bool wire_decode_get_field(const struct message *message, size_t at, struct wire_field *field);

#endif
