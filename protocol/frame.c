/* SPDX-License-Identifier: Apache-2.0 */
#include "protocol/frame.h"

#include "protocol/crc32c.h"
#include "protocol/memory.h"

#define FRAME_HEADER_SIZE 6u
#define FRAME_CRC_SIZE	  4u

/* What crc32c_update() gives over any bytes followed by their own CRC. */
#define FRAME_CRC_RESIDUE 0x48674bc7u

/* ------------------------------------------------------------ encoding */

struct cobs_writer {
	uint8_t *wire;
	size_t capacity;
	size_t used;
	size_t code; /* where the open block's code byte is */
	bool is_open;
	bool is_short_of_room;
};

static void cobs_put_raw(struct cobs_writer *writer, uint8_t byte)
{
	if (writer->used == writer->capacity)
		writer->is_short_of_room = true;
	else
		writer->wire[writer->used++] = byte;
}

static void cobs_open_block(struct cobs_writer *writer)
{
	writer->code = writer->used;
	writer->is_open = true;
	cobs_put_raw(writer, 0);
}

static void cobs_close_block(struct cobs_writer *writer)
{
	if (!writer->is_short_of_room)
		writer->wire[writer->code] = (uint8_t)(writer->used - writer->code);
	writer->is_open = false;
}

static void cobs_put(struct cobs_writer *writer, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size && !writer->is_short_of_room; i++) {
		/* A full block says nothing about a zero behind it: the next one is opened
		 * only when there is a byte for it. */
		if (!writer->is_open)
			cobs_open_block(writer);
		if (bytes[i] == 0) {
			cobs_close_block(writer);
			cobs_open_block(writer);
			continue;
		}
		cobs_put_raw(writer, bytes[i]);
		if (writer->used - writer->code == 255)
			cobs_close_block(writer);
	}
}

static void put_u32(uint8_t *bytes, uint32_t value)
{
	for (unsigned int i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
}

int frame_encode(const struct frame *frame, uint8_t *wire, size_t capacity)
{
	struct cobs_writer writer = {.wire = wire, .capacity = capacity};
	uint8_t header[FRAME_HEADER_SIZE] = {frame->type, frame->seq};
	uint8_t tail[FRAME_CRC_SIZE];
	uint32_t crc;

	if (frame->size > FRAME_BODY_MAX)
		return WIRE_ERROR_BAD_RANGE;
	put_u32(header + 2, frame->session);
	crc = crc32c_update(0, header, sizeof(header));
	crc = crc32c_update(crc, frame->body, frame->size);
	put_u32(tail, crc);

	cobs_put_raw(&writer, 0);
	cobs_put(&writer, header, sizeof(header));
	cobs_put(&writer, frame->body, frame->size);
	cobs_put(&writer, tail, sizeof(tail));
	if (writer.is_open)
		cobs_close_block(&writer);
	cobs_put_raw(&writer, 0);
	return writer.is_short_of_room ? WIRE_ERROR_NO_ROOM : (int)writer.used;
}

/* ------------------------------------------------------------ decoding */

/*
 * Walks the blocks of a chunk and hashes what they stand for. Writes nothing:
 * a chunk that proves to be no frame must come out as text unchanged.
 */
static bool cobs_check(const uint8_t *chunk, size_t size, size_t *plain_size, uint32_t *crc)
{
	static const uint8_t zero;
	size_t at = 0;

	*plain_size = 0;
	*crc = 0;
	while (at < size) {
		size_t code = chunk[at];

		if (code > size - at)
			return false;
		*crc = crc32c_update(*crc, chunk + at + 1, code - 1);
		*plain_size += code - 1;
		at += code;
		if (code != 255 && at < size) {
			*crc = crc32c_update(*crc, &zero, 1);
			*plain_size += 1;
		}
	}
	return true;
}

/* In place: what is written never overtakes what is read. */
static void cobs_decode(uint8_t *chunk, size_t size)
{
	size_t from = 0, to = 0;

	while (from < size) {
		size_t code = chunk[from];

		memmove(chunk + to, chunk + from + 1, code - 1);
		to += code - 1;
		from += code;
		if (code != 255 && from < size)
			chunk[to++] = 0;
	}
}

static uint32_t get_u32(const uint8_t *bytes)
{
	uint32_t value = 0;

	for (unsigned int i = 0; i < 4; i++)
		value |= (uint32_t)bytes[i] << 8 * i;
	return value;
}

void frame_reader_init(struct frame_reader *reader, uint8_t *buffer, size_t capacity)
{
	memset(reader, 0, sizeof(*reader));
	reader->chunk = buffer;
	reader->capacity = capacity;
}

static void reader_emit_text(
	struct frame_reader *reader, const uint8_t *text, size_t size, struct frame_event *event)
{
	reader->counters.text_bytes += size;
	event->kind = FRAME_EVENT_TEXT;
	event->text = text;
	event->size = size;
}

static void reader_emit_frame(
	struct frame_reader *reader, size_t plain_size, struct frame_event *event)
{
	const uint8_t *plain = reader->chunk;

	cobs_decode(reader->chunk, reader->used);
	reader->counters.frames++;
	event->kind = FRAME_EVENT_FRAME;
	event->frame.type = plain[0];
	event->frame.seq = plain[1];
	event->frame.session = get_u32(plain + 2);
	event->frame.body = plain + FRAME_HEADER_SIZE;
	event->frame.size = plain_size - FRAME_OVERHEAD;
	event->size = reader->used + (reader->follows00 ? 2u : 1u);
}

/* A 00 has come: what stands before it is a frame or it is text. */
static void reader_close_chunk(struct frame_reader *reader, struct frame_event *event)
{
	size_t plain_size;
	uint32_t crc;
	bool was_opened = reader->opened;

	if (reader->used == 0) {
		reader->opened = true;
	} else if (!cobs_check(reader->chunk, reader->used, &plain_size, &crc)) {
		reader->counters.bad_cobs += was_opened;
		reader->opened = !was_opened;
		reader_emit_text(reader, reader->chunk, reader->used, event);
	} else if (plain_size < FRAME_OVERHEAD || crc != FRAME_CRC_RESIDUE) {
		reader->counters.bad_crc += was_opened;
		reader->opened = !was_opened;
		reader_emit_text(reader, reader->chunk, reader->used, event);
	} else {
		reader->opened = false;
		reader_emit_frame(reader, plain_size, event);
	}
	reader->counters.zeros++;
	reader->used = 0;
	reader->spilled = false;
	reader->follows00 = true;
}

/* Longer than any frame: it is text, and so is the rest up to the next 00. */
static void reader_spill(struct frame_reader *reader, struct frame_event *event)
{
	reader->counters.oversize += reader->opened;
	reader->opened = false;
	reader->follows00 = false;
	reader->spilled = true;
	reader_emit_text(reader, reader->chunk, reader->used, event);
	reader->used = 0;
}

size_t frame_reader_feed(
	struct frame_reader *reader, const uint8_t *bytes, size_t size, struct frame_event *event)
{
	size_t at = 0;

	memset(event, 0, sizeof(*event));
	while (at < size && event->kind == FRAME_EVENT_NONE) {
		if (bytes[at] == 0) {
			reader_close_chunk(reader, event);
			at++;
		} else if (reader->spilled) {
			size_t from = at;

			while (at < size && bytes[at] != 0)
				at++;
			reader_emit_text(reader, bytes + from, at - from, event);
		} else if (reader->used == reader->capacity) {
			reader_spill(reader, event);
		} else {
			reader->chunk[reader->used++] = bytes[at++];
		}
	}
	return at;
}

void frame_reader_flush(struct frame_reader *reader, struct frame_event *event)
{
	memset(event, 0, sizeof(*event));
	reader->spilled = false;
	if (reader->used == 0)
		return;
	/* opened stays: the rest of this chunk, should it come, ends with a closing 00. */
	reader->counters.abandoned += reader->opened;
	reader->follows00 = false;
	reader_emit_text(reader, reader->chunk, reader->used, event);
	reader->used = 0;
}
