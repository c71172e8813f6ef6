/* SPDX-License-Identifier: Apache-2.0 */
#include "protocol/codec.h"

#define CONTEXT_PLAIN  0u /* of bits that nothing is learnt from */
#define CLASS_BITS     6u
#define CLASS_NODES    64u
#define CLASS_SIGN     32u /* of the six bits */
#define LEAD_NODES     32u
#define BASE_BITS      32u
#define SIGN_BIT       0x80000000u
#define HALF	       32768u
#define SEEN_OF_REST   7u  /* smooth data halve their octaves nearly evenly */
#define SEEN_MAX       31u /* more change nothing: 1/64 */
#define SEEN_MAX_CLASS 30u /* 1/32: levels wander more than the shapes in them */
#define PADDING_MAX    3u  /* bytes behind the end that a decoder looks at */
#define BLOCKS	       16u /* of a series, for its base */

/* ------------------------------------------------------- the probabilities */

static void model_init(struct codec_model *model)
{
	for (size_t i = 0; i < CODEC_CONTEXTS; i++) {
		model->ones[i] = HALF;
		model->seen[i] = i < CLASS_NODES ? 0 : SEEN_OF_REST;
	}
}

static void model_learn(struct codec_model *model, uint32_t context, bool bit)
{
	/* Bits that seen + 1 needs. */
	static const uint8_t shifts[SEEN_MAX + 1] = {1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5,
		5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 6};
	uint32_t seen = model->seen[context];
	uint32_t ones = model->ones[context];

	if (context == CONTEXT_PLAIN)
		return;
	if (bit)
		ones += (65536u - ones) >> shifts[seen];
	else
		ones -= ones >> shifts[seen];
	model->ones[context] = (uint16_t)ones;
	if (seen < (context < CLASS_NODES ? SEEN_MAX_CLASS : SEEN_MAX))
		model->seen[context] = (uint8_t)(seen + 1);
}

/* ----------------------------------------------------- the stages of a value */

/* Base, plain. */
static void begin_base(struct codec_coder *coder)
{
	coder->node = 0;
	coder->offset = 0;
	coder->limit = 0;
	coder->left = BASE_BITS;
}

/* Bits that the value needs. */
static void begin_class(struct codec_coder *coder)
{
	coder->node = 1;
	coder->offset = 0;
	coder->limit = CLASS_NODES;
	coder->left = CLASS_BITS;
}

/* The value's bits below the highest one. */
static void begin_rest(struct codec_coder *coder, uint32_t class)
{
	coder->node = 1;
	coder->offset = (uint16_t)(CLASS_NODES + LEAD_NODES * (class - 2));
	coder->limit = LEAD_NODES;
	coder->left = (uint8_t)(class - 1);
}

static void coder_init(struct codec_coder *coder, struct codec_model *model)
{
	model_init(model);
	coder->model = model;
	coder->low = 0;
	coder->high = UINT32_MAX;
	coder->base = 0;
	begin_base(coder);
}

static uint32_t coder_context(const struct codec_coder *coder)
{
	return coder->node < coder->limit ? coder->offset + coder->node : CONTEXT_PLAIN;
}

static uint32_t coder_middle(const struct codec_coder *coder, uint32_t context)
{
	uint64_t range = coder->high - coder->low;

	return coder->low + (uint32_t)(range * coder->model->ones[context] >> 16);
}

static void coder_take(struct codec_coder *coder, uint32_t context, uint32_t middle, bool bit)
{
	if (bit)
		coder->high = middle;
	else
		coder->low = middle + 1;
	model_learn(coder->model, context, bit);
	coder->node = coder->node << 1 | bit;
	coder->left--;
}

static bool coder_has_byte(const struct codec_coder *coder)
{
	return (coder->low ^ coder->high) >> 24 == 0;
}

static void coder_shift(struct codec_coder *coder)
{
	coder->low <<= 8;
	coder->high = coder->high << 8 | 0xff;
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

void codec_encoder_init(struct codec_encoder *encoder, struct codec_model *model, int32_t base)
{
	coder_init(&encoder->coder, model);
	encoder->coder.base = (uint32_t)base;
	encoder->source = (uint32_t)base;
	encoder->distance = 0;
	encoder->is_ended = false;
}

/* A stage is over; false when the value is, too. */
static bool encoder_continue(struct codec_encoder *encoder)
{
	uint32_t class = encoder->source & (CLASS_SIGN - 1);

	if (encoder->coder.limit != CLASS_NODES || class < 2)
		return false;
	begin_rest(&encoder->coder, class);
	encoder->source = encoder->distance;
	return true;
}

static void encoder_begin(struct codec_encoder *encoder, int32_t value)
{
	uint32_t distance = (uint32_t)value - encoder->coder.base;
	uint32_t sign = distance & SIGN_BIT ? CLASS_SIGN : 0;

	encoder->distance = sign ? ~distance : distance;
	encoder->source = sign | count_bits(encoder->distance);
	begin_class(&encoder->coder);
}

static void encode_bit(struct codec_encoder *encoder)
{
	struct codec_coder *coder = &encoder->coder;
	uint32_t context = coder_context(coder);
	bool bit = encoder->source >> (coder->left - 1) & 1;

	coder_take(coder, context, coder_middle(coder, context), bit);
}

size_t codec_encode(struct codec_encoder *encoder, const int32_t *values, size_t count,
	size_t *used, uint8_t *bytes, size_t capacity)
{
	struct codec_coder *coder = &encoder->coder;
	size_t size = 0;

	*used = 0;
	for (;;) {
		while (coder_has_byte(coder)) {
			if (size == capacity)
				return size;
			bytes[size++] = (uint8_t)(coder->high >> 24);
			coder_shift(coder);
		}
		if (coder->left == 0 && !encoder_continue(encoder)) {
			if (*used == count)
				return size;
			encoder_begin(encoder, values[(*used)++]);
		}
		encode_bit(encoder);
	}
}

size_t codec_encode_end(struct codec_encoder *encoder, uint8_t *bytes, size_t capacity)
{
	size_t used;
	size_t size = codec_encode(encoder, NULL, 0, &used, bytes, capacity);

	if (size < capacity && !encoder->is_ended) {
		/* High is in a later block of 2^24, so this one begins inside. */
		bytes[size++] = (uint8_t)((encoder->coder.low >> 24) + 1);
		encoder->is_ended = true;
	}
	return size;
}

/* ----------------------------------------------------------------- decoder */

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
	uint32_t context = coder_context(coder);
	uint32_t middle = coder_middle(coder, context);

	coder_take(coder, context, middle, decoder->code <= middle);
	for (; coder_has_byte(coder); decoder->wanted++)
		coder_shift(coder);
}

static bool is_right_end(const struct codec_decoder *decoder)
{
	return decoder->bytes_left == 0 && decoder->padding == PADDING_MAX &&
	       decoder->code == ((decoder->coder.low >> 24) + 1) << 24;
}

/* A stage is over: true when it gave a value. */
static bool end_stage(struct codec_decoder *decoder, int32_t *value)
{
	struct codec_coder *coder = &decoder->coder;
	uint32_t distance = coder->node;

	if (coder->limit == 0) {
		coder->base = distance;
		return false;
	}
	if (coder->limit == CLASS_NODES) {
		decoder->is_below = distance & CLASS_SIGN;
		distance &= CLASS_SIGN - 1;
		if (distance >= 2) {
			begin_rest(coder, distance);
			return false;
		}
	}
	if (decoder->is_below)
		distance = ~distance;
	*value = (int32_t)(distance + coder->base);
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
		if (decoder->coder.left == 0) {
			if (decoder->count_left == 0) {
				decoder->is_ended = is_right_end(decoder);
				return decoder->is_ended ? (int)got : fail(decoder);
			}
			begin_class(&decoder->coder);
		}
		decode_bit(decoder);
		if (decoder->coder.left == 0 && end_stage(decoder, &values[got]))
			got++;
	}
	return (int)got;
}
