/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/wire_decode.h"

#include <string.h>

void wire_decode_init(struct wire_decoder *decoder,
	void (*tell)(void *context, const struct wire_item *item), void *context)
{
	memset(decoder, 0, sizeof(*decoder));
	decoder->tell = tell;
	decoder->context = context;
	for (int i = 0; i < 2; i++)
		frame_reader_init(&decoder->sides[i].reader, decoder->sides[i].chunk,
			sizeof(decoder->sides[i].chunk));
}

static void tell(
	struct wire_decoder *decoder, const struct wire_decode_side *side, struct wire_item *item)
{
	item->is_sent = side == &decoder->sides[1];
	decoder->tell(decoder->context, item);
}

/* ---------------------------------------------------------------- text */

static void end_text(struct wire_decoder *decoder, struct wire_decode_side *side)
{
	struct wire_item item = {
		.kind = WIRE_ITEM_TEXT,
		.offset = side->text_start,
		.size = side->text_size,
		.at_ms = side->text_ms,
		.bytes = side->text,
	};

	if (side->text_size == 0)
		return;
	decoder->totals.text_bytes += side->text_size;
	side->text_size = 0;
	tell(decoder, side, &item);
}

static void add_text(struct wire_decoder *decoder, struct wire_decode_side *side,
	const uint8_t *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (side->text_size == 0) {
			side->text_start = side->start + i;
			side->text_ms = side->start_ms;
		}
		side->text[side->text_size++] = text[i];
		if (text[i] == '\n' || side->text_size == WIRE_DECODE_TEXT_MAX)
			end_text(decoder, side);
	}
}

/* ---------------------------------------------------------------- frames */

/* Which counter the last chunk went to, if it was delimited and no frame. */
static const char *find_damage(
	const struct frame_counters *before, const struct frame_counters *now)
{
	if (now->bad_crc != before->bad_crc)
		return "bad-crc";
	if (now->bad_cobs != before->bad_cobs)
		return "bad-cobs";
	return now->oversize != before->oversize ? "oversize" : NULL;
}

static void tell_damage(struct wire_decoder *decoder, struct wire_decode_side *side,
	const struct frame_event *event, const char *problem)
{
	struct wire_item item = {
		.kind = WIRE_ITEM_DAMAGED,
		.offset = side->start,
		.at_ms = side->start_ms,
		.problem = problem,
	};

	end_text(decoder, side);
	if (event->kind == FRAME_EVENT_TEXT) {
		item.bytes = event->text;
		item.size = event->size;
	}
	decoder->totals.damaged++;
	tell(decoder, side, &item);
}

static void tell_frame(struct wire_decoder *decoder, struct wire_decode_side *side,
	const struct frame_event *event)
{
	struct wire_item item = {
		.kind = WIRE_ITEM_FRAME,
		.offset = side->start,
		.at_ms = side->start_ms,
		.frame = event->frame,
	};
	int error = message_decode(
		event->frame.type, event->frame.body, event->frame.size, &item.message);

	item.size = side->held;
	end_text(decoder, side);
	decoder->totals.frames++;
	if (error) {
		item.problem = wire_error_name(error);
		decoder->totals.unreadable++;
	}
	tell(decoder, side, &item);
}

/*
 * Text that no 00 parts may have been a frame's whose delimiter was lost, and a
 * chunk of prose between two frames is no damage: one with a control character
 * that consoles neither print nor are sent is.  Loaders are sent Ctrl-C.
 */
static bool is_prose(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		uint8_t byte = bytes[i];

		if (byte >= 0x7f ||
			(byte < 0x20 && byte != '\r' && byte != '\n' && byte != '\t' &&
				byte != '\b' && byte != 0x1b && byte != 0x07 && byte != 0x03))
			return false;
	}
	return true;
}

static void take_event(struct wire_decoder *decoder, struct wire_decode_side *side,
	const struct frame_event *event, const char *problem, bool is_delimited)
{
	if (event->kind == FRAME_EVENT_FRAME)
		tell_frame(decoder, side, event);
	if (event->kind != FRAME_EVENT_TEXT)
		return;
	if ((problem || is_delimited) && !is_prose(event->text, event->size))
		tell_damage(decoder, side, event, problem ? problem : "no-frame");
	else
		add_text(decoder, side, event->text, event->size);
}

static void feed_byte(struct wire_decoder *decoder, struct wire_decode_side *side, uint8_t byte,
	uint64_t offset, int64_t at_ms)
{
	size_t used;

	/* What is too long comes out before the byte is taken. */
	do {
		struct frame_counters before = side->reader.counters;
		struct frame_event event;

		if (side->reader.used == 0) {
			side->start = offset;
			side->start_ms = at_ms;
			side->held = 0;
		}
		used = frame_reader_feed(&side->reader, &byte, 1, &event);
		side->held += used > 0 && byte != 0;
		take_event(decoder, side, &event, find_damage(&before, &side->reader.counters),
			byte == 0);
	} while (used == 0);
}

void wire_decode_feed(struct wire_decoder *decoder, const uint8_t *bytes, size_t size, bool is_sent,
	int64_t at_ms)
{
	struct wire_decode_side *side = &decoder->sides[is_sent];

	for (size_t i = 0; i < size; i++)
		feed_byte(decoder, side, bytes[i], decoder->totals.bytes++, at_ms);
}

void wire_decode_finish(struct wire_decoder *decoder)
{
	for (int i = 0; i < 2; i++) {
		struct wire_decode_side *side = &decoder->sides[i];
		struct frame_event event;

		frame_reader_flush(&side->reader, &event);
		if (event.kind == FRAME_EVENT_TEXT)
			add_text(decoder, side, event.text, event.size);
		end_text(decoder, side);
	}
}
