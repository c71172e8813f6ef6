/* SPDX-License-Identifier: Apache-2.0 */
/* One byte that says whether directions change, then the capture. */
#include <string.h>

#include "harness/wire_decode.h"
#include "tests/fuzz/fuzz.h"

/* What was told, as far as it must not depend on how the capture was cut. */
struct told {
	uint64_t hash;
	uint64_t bytes; /* of all items */
	uint64_t behind[2];
	uint32_t frames, damaged, unreadable;
	bool has_directions;
};

static void mix(struct told *told, const void *data, size_t size)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < size; i++)
		told->hash = (told->hash ^ bytes[i]) * 1099511628211u;
}

static void check_fields(struct told *told, const struct wire_item *item)
{
	struct wire_field field;
	size_t at = 0;

	for (; wire_decode_get_field(&item->message, at, &field); at++) {
		FUZZ_EXPECT(at < 64 && field.name && field.name[0]);
		FUZZ_EXPECT(memchr(field.text, '\0', sizeof(field.text)));
		mix(told, field.text, strlen(field.text));
	}
}

static void hear(void *context, const struct wire_item *item)
{
	struct told *told = context;
	uint64_t *behind = &told->behind[item->is_sent];

	FUZZ_EXPECT(item->offset >= *behind);
	FUZZ_EXPECT(item->kind == WIRE_ITEM_FRAME ? !item->bytes : !item->size || item->bytes);
	/* Zeros inside belong to no item. */
	*behind = item->offset + (told->has_directions ? 0 : item->size);
	mix(told, &item->kind, sizeof(item->kind));
	mix(told, &item->offset, sizeof(item->offset));
	mix(told, &item->is_sent, 1);
	mix(told, &item->at_ms, sizeof(item->at_ms));
	if (item->kind == WIRE_ITEM_FRAME)
		FUZZ_EXPECT(item->frame.size <= FRAME_BODY_MAX);
	if (item->kind == WIRE_ITEM_FRAME && !item->problem)
		check_fields(told, item);
	if (item->kind == WIRE_ITEM_TEXT)
		FUZZ_EXPECT(item->size > 0 && item->size <= WIRE_DECODE_TEXT_MAX);
	if (item->kind == WIRE_ITEM_DAMAGED)
		FUZZ_EXPECT(item->problem && item->size <= FRAME_CHUNK_SIZE(FRAME_BODY_MAX));
	if (item->bytes)
		mix(told, item->bytes, item->size);
	told->bytes += item->size;
	told->frames += item->kind == WIRE_ITEM_FRAME;
	told->unreadable += item->kind == WIRE_ITEM_FRAME && item->problem;
	told->damaged += item->kind == WIRE_ITEM_DAMAGED;
}

/* Directions change where the input says so, pieces are cut within a direction. */
static void decode(
	const uint8_t *bytes, size_t size, bool has_directions, bool in_pieces, struct told *told)
{
	struct wire_decoder decoder;
	uint32_t state = 1;

	*told = (struct told){.hash = 14695981039346656037u, .has_directions = has_directions};
	wire_decode_init(&decoder, hear, told);
	for (size_t at = 0; at < size;) {
		size_t end = has_directions && size - at > 40 ? at + 8 + bytes[at] % 32 : size;
		bool is_sent = has_directions && (bytes[at] & 1);
		int64_t at_ms = has_directions ? (int64_t)at * 1000 : 0;

		while (at < end) {
			size_t piece = in_pieces ? fuzz_piece(&state, end - at) : end - at;

			wire_decode_feed(&decoder, bytes + at, piece, is_sent, at_ms);
			at += piece;
		}
	}
	wire_decode_finish(&decoder);
	FUZZ_EXPECT(decoder.totals.bytes == size);
	FUZZ_EXPECT(decoder.totals.frames == told->frames);
	FUZZ_EXPECT(decoder.totals.damaged == told->damaged);
	FUZZ_EXPECT(decoder.totals.unreadable == told->unreadable);
}

int fuzz_wire(const uint8_t *bytes, size_t size)
{
	struct told whole, pieces;
	size_t zeros = 0;

	if (size-- < 1)
		return 0;
	for (size_t i = 0; i < size; i++)
		zeros += bytes[1 + i] == 0;
	decode(bytes + 1, size, bytes[0] & 1, false, &whole);
	decode(bytes + 1, size, bytes[0] & 1, true, &pieces);
	FUZZ_EXPECT(memcmp(&whole, &pieces, sizeof(whole)) == 0);
	FUZZ_EXPECT(whole.bytes == size - zeros);
	return 0;
}
