/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "protocol/frame.h"
#include "protocol/message.h"
#include "tests/fuzz/fuzz.h"
#include "tests/vectors.h"

const struct fuzz_target fuzz_targets[] = {
	{"codec", fuzz_codec, {"coded", "bad-coded"}},
	{"frame", fuzz_frame, {"frame", "grown", "bad-frame", "line"}},
	{"message", fuzz_message, {"frame", "grown", "bad-body"}},
	{"series", fuzz_series, {"index", "bad-index"}},
};

const size_t fuzz_target_count = sizeof(fuzz_targets) / sizeof(fuzz_targets[0]);

size_t fuzz_piece(uint32_t *state, size_t left)
{
	size_t size;

	*state = *state * 1664525u + 1013904223u;
	size = *state >> 24 & 15;
	return size < left ? size : left;
}

/* A head that makes the vector a stream of so many values. */
static size_t put_codec_head(const struct vector *vector, uint8_t *bytes)
{
	const char *count_text = strstr(vector->text, "count=");
	uint32_t head = 0;
	unsigned int count = 0;

	if (count_text)
		sscanf(count_text, "count=%u", &count);
	else
		for (const char *at = strstr(vector->text, "values="); at; at = strchr(at + 1, ','))
			count++;
	head = count << 1 | 1;
	memcpy(bytes, &head, sizeof(head));
	return sizeof(head);
}

/* A whole frame to its type and body. */
static size_t to_body(uint8_t *bytes, size_t size)
{
	uint8_t chunk[FRAME_CHUNK_SIZE(FRAME_BODY_MAX)];
	struct frame_reader reader;
	struct frame_event event = {0};

	frame_reader_init(&reader, chunk, sizeof(chunk));
	for (size_t at = 0; at < size && event.kind != FRAME_EVENT_FRAME;)
		at += frame_reader_feed(&reader, bytes + at, size - at, &event);
	if (event.kind != FRAME_EVENT_FRAME)
		return 0;
	bytes[0] = event.frame.type;
	memcpy(bytes + 1, event.frame.body, event.frame.size);
	return 1 + event.frame.size;
}

static size_t make_seed(
	const struct fuzz_target *target, const struct vector *vector, uint8_t *seed)
{
	size_t head = 0;

	if (target->function == fuzz_codec)
		head = put_codec_head(vector, seed);
	else if (target->function == fuzz_frame)
		seed[head++] = (uint8_t)vector->line;
	else if (target->function == fuzz_message && strcmp(vector->kind, "bad-body") == 0)
		head = 1;
	memcpy(seed + head, vector->bytes, vector->size);
	if (target->function != fuzz_message)
		return head + vector->size;
	if (head == 0)
		return to_body(seed, vector->size);
	for (unsigned int type = 0; type < 256; type++)
		if (message_type_name((uint8_t)type) &&
			strcmp(message_type_name((uint8_t)type), vector->type) == 0)
			seed[0] = (uint8_t)type;
	return head + vector->size;
}

void fuzz_visit_seeds(const struct fuzz_target *target,
	void (*visit)(void *context, const uint8_t *seed, size_t size), void *context)
{
	static struct vector vector;
	static uint8_t seed[sizeof(vector.bytes) + 8];

	for (size_t i = 0; i < FUZZ_KINDS_MAX && target->kinds[i]; i++) {
		FILE *file = vectors_open();

		vector.line = 0;
		while (vectors_next(file, target->kinds[i], &vector))
			visit(context, seed, make_seed(target, &vector, seed));
		fclose(file);
	}
}
