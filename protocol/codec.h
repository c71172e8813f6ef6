/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lossless coder for series of i32 counts (PROTOCOL.md, "Coded series").
 * Freestanding, no allocation; all state is the caller's: a model of
 * sizeof(struct codec_model) bytes and a small coder.  Both directions take
 * their input and give their output in pieces of any size; how it is cut
 * changes nothing.  One thread at a time may use one coder and its model; a
 * model serves one coder at a time and needs no preparation.
 */
#ifndef PROTOCOL_CODEC_H
#define PROTOCOL_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/wire_error.h"

#define CODEC_CONTEXTS	 1024u
#define CODEC_EMPTY_SIZE 5u /* bytes of a stream without values: the shortest there is */
#define CODEC_VALUE_SIZE_MAX                                                                       \
	96u /* no value puts out more bytes: 36 decisions of at most 17 bits                       \
	     */

/* What has been learnt, private: a probability and how much it has seen, packed. */
struct codec_model {
	uint32_t contexts[CODEC_CONTEXTS];
};

/* The model and the interval; private, of both directions. */
struct codec_coder {
	struct codec_model *model;
	uint32_t low;
	uint32_t high;
	uint32_t base;
};

struct codec_encoder {
	struct codec_coder coder; /* private */
	uint8_t pending[CODEC_VALUE_SIZE_MAX];
	uint8_t pending_at;
	uint8_t pending_size;
	bool has_end;
	bool is_ended; /* read this: codec_encode_end() has put out everything */
};

struct codec_decoder {
	struct codec_coder coder; /* private */
	uint32_t code;
	uint32_t node; /* the bits of this stage so far, behind a 1 */
	uint16_t offset_of_contexts;
	uint16_t limit;	     /* nodes from here on are plain */
	uint8_t left;	     /* its bits still to come */
	uint32_t count_left; /* values still to come */
	uint32_t bytes_left; /* of the stream */
	uint32_t offset;     /* read this: bytes of the stream that were taken */
	uint8_t padding;
	uint8_t wanted;
	bool is_below; /* the base */
	bool is_ended; /* read this: every value is out and the stream was right to its end */
	bool has_failed;
};

/*
 * A base that suits these values, 0 when there are none: near the smallest
 * ones, but no single value, however early, decides.
 */
int32_t codec_find_base(const int32_t *values, size_t count);

/* Starts a stream.  Any base is right, a good one makes it short. */
void codec_encoder_init(struct codec_encoder *encoder, struct codec_model *model, int32_t base);

/*
 * Takes values until they are used up or the output is full.  Returns the
 * bytes put out, *used is the number of values taken.  It may hold back some
 * bits of the last value: the next call puts them out first.
 */
size_t codec_encode(struct codec_encoder *encoder, const int32_t *values, size_t count,
	size_t *used, uint8_t *bytes, size_t capacity);

/* After the last value: the rest.  Call it until is_ended; returns the bytes put out. */
size_t codec_encode_end(struct codec_encoder *encoder, uint8_t *bytes, size_t capacity);

/* Starts a stream of `bytes` bytes that holds `count` values. */
void codec_decoder_init(
	struct codec_decoder *decoder, struct codec_model *model, uint32_t count, uint32_t bytes);

/*
 * Takes the next piece of the stream until it is used up, the output is full,
 * or the stream ends.  Returns the number of values put out, or
 * WIRE_ERROR_BAD_MESSAGE when no encoder makes such a stream; decoder->offset
 * is then the place, and every later call fails too.  *used is the number of
 * bytes taken.  No call is needed once is_ended; when all bytes were taken and
 * it is not, call again with more room for values.
 */
int codec_decode(struct codec_decoder *decoder, const uint8_t *bytes, size_t size, size_t *used,
	int32_t *values, size_t capacity);

#endif
