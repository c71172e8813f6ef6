/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <string.h>

#include "protocol/frame.h"
#include "tests/fuzz/fuzz.h"

/* What a reader made of a line: text as it is, frames with their bodies. */
struct heard {
	uint8_t *bytes;
	size_t size;
	size_t frames;
};

static void hear(struct heard *heard, const struct frame_event *event)
{
	const struct frame *frame = &event->frame;

	if (event->kind == FRAME_EVENT_TEXT) {
		FUZZ_EXPECT(event->size > 0);
		for (size_t i = 0; i < event->size; i++)
			FUZZ_EXPECT(event->text[i] != 0);
		memcpy(heard->bytes + heard->size, event->text, event->size);
		heard->size += event->size;
	} else if (event->kind == FRAME_EVENT_FRAME) {
		uint8_t wire[FRAME_WIRE_SIZE(FRAME_BODY_MAX)];
		int size = frame_encode(frame, wire, sizeof(wire));

		FUZZ_EXPECT(size > 0);
		memcpy(heard->bytes + heard->size, wire + 1, (size_t)size - 2);
		heard->size += (size_t)size - 2;
		heard->frames++;
	}
}

static void read_line(const uint8_t *bytes, size_t size, size_t capacity, bool in_pieces,
	uint32_t state, struct heard *heard)
{
	uint8_t chunk[FRAME_CHUNK_SIZE(FRAME_BODY_MAX)];
	struct frame_reader reader;
	struct frame_event event;

	frame_reader_init(&reader, chunk, capacity);
	while (size > 0) {
		size_t piece = in_pieces ? fuzz_piece(&state, size) : size;

		while (piece > 0) {
			size_t used = frame_reader_feed(&reader, bytes, piece, &event);

			FUZZ_EXPECT((used > 0 || event.kind == FRAME_EVENT_TEXT) && used <= piece);
			hear(heard, &event);
			bytes += used;
			piece -= used;
			size -= used;
		}
	}
	frame_reader_flush(&reader, &event);
	hear(heard, &event);
	FUZZ_EXPECT(reader.counters.frames == heard->frames && reader.used == 0);
}

int fuzz_frame(const uint8_t *bytes, size_t size)
{
	struct heard whole = {0}, pieces = {0};
	size_t zeros = 0;
	size_t capacity;

	if (size < 1)
		return 0;
	capacity = bytes[0] & 1 ? FRAME_CHUNK_SIZE(FRAME_HOST_BODY_MAX)
				: FRAME_CHUNK_SIZE(FRAME_BODY_MAX);
	for (size_t i = 1; i < size; i++)
		zeros += bytes[i] == 0;
	whole.bytes = malloc(size + 8);
	pieces.bytes = malloc(size + 8);
	read_line(bytes + 1, size - 1, capacity, false, 0, &whole);
	read_line(bytes + 1, size - 1, capacity, true, bytes[0], &pieces);
	FUZZ_EXPECT(whole.frames == pieces.frames && whole.size == pieces.size);
	FUZZ_EXPECT(memcmp(whole.bytes, pieces.bytes, whole.size) == 0);
	/* A frame may have had one empty COBS block more than the encoder makes. */
	FUZZ_EXPECT(whole.size <= size - 1 - zeros);
	FUZZ_EXPECT(whole.size + whole.frames >= size - 1 - zeros);
	free(whole.bytes);
	free(pieces.bytes);
	return 0;
}
