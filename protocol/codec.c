/* SPDX-License-Identifier: Apache-2.0 */
#include "protocol/codec.h"

#define CLASS_BITS     6
#define CLASS_NODES    64u
#define CLASS_SIGN     32u /* of the six bits */
#define LEAD_NODES     32u
#define BASE_BITS      32
#define SIGN_BIT       0x80000000u
#define HALF	       32768u
#define SEEN_OF_REST   7u  /* smooth data halve their octaves nearly evenly */
#define SEEN_MAX       31u /* more change nothing: 1/64 */
#define SEEN_MAX_CLASS 30u /* 1/32: levels wander more than the shapes in them */
#define PADDING_MAX    3u  /* bytes behind the end that a decoder looks at */
#define BLOCKS	       16u /* of a series, for its base */

/* ------------------------------------------------------------ both directions */

/* A context is the probability of a 1 in 1/65536, times 256, plus what it has seen. */
static void coder_init(struct codec_coder *coder, struct codec_model *model)
{
	for (uint32_t i = 0; i < CODEC_CONTEXTS; i++)
		model->contexts[i] = HALF << 8 | (i < CLASS_NODES ? 0 : SEEN_OF_REST);
	coder->model = model;
	coder->low = 0;
	coder->high = UINT32_MAX;
	coder->base = 0;
}

/*
 * What a context becomes after that bit. Always in line: a target encodes a
 * dozen bits a sample.
 */
static inline __attribute__((always_inline)) uint32_t learn(
	uint_fast32_t context, bool bit, uint_fast32_t most_seen)
{
	/* Bits that seen + 1 needs. */
	static const uint8_t shifts[SEEN_MAX + 1] = {1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5,
		5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 6};
	uint_fast32_t seen = context & 0xff;
	uint_fast32_t ones = context >> 8;

	if (bit)
		ones += (65536u - ones) >> shifts[seen];
	else
		ones -= ones >> shifts[seen];
	return (uint32_t)(ones << 8 | (seen + (seen < most_seen)));
}

static inline uint_fast32_t divide(uint_fast32_t range, uint_fast32_t ones)
{
	return (uint_fast32_t)((uint64_t)range * ones >> 16);
}

static uint_fast32_t seen_max(uint32_t offset)
{
	return offset ? SEEN_MAX : SEEN_MAX_CLASS;
}

/* Of the contexts of the bits below the highest one. */
static uint32_t rest_offset(uint32_t class)
{
	return CLASS_NODES + LEAD_NODES * (class - 2);
}

/* ----------------------------------------------------------------- encoder */

static uint32_t count_bits(uint32_t value)
{
	uint32_t bits = 0;

	for (; value; value >>= 1)
		bits++;
	return bits;
}

static int32_t find_smallest(const int32_t *values, size_t count)
{
	int32_t smallest = values[0];

	for (size_t i = 1; i < count; i++)
		smallest = values[i] < smallest ? values[i] : smallest;
	return smallest;
}

/* The middle one of the smallest values of each sixteenth. */
int32_t codec_find_base(const int32_t *values, size_t count)
{
	size_t block = count / BLOCKS;
	int32_t smallest[BLOCKS];

	if (count == 0)
		return 0;
	if (block == 0)
		return find_smallest(values, count);
	for (size_t i = 0; i < BLOCKS; i++) {
		int32_t value = find_smallest(values + i * block, block);
		size_t at = i;

		for (; at && smallest[at - 1] > value; at--)
			smallest[at] = smallest[at - 1];
		smallest[at] = value;
	}
	return smallest[BLOCKS / 2];
}

/* Bits left - 1 to 0 of source. Nodes below limit have contexts, from offset on. */
static void encode_bits(struct codec_encoder *encoder, uint_fast32_t source, int left,
	uint32_t offset, uint_fast32_t limit)
{
	uint32_t *contexts = encoder->coder.model->contexts + offset;
	uint8_t *byte = encoder->pending + encoder->pending_size;
	uint_fast32_t most_seen = seen_max(offset);
	uint_fast32_t low = encoder->coder.low;
	uint_fast32_t range = encoder->coder.high - encoder->coder.low;
	uint_fast32_t node = 1;

	while (--left >= 0) {
		bool bit = source >> left & 1;
		uint_fast32_t split;

		if (node < limit) {
			split = divide(range, contexts[node] >> 8);
			contexts[node] = learn(contexts[node], bit, most_seen);
			node = node << 1 | bit;
		} else {
			split = divide(range, HALF);
		}
		if (bit) {
			range = split;
		} else {
			low += split + 1;
			range -= split + 1;
		}
		for (; (low ^ (low + range)) >> 24 == 0; range = range << 8 | 0xff) {
			*byte++ = (uint8_t)(low >> 24);
			low = low << 8 & UINT32_MAX;
		}
	}
	encoder->pending_size = (uint8_t)(byte - encoder->pending);
	encoder->coder.low = (uint32_t)low;
	encoder->coder.high = (uint32_t)(low + range);
}

static void encode_value(struct codec_encoder *encoder, int32_t value)
{
	uint32_t distance = (uint32_t)value - encoder->coder.base;
	uint32_t sign = distance & SIGN_BIT ? CLASS_SIGN : 0;
	uint32_t class;

	if (sign)
		distance = ~distance;
	class = count_bits(distance);
	encode_bits(encoder, sign | class, CLASS_BITS, 0, CLASS_NODES);
	if (class >= 2)
		encode_bits(encoder, distance, (int)class - 1, rest_offset(class), LEAD_NODES);
}

void codec_encoder_init(struct codec_encoder *encoder, struct codec_model *model, int32_t base)
{
	coder_init(&encoder->coder, model);
	encoder->coder.base = (uint32_t)base;
	encoder->pending_at = 0;
	encoder->pending_size = 0;
	encoder->has_end = false;
	encoder->is_ended = false;
	encode_bits(encoder, (uint32_t)base, BASE_BITS, 0, 0);
}

/* True when nothing is left. */
static bool put_pending(
	struct codec_encoder *encoder, uint8_t *bytes, size_t *size, size_t capacity)
{
	while (encoder->pending_at < encoder->pending_size && *size < capacity)
		bytes[(*size)++] = encoder->pending[encoder->pending_at++];
	if (encoder->pending_at < encoder->pending_size)
		return false;
	encoder->pending_at = 0;
	encoder->pending_size = 0;
	return true;
}

size_t codec_encode(struct codec_encoder *encoder, const int32_t *values, size_t count,
	size_t *used, uint8_t *bytes, size_t capacity)
{
	size_t size = 0;

	*used = 0;
	while (put_pending(encoder, bytes, &size, capacity) && *used < count && size < capacity)
		encode_value(encoder, values[(*used)++]);
	return size;
}

size_t codec_encode_end(struct codec_encoder *encoder, uint8_t *bytes, size_t capacity)
{
	size_t size = 0;

	if (!encoder->has_end) {
		/* High is in a later block of 2^24, so this one begins inside. */
		encoder->pending[encoder->pending_size++] =
			(uint8_t)((encoder->coder.low >> 24) + 1);
		encoder->has_end = true;
	}
	encoder->is_ended = put_pending(encoder, bytes, &size, capacity);
	return size;
}

/* ----------------------------------------------------------------- decoder */

static void begin_stage(
	struct codec_decoder *decoder, uint32_t left, uint32_t offset, uint32_t limit)
{
	decoder->node = 1;
	decoder->left = (uint8_t)left;
	decoder->offset_of_contexts = (uint16_t)offset;
	decoder->limit = (uint16_t)limit;
}

void codec_decoder_init(
	struct codec_decoder *decoder, struct codec_model *model, uint32_t count, uint32_t bytes)
{
	coder_init(&decoder->coder, model);
	decoder->code = 0;
	decoder->count_left = count;
	decoder->bytes_left = bytes;
	decoder->offset = 0;
	decoder->padding = 0;
	decoder->wanted = 4;
	decoder->is_below = false;
	decoder->is_ended = false;
	decoder->has_failed = false;
	begin_stage(decoder, BASE_BITS, 0, 0);
}

enum fill {
	FILL_DONE,
	FILL_STARVED,
	FILL_BEYOND_END,
};

static enum fill fill(
	struct codec_decoder *decoder, const uint8_t *bytes, size_t size, size_t *used)
{
	for (; decoder->wanted; decoder->wanted--) {
		uint8_t byte = 0;

		if (decoder->bytes_left) {
			if (*used == size)
				return FILL_STARVED;
			byte = bytes[(*used)++];
			decoder->bytes_left--;
			decoder->offset++;
		} else if (decoder->padding++ == PADDING_MAX) {
			return FILL_BEYOND_END;
		}
		decoder->code = decoder->code << 8 | byte;
	}
	return FILL_DONE;
}

static void decode_bit(struct codec_decoder *decoder)
{
	struct codec_coder *coder = &decoder->coder;
	bool is_plain = decoder->node >= decoder->limit;
	uint32_t *context = &coder->model->contexts[decoder->offset_of_contexts];
	uint32_t middle;
	bool bit;

	context += is_plain ? 0 : decoder->node;
	middle = coder->low +
		 (uint32_t)divide(coder->high - coder->low, is_plain ? HALF : *context >> 8);
	bit = decoder->code <= middle;
	if (!is_plain)
		*context = learn(*context, bit, seen_max(decoder->offset_of_contexts));
	if (bit)
		coder->high = middle;
	else
		coder->low = middle + 1;
	for (; (coder->low ^ coder->high) >> 24 == 0; decoder->wanted++) {
		coder->low <<= 8;
		coder->high = coder->high << 8 | 0xff;
	}
	decoder->node = decoder->node << 1 | bit;
	decoder->left--;
}

static bool is_right_end(const struct codec_decoder *decoder)
{
	return decoder->bytes_left == 0 && decoder->padding == PADDING_MAX &&
	       decoder->code == ((decoder->coder.low >> 24) + 1) << 24;
}

/* A stage is over: true when it gave a value. */
static bool end_stage(struct codec_decoder *decoder, int32_t *value)
{
	uint32_t distance = decoder->node;

	if (decoder->limit == 0) {
		decoder->coder.base = distance;
		return false;
	}
	if (decoder->limit == CLASS_NODES) {
		decoder->is_below = distance & CLASS_SIGN;
		distance &= CLASS_SIGN - 1;
		if (distance >= 2) {
			begin_stage(decoder, distance - 1, rest_offset(distance), LEAD_NODES);
			return false;
		}
	}
	if (decoder->is_below)
		distance = ~distance;
	*value = (int32_t)(distance + decoder->coder.base);
	decoder->count_left--;
	return true;
}

static int fail(struct codec_decoder *decoder)
{
	decoder->has_failed = true;
	return WIRE_ERROR_BAD_MESSAGE;
}

int codec_decode(struct codec_decoder *decoder, const uint8_t *bytes, size_t size, size_t *used,
	int32_t *values, size_t capacity)
{
	size_t got = 0;

	*used = 0;
	if (decoder->has_failed)
		return WIRE_ERROR_BAD_MESSAGE;
	while (!decoder->is_ended) {
		enum fill state;

		/* A value that has begun may end with any bit. */
		if (decoder->count_left && (got == capacity || got == INT32_MAX))
			break;
		state = fill(decoder, bytes, size, used);
		if (state == FILL_BEYOND_END)
			return fail(decoder);
		if (state == FILL_STARVED)
			break;
		if (decoder->left == 0) {
			if (decoder->count_left == 0) {
				decoder->is_ended = is_right_end(decoder);
				return decoder->is_ended ? (int)got : fail(decoder);
			}
			begin_stage(decoder, CLASS_BITS, 0, CLASS_NODES);
		}
		decode_bit(decoder);
		if (decoder->left == 0 && end_stage(decoder, &values[got]))
			got++;
	}
	return (int)got;
}
