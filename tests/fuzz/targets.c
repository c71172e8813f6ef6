/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "harness/document_scan.h"
#include "protocol/frame.h"
#include "protocol/message.h"
#include "tests/fuzz/fuzz.h"
#include "tests/vectors.h"

const struct fuzz_target fuzz_targets[] = {
	{"codec", fuzz_codec, {"coded", "bad-coded"}, NULL, 1},
	{"frame", fuzz_frame, {"frame", "grown", "bad-frame", "line"}, NULL, 1},
	{"message", fuzz_message, {"frame", "grown", "bad-body"}, NULL, 1},
	{"series", fuzz_series, {"index", "bad-index"}, NULL, 1},
	{"document", fuzz_document, {NULL}, fuzz_document_seeds, 4},
	{"wire", fuzz_wire, {"frame", "grown", "bad-frame", "line"}, NULL, 4},
	{"console", fuzz_console, {NULL}, fuzz_console_seeds, 8},
	{"peer", fuzz_peer, {NULL}, fuzz_peer_seeds, 16},
	{"watcher", fuzz_watcher, {NULL}, fuzz_watcher_seeds, 4},
	{"loader", fuzz_loader, {NULL}, fuzz_loader_seeds, 16},
	{"store", fuzz_store, {NULL}, fuzz_store_seeds, 100},
	{"http", fuzz_http, {NULL}, fuzz_http_seeds, 40},
};

const size_t fuzz_target_count = sizeof(fuzz_targets) / sizeof(fuzz_targets[0]);

void fuzz_fail(const char *file, int line, const char *condition)
{
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
	abort();
}

size_t fuzz_piece(uint32_t *state, size_t left)
{
	size_t size;

	*state = *state * 1664525u + 1013904223u;
	size = *state >> 24 & 15;
	return size < left ? size : left;
}

uint8_t fuzz_take_byte(struct fuzz_input *input)
{
	if (input->left == 0)
		return 0;
	input->left--;
	return *input->bytes++;
}

uint16_t fuzz_take_half(struct fuzz_input *input)
{
	uint16_t low = fuzz_take_byte(input);

	return (uint16_t)(low | fuzz_take_byte(input) << 8);
}

uint32_t fuzz_take_word(struct fuzz_input *input)
{
	uint32_t low = fuzz_take_half(input);

	return low | (uint32_t)fuzz_take_half(input) << 16;
}

const uint8_t *fuzz_take_bytes(struct fuzz_input *input, size_t size, size_t *got)
{
	const uint8_t *bytes = input->bytes;

	*got = size < input->left ? size : input->left;
	input->bytes += *got;
	input->left -= *got;
	return bytes;
}

void fuzz_expect_line(const char *text)
{
	unsigned char byte;
	const char *what;
	unsigned line;

	FUZZ_EXPECT(!scan_find_bad_byte(text, strlen(text), &line, &byte, &what));
	for (; *text; text++)
		FUZZ_EXPECT((unsigned char)*text >= ' ' && *text != 0x7f);
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
	else if (target->function == fuzz_frame || target->function == fuzz_wire)
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

void fuzz_visit_seeds(const struct fuzz_target *target, fuzz_visit *visit, void *context)
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
	if (target->seeds)
		target->seeds(visit, context);
}
