/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-wire FILE...: how fast the host encodes and decodes samples and frames,
 * over the samples of all files.  The best of several rounds, in CPU time.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "protocol/codec.h"
#include "protocol/message.h"
#include "tests/samples.h"

#define ROUNDS 20
#define HZ     24000000

struct work {
	int32_t *values;
	int32_t *back;
	size_t count;
	uint8_t *coded;
	size_t coded_size;
	uint8_t *line; /* coded in DATA frames */
	size_t line_size;
	size_t heard; /* bytes of coded that came out of the line */
};

static void encode_samples(struct work *work)
{
	work->coded_size = samples_encode(
		work->values, work->count, codec_find_base(work->values, work->count), work->coded);
}

static void decode_samples(struct work *work)
{
	uint32_t offset;

	samples_decode(work->coded, work->coded_size, work->back, work->count, &offset);
}

static void encode_frames(struct work *work)
{
	uint8_t body[FRAME_BODY_MAX];

	work->line_size = 0;
	for (size_t at = 0; at < work->coded_size; at += MESSAGE_DATA_MAX) {
		size_t left = work->coded_size - at;
		struct message message = {
			.type = MESSAGE_DATA,
			.data = {.window = 1,
				.series = 1,
				.offset = (uint32_t)at,
				.size = (uint16_t)(left < MESSAGE_DATA_MAX ? left
									   : MESSAGE_DATA_MAX),
				.bytes = work->coded + at},
		};
		int size = message_encode_frame(&message, 1, 1, body, sizeof(body),
			work->line + work->line_size, FRAME_WIRE_SIZE(FRAME_BODY_MAX));

		work->line_size += size > 0 ? (size_t)size : 0;
	}
}

static void decode_frames(struct work *work)
{
	static uint8_t chunk[FRAME_CHUNK_SIZE(FRAME_BODY_MAX)];
	struct frame_reader reader;
	struct frame_event event;
	struct message message;

	work->heard = 0;
	frame_reader_init(&reader, chunk, sizeof(chunk));
	for (size_t at = 0; at < work->line_size;) {
		at += frame_reader_feed(&reader, work->line + at, work->line_size - at, &event);
		if (event.kind == FRAME_EVENT_FRAME &&
			message_decode(event.frame.type, event.frame.body, event.frame.size,
				&message) == 0)
			work->heard += message.data.size;
	}
}

static double cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double measure(void (*step)(struct work *work), struct work *work)
{
	double best = 1e9;

	for (int round = 0; round < ROUNDS; round++) {
		double start = cpu_s();

		step(work);
		start = cpu_s() - start;
		best = start < best ? start : best;
	}
	return best;
}

static bool load(char **paths, int count, struct work *work)
{
	for (int i = 0; i < count; i++) {
		struct samples samples;
		bool is_read = samples_read(&samples, paths[i], HZ) == 0;
		int32_t *values = is_read ? realloc(work->values,
						    (work->count + samples.count) * sizeof(*values))
					  : NULL;

		if (values) {
			memcpy(values + work->count, samples.values,
				samples.count * sizeof(*values));
			work->values = values;
			work->count += samples.count;
		} else {
			fprintf(stderr, "bench-wire: %s\n",
				is_read ? "out of memory" : samples_error(&samples));
		}
		samples_free(&samples);
		if (!values)
			return false;
	}
	work->back = malloc(work->count * sizeof(*work->back));
	work->coded = malloc(samples_bound(work->count));
	work->line = malloc(samples_bound(work->count) * 2 + FRAME_WIRE_SIZE(FRAME_BODY_MAX));
	return work->back && work->coded && work->line;
}

static void print_samples(const char *what, double seconds, const struct work *work)
{
	printf("%-16s %8.1f ns a sample %8.1f MB/s of raw samples\n", what,
		seconds * 1e9 / (double)work->count,
		(double)work->count * sizeof(int32_t) / seconds / 1e6);
}

static void print_frames(const char *what, double seconds, const struct work *work)
{
	printf("%-16s %8.1f ns a byte   %8.1f MB/s of the line, %.2f %% over its contents\n", what,
		seconds * 1e9 / (double)work->line_size, (double)work->line_size / seconds / 1e6,
		100.0 * (double)work->line_size / (double)work->coded_size - 100);
}

int main(int argc, char **argv)
{
	struct work work = {0};

	if (argc < 2) {
		fputs("usage: bench-wire FILE...\n", stderr);
		return 2;
	}
	if (!load(argv + 1, argc - 1, &work))
		return 1;
	print_samples("encode samples", measure(encode_samples, &work), &work);
	print_samples("decode samples", measure(decode_samples, &work), &work);
	print_frames("encode frames", measure(encode_frames, &work), &work);
	print_frames("decode frames", measure(decode_frames, &work), &work);
	if (memcmp(work.values, work.back, work.count * sizeof(*work.back)) != 0 ||
		work.heard != work.coded_size) {
		fputs("bench-wire: what came back is something else\n", stderr);
		return 1;
	}
	free(work.values);
	free(work.back);
	free(work.coded);
	free(work.line);
	return 0;
}
