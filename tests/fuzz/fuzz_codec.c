/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "protocol/codec.h"
#include "tests/fuzz/fuzz.h"

#define VALUES_MAX 3000u

/* WIRE_ERROR_BAD_MESSAGE, or all values. */
static int decode_in_pieces(struct codec_decoder *decoder, const uint8_t *bytes, size_t size,
	int32_t *values, size_t count, uint32_t state)
{
	struct codec_model model;
	size_t taken = 0;
	size_t got = 0;

	codec_decoder_init(decoder, &model, (uint32_t)count, (uint32_t)size);
	while (!decoder->is_ended) {
		size_t used;
		size_t room = fuzz_piece(&state, count - got);
		int put = codec_decode(decoder, bytes + taken, fuzz_piece(&state, size - taken),
			&used, values + got, room);

		FUZZ_EXPECT(put <= (int)room);
		if (put < 0)
			return put;
		taken += used;
		got += (size_t)put;
		FUZZ_EXPECT(decoder->offset == taken);
	}
	FUZZ_EXPECT(taken == size && got == count);
	return (int)got;
}

static size_t encode_in_pieces(const int32_t *values, size_t count, int32_t base, uint8_t *bytes,
	size_t capacity, uint32_t state)
{
	struct codec_encoder encoder;
	struct codec_model model;
	size_t taken = 0;
	size_t size = 0;

	codec_encoder_init(&encoder, &model, base);
	while (taken < count) {
		size_t used;

		size += codec_encode(&encoder, values + taken, fuzz_piece(&state, count - taken),
			&used, bytes + size, fuzz_piece(&state, capacity - size));
		taken += used;
	}
	while (!encoder.is_ended)
		size += codec_encode_end(
			&encoder, bytes + size, fuzz_piece(&state, capacity - size));
	return size;
}

/* The input as a stream. */
static void fuzz_stream(const uint8_t *bytes, size_t size, size_t count, uint32_t state)
{
	size_t capacity = 16 + count * CODEC_VALUE_SIZE_MAX;
	int32_t *values = malloc((count + 1) * sizeof(*values));
	int32_t *whole = malloc((count + 1) * sizeof(*whole));
	uint8_t *again = malloc(capacity);
	struct codec_decoder decoder;
	struct codec_model model;
	size_t used;
	int got, got_whole;

	got = decode_in_pieces(&decoder, bytes, size, values, count, state);
	if (got >= 0) {
		FUZZ_EXPECT(encode_in_pieces(values, count, (int32_t)decoder.coder.base, again,
				    capacity, state) == size);
		FUZZ_EXPECT(memcmp(again, bytes, size) == 0);
	}
	codec_decoder_init(&decoder, &model, (uint32_t)count, (uint32_t)size);
	got_whole = codec_decode(&decoder, bytes, size, &used, whole, count);
	FUZZ_EXPECT(got_whole == got);
	if (got > 0)
		FUZZ_EXPECT(memcmp(values, whole, count * sizeof(*values)) == 0);
	free(again);
	free(whole);
	free(values);
}

/* The input as values. */
static void fuzz_values(const uint8_t *bytes, size_t size, int32_t base, uint32_t state)
{
	size_t count = size / sizeof(int32_t);
	size_t capacity = 16 + count * CODEC_VALUE_SIZE_MAX;
	int32_t *values = malloc(size + 1);
	int32_t *back = malloc(size + 1);
	uint8_t *stream = malloc(capacity);
	struct codec_decoder decoder;
	size_t coded;

	memcpy(values, bytes, size);
	if (base < 0)
		base = codec_find_base(values, count);
	coded = encode_in_pieces(values, count, base, stream, capacity, state);
	FUZZ_EXPECT(decode_in_pieces(&decoder, stream, coded, back, count, state) == (int)count);
	FUZZ_EXPECT(memcmp(values, back, count * sizeof(*values)) == 0);
	free(stream);
	free(back);
	free(values);
}

int fuzz_codec(const uint8_t *bytes, size_t size)
{
	uint32_t head;

	if (size < sizeof(head))
		return 0;
	memcpy(&head, bytes, sizeof(head));
	bytes += sizeof(head);
	size -= sizeof(head);
	if (head & 1)
		fuzz_stream(bytes, size, (head >> 1) % VALUES_MAX, head);
	else
		fuzz_values(bytes, size, (int32_t)head, head);
	return 0;
}
