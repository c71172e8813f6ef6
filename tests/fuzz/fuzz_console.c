/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input is a script that makes a line: text, valid frames, and anything.
 * The host's peer takes it apart; its text goes to the watcher, as in a run.
 */
#include <string.h>

#include "boardctl/watcher.h"
#include "harness/peer.h"
#include "tests/fuzz/fuzz.h"

#define LINE_MAX  65536u
#define PERIOD_US 1000u
#define POLL_MS	  10000000 /* longer than any line with its pauses */

enum step {
	STEP_TEXT,
	STEP_FRAME,
	STEP_ANYTHING,
	STEPS,
};

/* What was put on the line. */
struct line {
	uint8_t bytes[LINE_MAX];
	size_t size;
	uint8_t text[LINE_MAX]; /* of it, where all frames are whole */
	size_t text_size;
	size_t frames;
	size_t others; /* bytes that are neither 00 nor of such a frame or text */
};

/* What came out. */
struct heard {
	uint8_t text[LINE_MAX];
	size_t text_size;
	uint8_t frames[LINE_MAX]; /* encoded anew */
	size_t frames_size;
	size_t frame_count;
	struct watcher watcher;
};

struct source {
	const struct line *line;
	size_t at;
	uint32_t state;
	bool in_pieces, has_pauses;
	uint64_t now_us;
};

/* -------------------------------------------------------------------- line */

static void put_text(struct line *line, struct fuzz_input *input)
{
	size_t got;
	const uint8_t *text = fuzz_take_bytes(input, 1 + fuzz_take_byte(input) % 80, &got);

	for (size_t i = 0; i < got; i++) {
		uint8_t byte = text[i] ? text[i] : '\n';

		line->bytes[line->size++] = byte;
		line->text[line->text_size++] = byte;
	}
}

static void put_frame(struct line *line, struct fuzz_input *input)
{
	struct frame frame = {.type = fuzz_take_byte(input), .seq = fuzz_take_byte(input)};
	int size;

	frame.session = frame.type == MESSAGE_HELLO ? 0 : fuzz_take_word(input);
	frame.body = fuzz_take_bytes(input, fuzz_take_byte(input) * 4u, &frame.size);
	size = frame_encode(&frame, line->bytes + line->size, LINE_MAX - line->size);
	FUZZ_EXPECT(size > 0);
	line->size += (size_t)size;
	line->frames++;
}

static void put_anything(struct line *line, struct fuzz_input *input)
{
	size_t got;
	const uint8_t *bytes = fuzz_take_bytes(input, 1 + fuzz_take_byte(input), &got);

	memcpy(line->bytes + line->size, bytes, got);
	line->size += got;
	for (size_t i = 0; i < got; i++)
		line->others++;
}

static void make_line(struct line *line, struct fuzz_input *input)
{
	line->size = line->text_size = line->frames = line->others = 0;
	while (input->left > 0 && line->size < LINE_MAX - 2 * FRAME_WIRE_SIZE(FRAME_BODY_MAX)) {
		switch (fuzz_take_byte(input) % STEPS) {
		case STEP_TEXT:
			put_text(line, input);
			break;
		case STEP_FRAME:
			put_frame(line, input);
			break;
		default:
			put_anything(line, input);
			break;
		}
	}
}

/* -------------------------------------------------------------------- host */

static ssize_t source_read(void *context, uint8_t *bytes, size_t capacity, int timeout_ms)
{
	struct source *source = context;
	size_t left = source->line->size - source->at;
	size_t size = source->in_pieces ? fuzz_piece(&source->state, left) : left;

	if (size == 0) {
		/* Nothing in time; a pause is long enough for what is held back to be given up. */
		if (left == 0)
			source->now_us += (uint64_t)timeout_ms * 1000;
		else if (source->has_pauses)
			source->now_us += timeout_ms < 500 ? (uint64_t)timeout_ms * 1000 : 500000;
		return 0;
	}
	size = size < capacity ? size : capacity;
	memcpy(bytes, source->line->bytes + source->at, size);
	source->at += size;
	source->now_us += PERIOD_US;
	return (ssize_t)size;
}

static int source_write(void *context, const uint8_t *bytes, size_t size)
{
	(void)context;
	(void)bytes;
	(void)size;
	abort(); /* nobody asks for anything */
}

static uint64_t source_now_us(void *context)
{
	return ((struct source *)context)->now_us;
}

static void hear_text(void *context, uint64_t when_us, const uint8_t *text, size_t size)
{
	struct heard *heard = context;

	(void)when_us;
	FUZZ_EXPECT(size > 0 && !memchr(text, 0, size));
	FUZZ_EXPECT(heard->text_size + size <= LINE_MAX);
	memcpy(heard->text + heard->text_size, text, size);
	heard->text_size += size;
	watcher_feed(&heard->watcher, 0, text, size);
}

static void hear_frame(void *context, uint64_t when_us, const struct frame *frame)
{
	struct heard *heard = context;
	int size = frame_encode(
		frame, heard->frames + heard->frames_size, LINE_MAX - heard->frames_size);

	(void)when_us;
	FUZZ_EXPECT(size > 2);
	heard->frames_size += (size_t)size;
	heard->frame_count++;
}

static void take_apart(const struct line *line, struct source source, struct heard *heard)
{
	static struct peer peer;
	struct peer_link link = {
		.context = &source,
		.read = source_read,
		.write = source_write,
		.now_us = source_now_us,
	};
	struct peer_events events = {heard, hear_text, hear_frame};
	struct peer_statistics statistics;

	source.line = line;
	heard->text_size = heard->frames_size = heard->frame_count = 0;
	FUZZ_EXPECT(watcher_init(
			    &heard->watcher, &(struct watcher_config){.rules = fuzz_rules()}) == 0);
	watcher_restart(&heard->watcher, 0);
	peer_init(&peer, &link, &events, NULL);
	FUZZ_EXPECT(peer_poll(&peer, POLL_MS) == (int)line->size);
	FUZZ_EXPECT(source.at == line->size && peer.reader.used == 0);
	peer_get_statistics(&peer, &statistics);
	FUZZ_EXPECT(statistics.frames.frames == heard->frame_count);
	FUZZ_EXPECT(statistics.frames.text_bytes == heard->text_size);
}

/* Every byte but 00 came out; a frame may have had an empty COBS block more. */
static void check_nothing_lost(const struct line *line, const struct heard *heard)
{
	size_t zeros = 0, out = heard->text_size + heard->frames_size - 2 * heard->frame_count;

	for (size_t i = 0; i < line->size; i++)
		zeros += line->bytes[i] == 0;
	FUZZ_EXPECT(out <= line->size - zeros);
	FUZZ_EXPECT(out + heard->frame_count >= line->size - zeros);
}

int fuzz_console(const uint8_t *bytes, size_t size)
{
	static struct line line;
	static struct heard whole, pieces;
	struct fuzz_input input = {bytes, size};
	uint32_t state = fuzz_take_word(&input);

	make_line(&line, &input);
	take_apart(&line, (struct source){.in_pieces = false}, &whole);
	take_apart(&line, (struct source){.in_pieces = true, .state = state}, &pieces);
	FUZZ_EXPECT(whole.text_size == pieces.text_size);
	FUZZ_EXPECT(memcmp(whole.text, pieces.text, whole.text_size) == 0);
	FUZZ_EXPECT(whole.frames_size == pieces.frames_size);
	FUZZ_EXPECT(memcmp(whole.frames, pieces.frames, whole.frames_size) == 0);
	FUZZ_EXPECT(memcmp(&whole.watcher, &pieces.watcher, sizeof(whole.watcher)) == 0);
	check_nothing_lost(&line, &whole);
	if (line.others == 0) {
		FUZZ_EXPECT(whole.frame_count == line.frames);
		FUZZ_EXPECT(whole.text_size == line.text_size);
		FUZZ_EXPECT(memcmp(whole.text, line.text, line.text_size) == 0);
	}
	/* A line that stalls inside frames gives them up as text, and loses nothing. */
	take_apart(&line, (struct source){.in_pieces = true, .has_pauses = true, .state = state},
		&pieces);
	check_nothing_lost(&line, &pieces);
	return 0;
}

/* ------------------------------------------------------------------- seeds */

static size_t add_step(uint8_t *seed, size_t at, enum step step, const void *data, size_t size)
{
	seed[at++] = (uint8_t)step;
	if (step != STEP_FRAME)
		seed[at++] = (uint8_t)(size - 1);
	memcpy(seed + at, data, size);
	return at + size;
}

void fuzz_console_seeds(fuzz_visit *visit, void *context)
{
	static const char *const texts[] = {
		"U-Boot SPL 2024.01\r\n",
		"OpenSBI v1.2\r\n",
		"U-Boot 2023.01\r\n=> ",
		"Starting kernel ...\r\n",
		"[    0.000000] Linux version 6.1\r\n",
		"Kernel panic - not syncing\r\n",
		"\x1b[1;31mlogin: ",
	};
	/* type, seq, session, quarter of the size, body */
	static const uint8_t frames[][16] = {
		{MESSAGE_HELLO, 0, 2, 1, 1, 0, 4, 0, 0, 1},
		{MESSAGE_PONG, 9, 4, 3, 2, 1, 1, 0xff, 0, 0x80, 7},
		{MESSAGE_DATA, 9, 4, 3, 2, 1, 2, 1, 2, 3, 4, 5, 6, 7, 8},
	};
	uint8_t seed[2048] = {7, 7, 7, 7};
	size_t size = 4;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		size = add_step(seed, size, STEP_TEXT, texts[i], strlen(texts[i]));
		size = add_step(seed, size, STEP_FRAME, frames[i % 3], sizeof(frames[0]));
		visit(context, seed, size);
	}
	for (size_t i = 0; i < 3; i++) {
		size = add_step(seed, size, STEP_ANYTHING, "\0abc\0\0\x04xyz\0", 11);
		visit(context, seed, size);
	}
}
