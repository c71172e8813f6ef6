/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames on a byte line that text shares (PROTOCOL.md, "Frames"):
 *
 *	00 | COBS(type u8, seq u8, session u32, body, crc32c u32) | 00
 *
 * Freestanding; everything lives in the caller's storage. Errors are enum
 * wire_error. One thread at a time may use one reader; nothing is shared.
 */
#ifndef PROTOCOL_FRAME_H
#define PROTOCOL_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/wire_error.h"

#define FRAME_BODY_MAX	    1024u /* of a target's frame */
#define FRAME_HOST_BODY_MAX 47u	  /* of a host's frame: 60 bytes on the wire */
#define FRAME_HOST_WIRE_MAX 60u
#define FRAME_OVERHEAD	    10u /* type, seq, session, crc */

/* Between the delimiters, and with them, for a body of that many bytes. */
#define FRAME_CHUNK_SIZE(body) ((body) + FRAME_OVERHEAD + ((body) + FRAME_OVERHEAD + 253u) / 254u)
#define FRAME_WIRE_SIZE(body)  (FRAME_CHUNK_SIZE(body) + 2u)

struct frame {
	uint8_t type; /* enum message_type */
	uint8_t seq;
	uint32_t session;
	const uint8_t *body; /* borrowed; may be NULL when size is 0 */
	size_t size;
};

/*
 * Writes the whole frame, both delimiters included, and returns its length on
 * the wire; WIRE_ERROR_NO_ROOM when capacity is less, WIRE_ERROR_BAD_RANGE
 * when the body is longer than FRAME_BODY_MAX. FRAME_WIRE_SIZE(size) bytes
 * always suffice. wire must not overlap the body.
 */
int frame_encode(const struct frame *frame, uint8_t *wire, size_t capacity);

struct frame_counters {
	uint32_t frames;    /* valid frames */
	uint32_t bad_crc;   /* delimited, COBS was right, CRC was not (or too short) */
	uint32_t bad_cobs;  /* delimited, not COBS */
	uint32_t oversize;  /* delimited, longer than the buffer */
	uint32_t abandoned; /* delimited, cut off by frame_reader_flush() */
	uint32_t zeros;	    /* 00 bytes, of frames or not */
	uint64_t text_bytes;
};

/*
 * The fields are the reader's own, except counters, which anyone may read,
 * and used: bytes held back at this moment (0 = nothing is pending).
 */
struct frame_reader {
	uint8_t *chunk;
	size_t capacity;
	size_t used;
	bool spilled;	/* the chunk was too long: its rest passes as text */
	bool follows00; /* a 00 stands directly before the chunk */
	bool opened;	/* and that 00 was an opening one, as far as one can know */
	struct frame_counters counters;
};

enum frame_event_kind {
	FRAME_EVENT_NONE,  /* all bytes consumed, nothing to report */
	FRAME_EVENT_FRAME, /* a valid frame */
	FRAME_EVENT_TEXT,  /* bytes that belong to no frame, in order, 00 left out */
};

/* What it points to is valid until the reader's next call. */
struct frame_event {
	enum frame_event_kind kind;
	struct frame frame;  /* FRAME_EVENT_FRAME */
	const uint8_t *text; /* FRAME_EVENT_TEXT */
	size_t size;	     /* of text; for a frame: bytes on the wire with delimiters */
};

/*
 * Gives the reader its buffer: FRAME_CHUNK_SIZE(FRAME_HOST_BODY_MAX) bytes on
 * a target, FRAME_CHUNK_SIZE(FRAME_BODY_MAX) on a host. The buffer stays the
 * caller's and must outlive the reader.
 */
void frame_reader_init(struct frame_reader *reader, uint8_t *buffer, size_t capacity);

/*
 * Takes bytes until there is one event or until all are used; returns how
 * many were used: 0 only when size is 0 or when a full buffer came out as text
 * before the next byte. Loop until everything is used:
 *
 *	while (size > 0) {
 *		size_t used = frame_reader_feed(&reader, bytes, size, &event);
 *		... event ...
 *		bytes += used, size -= used;
 *	}
 *
 * Text is held back until a 00, a full buffer or a flush shows that it is no
 * frame whose first delimiter was lost. The bytes between any two consecutive
 * 00 are tried as a frame. A text event may point into bytes.
 */
size_t frame_reader_feed(
	struct frame_reader *reader, const uint8_t *bytes, size_t size, struct frame_event *event);

/*
 * Gives up what is held back: event becomes FRAME_EVENT_TEXT with it, or
 * FRAME_EVENT_NONE. Call it when the line has been idle.
 */
void frame_reader_flush(struct frame_reader *reader, struct frame_event *event);

#endif
