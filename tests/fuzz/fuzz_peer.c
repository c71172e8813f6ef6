/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole session with a target that is honest but for what the input says:
 * an operation for each frame that it sends.  Where the input has ended it is
 * honest, so that an empty input is a session that must succeed.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "harness/counters.h"
#include "harness/decode.h"
#include "harness/peer.h"
#include "protocol/codec.h"
#include "protocol/crc32c.h"
#include "tests/fuzz/fuzz.h"

#define WINDOW	    7u
#define VALUES	    40u
#define SERIES	    4u
#define PENDING_MAX 65536u
#define BUFFER_MAX  65536u /* so that a run stays quick */
#define READS_MAX   1000000u

enum lie {
	LIE_NONE,
	LIE_DROP,
	LIE_PATCH, /* bytes of the body */
	LIE_WORD,  /* four of them */
	LIE_CUT,   /* the body ends early */
	LIE_GROW,  /* or late */
	LIE_HEAD,  /* type, seq, session */
	LIE_NOISE, /* a byte on the line */
	LIE_TEXT,  /* in front */
	LIE_ERROR, /* instead */
	LIE_TWICE,
	LIE_RESTART, /* a HELLO in front */
	LIE_LATE,
	LIES,
};

struct target {
	struct fuzz_input input;
	bool is_honest;
	uint64_t now_us;
	unsigned int reads;
	struct frame_reader reader;
	uint8_t chunk[FRAME_CHUNK_SIZE(FRAME_HOST_BODY_MAX)];
	uint32_t session;
	uint8_t state;
	uint8_t pending[PENDING_MAX];
	size_t begin, end;
	char facts[200], catalogue[200];
	struct series_entry entries[SERIES];
	uint8_t data[SERIES][1024];
	uint8_t index[SERIES * SERIES_ENTRY_SIZE_MAX];
	uint32_t index_size;
};

/* -------------------------------------------------------------- what it has */

static size_t code_values(const int32_t *values, uint8_t *bytes, size_t room)
{
	struct codec_encoder encoder;
	struct codec_model model;
	size_t used, size;

	codec_encoder_init(&encoder, &model, codec_find_base(values, VALUES));
	size = codec_encode(&encoder, values, VALUES, &used, bytes, room);
	size += codec_encode_end(&encoder, bytes + size, room - size);
	FUZZ_EXPECT(encoder.is_ended);
	return size;
}

static void add_series(struct target *target, size_t at, uint8_t kind, uint8_t encoding,
	const char *name, size_t count, size_t size)
{
	struct series_entry *entry = &target->entries[at];
	int length;

	*entry = (struct series_entry){.id = (uint16_t)(at + 1),
		.kind = kind,
		.encoding = encoding,
		.count = (uint32_t)count,
		.bytes = (uint32_t)size,
		.crc = crc32c_update(0, target->data[at], size)};
	snprintf(entry->name, sizeof(entry->name), "%s", name);
	length = series_encode_entry(entry, target->index + target->index_size,
		sizeof(target->index) - target->index_size);
	FUZZ_EXPECT(length > 0);
	target->index_size += (uint32_t)length;
}

static void make_data(struct target *target)
{
	static const char counters[] = "uart_rx=0\nuart_tx=none\nkernel_messages=x\nseed=7\n";
	int32_t values[VALUES];

	for (size_t i = 0; i < VALUES; i++)
		values[i] = (int32_t)(i * i % 97) - 3;
	snprintf(target->facts, sizeof(target->facts), "platform=simulated\nprotection=none\n");
	snprintf(target->catalogue, sizeof(target->catalogue),
		"10 wake.idle ok\n42 clock.audit ok\n");
	memcpy(target->data[0], values, sizeof(values));
	add_series(
		target, 0, SERIES_KIND_COUNTS, SERIES_ENCODING_RAW, "cold", VALUES, sizeof(values));
	add_series(target, 1, SERIES_KIND_COUNTS, SERIES_ENCODING_CODED, "latency", VALUES,
		code_values(values, target->data[1], sizeof(target->data[1])));
	memcpy(target->data[2], "\x40\x42\x0f\0\0\0\0", 8);
	add_series(target, 2, SERIES_KIND_STAMPS, SERIES_ENCODING_STEPS, "os_ns", VALUES + 1,
		8 + code_values(values, target->data[2] + 8, sizeof(target->data[2]) - 8));
	memcpy(target->data[3], counters, sizeof(counters) - 1);
	add_series(target, 3, SERIES_KIND_TEXT, SERIES_ENCODING_RAW, "counters",
		sizeof(counters) - 1, sizeof(counters) - 1);
}

/* ------------------------------------------------------------------- lying */

static void put(struct target *target, const uint8_t *bytes, size_t size)
{
	if (size > PENDING_MAX - target->end)
		return;
	memcpy(target->pending + target->end, bytes, size);
	target->end += size;
}

static void put_frame(struct target *target, const struct frame *frame, int noise_at)
{
	uint8_t wire[FRAME_WIRE_SIZE(FRAME_BODY_MAX)];
	int size = frame_encode(frame, wire, sizeof(wire));

	FUZZ_EXPECT(size > 0);
	if (noise_at >= 0)
		wire[noise_at % size] ^= 1 << noise_at % 8;
	put(target, wire, (size_t)size);
}

static void put_message(
	struct target *target, const struct message *message, uint8_t seq, uint32_t session)
{
	uint8_t body[FRAME_BODY_MAX];
	struct frame frame = {.type = message->type, .seq = seq, .session = session, .body = body};
	int size = message_encode(message, body, sizeof(body));

	FUZZ_EXPECT(size >= 0);
	frame.size = (size_t)size;
	put_frame(target, &frame, -1);
}

static struct message make_hello(const struct target *target)
{
	return (struct message){.type = MESSAGE_HELLO,
		.hello = {.proto_major = MESSAGE_PROTO_MAJOR,
			.proto_minor = MESSAGE_PROTO_MINOR,
			.max_body = FRAME_BODY_MAX,
			.state = target->state,
			.counter_hz = 24000000,
			.system = "simulated",
			.version = "1"}};
}

/* Changes the frame or what is around it; false: it is not sent. */
static bool lie(struct target *target, struct frame *frame, uint8_t *body, int *noise_at)
{
	struct fuzz_input *input = &target->input;
	struct message message = {.type = MESSAGE_ERROR};
	const uint8_t *text;
	uint32_t word;
	size_t got;

	switch (fuzz_take_byte(input) % LIES) {
	case LIE_DROP:
		return false;
	case LIE_PATCH:
		for (int count = 1 + fuzz_take_byte(input) % 4; count > 0 && frame->size; count--) {
			size_t at = fuzz_take_half(input) % frame->size;

			body[at] ^= fuzz_take_byte(input);
		}
		break;
	case LIE_WORD:
		got = fuzz_take_byte(input);
		word = fuzz_take_word(input);
		if (frame->size >= 4)
			memcpy(body + got % (frame->size - 3), &word, 4);
		break;
	case LIE_CUT:
		frame->size = frame->size ? fuzz_take_half(input) % frame->size : 0;
		break;
	case LIE_GROW:
		text = fuzz_take_bytes(input, fuzz_take_byte(input), &got);
		got = got < FRAME_BODY_MAX - frame->size ? got : FRAME_BODY_MAX - frame->size;
		memcpy(body + frame->size, text, got);
		frame->size += got;
		break;
	case LIE_HEAD:
		frame->type ^= fuzz_take_byte(input) & 0x1f;
		frame->seq ^= fuzz_take_byte(input);
		frame->session ^= fuzz_take_byte(input);
		break;
	case LIE_NOISE:
		*noise_at = fuzz_take_half(input);
		break;
	case LIE_TEXT:
		text = fuzz_take_bytes(input, fuzz_take_byte(input), &got);
		put(target, text, got);
		break;
	case LIE_ERROR:
		message.error.code = (int16_t)fuzz_take_half(input);
		message.error.type = fuzz_take_byte(input);
		message.error.detail = fuzz_take_word(input);
		put_message(target, &message, frame->seq, frame->session);
		return false;
	case LIE_TWICE:
		put_frame(target, frame, -1);
		break;
	case LIE_RESTART:
		message = make_hello(target);
		put_message(target, &message, 0, 0);
		break;
	case LIE_LATE:
		target->now_us += fuzz_take_half(input) * 1000u;
		break;
	default:
		break;
	}
	return true;
}

static void answer(struct target *target, const struct message *message, uint8_t seq)
{
	uint8_t body[FRAME_BODY_MAX];
	struct frame frame = {
		.type = message->type, .seq = seq, .session = target->session, .body = body};
	int size = message_encode(message, body, sizeof(body));
	int noise_at = -1;

	FUZZ_EXPECT(size >= 0);
	frame.size = (size_t)size;
	if (lie(target, &frame, body, &noise_at))
		put_frame(target, &frame, noise_at);
}

/* ------------------------------------------------------------------- truth */

static struct message_done make_done(const struct target *target)
{
	return (struct message_done){.window = WINDOW,
		.index_size = target->index_size,
		.index_crc = crc32c_update(0, target->index, target->index_size),
		.start = 1000,
		.end = 2000};
}

static const uint8_t *find_series(
	const struct target *target, const struct message_read *read, uint32_t *size)
{
	if (read->window == SERIES_WINDOW_FACTS) {
		const char *text =
			read->series == SERIES_ID_FACTS ? target->facts : target->catalogue;

		*size = (uint32_t)strlen(text);
		return (const uint8_t *)text;
	}
	*size = read->series == 0 ? target->index_size : 0;
	if (read->series >= 1 && read->series <= SERIES) {
		*size = target->entries[read->series - 1].bytes;
		return target->data[read->series - 1];
	}
	return target->index;
}

static void send_data(struct target *target, const struct message_read *read, uint8_t seq)
{
	struct message message = {.type = MESSAGE_DATA};
	uint32_t size, at = read->offset;
	const uint8_t *bytes = find_series(target, read, &size);

	if (read->offset > size || read->length > size - read->offset) {
		message = (struct message){.type = MESSAGE_ERROR,
			.error = {.code = WIRE_ERROR_BAD_RANGE, .type = MESSAGE_READ}};
		answer(target, &message, seq);
		return;
	}
	while (at < read->offset + read->length) {
		uint32_t left = read->offset + read->length - at;

		message.data = (struct message_data){.window = read->window,
			.series = read->series,
			.offset = at,
			.size = (uint16_t)(left < 100 ? left : 100),
			.bytes = bytes + at};
		answer(target, &message, seq);
		at += message.data.size;
	}
}

static uint32_t crc_of(const char *text)
{
	return crc32c_update(0, (const uint8_t *)text, strlen(text));
}

static void take_request(struct target *target, const struct frame *frame)
{
	struct message asked, message = {.type = (uint8_t)(frame->type + 1)};

	FUZZ_EXPECT(message_decode(frame->type, frame->body, frame->size, &asked) == 0);
	switch (asked.type) {
	case MESSAGE_SESSION:
		target->session = asked.session.nonce;
		message = make_hello(target);
		break;
	case MESSAGE_PING:
		message.pong = (struct message_pong){.cookie = asked.ping.cookie,
			.received = 5,
			.sent = 6,
			.state = target->state,
			.done = make_done(target)};
		break;
	case MESSAGE_PROBE:
		message.probed = (struct message_listed){
			(uint32_t)strlen(target->facts), crc_of(target->facts)};
		break;
	case MESSAGE_CATALOG:
		message.cataloged = (struct message_listed){
			(uint32_t)strlen(target->catalogue), crc_of(target->catalogue)};
		break;
	case MESSAGE_ARM:
		target->state = MESSAGE_STATE_ARMED;
		message.armed = (struct message_armed){asked.arm.window, 500};
		break;
	case MESSAGE_GO:
		target->state = MESSAGE_STATE_DONE;
		message.done = make_done(target);
		break;
	case MESSAGE_READ:
		send_data(target, &asked.read, frame->seq);
		return;
	case MESSAGE_RELEASE:
		target->state = MESSAGE_STATE_IDLE;
		message.released.window = asked.release.window;
		break;
	case MESSAGE_QUIT:
		break;
	case MESSAGE_BAUD:
		message.bauded = (struct message_bauded){115200, 115200, 1500000};
		break;
	default:
		abort(); /* no host sends that */
	}
	answer(target, &message, frame->seq);
}

/* -------------------------------------------------------------------- link */

static ssize_t target_read(void *context, uint8_t *bytes, size_t capacity, int timeout_ms)
{
	struct target *target = context;
	size_t size = target->end - target->begin;

	/* An end must come, whatever is answered. */
	FUZZ_EXPECT(++target->reads < READS_MAX);
	target->now_us += 100;
	if (size == 0) {
		target->now_us += (uint64_t)timeout_ms * 1000;
		return 0;
	}
	size = size < capacity ? size : capacity;
	memcpy(bytes, target->pending + target->begin, size);
	target->begin += size;
	if (target->begin == target->end)
		target->begin = target->end = 0;
	return (ssize_t)size;
}

static int target_write(void *context, const uint8_t *bytes, size_t size)
{
	struct target *target = context;
	struct frame_event event;

	FUZZ_EXPECT(size <= FRAME_HOST_WIRE_MAX);
	while (size > 0) {
		size_t used = frame_reader_feed(&target->reader, bytes, size, &event);

		FUZZ_EXPECT(event.kind != FRAME_EVENT_TEXT);
		if (event.kind == FRAME_EVENT_FRAME)
			take_request(target, &event.frame);
		bytes += used;
		size -= used;
	}
	return 0;
}

static uint64_t target_now_us(void *context)
{
	return ((struct target *)context)->now_us;
}

/* -------------------------------------------------------------------- host */

/* The errors that peer.h names; the agent that has restarted is greeted anew. */
static bool check(struct target *target, struct peer *peer, int rc)
{
	struct message_hello hello;

	FUZZ_EXPECT(rc == 0 || peer_error(peer)[0]);
	FUZZ_EXPECT(rc == 0 || !target->is_honest);
	if (rc < 0)
		fuzz_expect_line(peer_error(peer));
	FUZZ_EXPECT(rc == 0 || rc == -ETIMEDOUT || rc == -EBADMSG || rc == -EREMOTEIO ||
		    rc == -ECONNRESET || rc == -ESTALE || rc == -EPROTONOSUPPORT || rc == -EPROTO ||
		    rc == -EMSGSIZE || rc == -EBUSY || rc == -EAGAIN || rc == -ENOTCONN);
	if (rc == -ECONNRESET || rc == -ESTALE || rc == -ENOTCONN)
		peer_open_session(peer, 0x5a5a5a5a, &hello);
	return rc == 0;
}

static void ask_texts(struct target *target, struct peer *peer)
{
	char *text, value[32];
	size_t size;

	if (check(target, peer, peer_probe(peer, &text, &size))) {
		FUZZ_EXPECT(strlen(text) == size && size <= PEER_TEXT_MAX);
		counters_get(text, "platform", value, sizeof(value));
		FUZZ_EXPECT(!target->is_honest || strcmp(value, "simulated") == 0);
	}
	free(text);
	if (check(target, peer, peer_catalog(peer, &text, &size)))
		FUZZ_EXPECT(strlen(text) == size);
	free(text);
}

static void pull(struct target *target, struct peer *peer, const struct series_entry *entry)
{
	uint8_t *bytes = malloc(entry->bytes < BUFFER_MAX ? entry->bytes + 1 : 1);
	struct peer_transfer transfer;
	char error[160] = "";
	void *values = NULL;
	int rc;

	FUZZ_EXPECT(bytes != NULL && entry->bytes <= PEER_SERIES_MAX);
	fuzz_expect_line(entry->name);
	if (entry->bytes >= BUFFER_MAX || entry->count >= BUFFER_MAX)
		goto out;
	FUZZ_EXPECT(peer_transfer_init(
			    &transfer, WINDOW, entry->id, entry->bytes, entry->crc, bytes) == 0);
	if (!check(target, peer, peer_pull(peer, &transfer)))
		goto out;
	FUZZ_EXPECT(transfer.missing == 0);
	FUZZ_EXPECT(crc32c_update(0, bytes, entry->bytes) == entry->crc);
	rc = decode_series(entry, bytes, &values, error, sizeof(error));
	FUZZ_EXPECT((rc == 0) == (values != NULL));
	FUZZ_EXPECT(rc == 0 || (error[0] && !target->is_honest));
	if (values && entry->kind == SERIES_KIND_TEXT)
		counters_get_count(values, "uart_rx");
	free(values);
out:
	free(bytes);
}

static void measure(struct target *target, struct peer *peer)
{
	struct message_arm arm = {.window = WINDOW, .bench = 10, .n = VALUES, .settle_ms = 10};
	struct series_entry *entries;
	struct peer_window window;
	uint32_t estimate_ms;
	size_t count;

	check(target, peer, peer_arm(peer, &arm, &estimate_ms));
	if (!check(target, peer, peer_go(peer, WINDOW, 2000)))
		return;
	check(target, peer, peer_wait_done(peer, 2000, &window));
	FUZZ_EXPECT(window.silence.kept <= PEER_SILENCE_KEPT);
	FUZZ_EXPECT(!target->is_honest || window.silence.bytes == 0);
	check(target, peer, peer_pull_index(peer, &window.done, &entries, &count));
	FUZZ_EXPECT(!target->is_honest || count == SERIES);
	for (size_t i = 0; i < count; i++)
		pull(target, peer, &entries[i]);
	free(entries);
	check(target, peer, peer_release(peer, WINDOW));
}

static void run_session(struct target *target)
{
	struct peer_link link = {target, target_read, target_write, target_now_us, NULL, NULL};
	uint32_t list[PEER_RATES_MAX];
	struct peer_exchange exchange;
	struct message_bauded rates;
	struct message_hello hello;
	static struct peer peer;

	peer_init(&peer, &link, NULL, &(struct peer_config){.tries = 2, .work_ms = 100});
	check(target, &peer, peer_open_session(&peer, 0x12345678, &hello));
	ask_texts(target, &peer);
	check(target, &peer, peer_ping(&peer, &exchange));
	check(target, &peer, peer_query_rates(&peer, &rates));
	peer_list_rates(&rates, 4000000, list);
	measure(target, &peer);
	check(target, &peer, peer_quit(&peer));
}

int fuzz_peer(const uint8_t *bytes, size_t size)
{
	static struct target target;

	memset(&target, 0, sizeof(target));
	target.input = (struct fuzz_input){bytes, size};
	target.is_honest = size == 0;
	frame_reader_init(&target.reader, target.chunk, sizeof(target.chunk));
	make_data(&target);
	run_session(&target);
	return 0;
}

/* ------------------------------------------------------------------- seeds */

void fuzz_peer_seeds(fuzz_visit *visit, void *context)
{
	/* One lie, told as the nth answer. */
	static const uint8_t tails[][8] = {
		{LIE_DROP},
		{LIE_PATCH, 1, 3, 0, 0x40, 9, 0, 1},
		{LIE_WORD, 0, 0xff, 0xff, 0xff, 0xff},
		{LIE_WORD, 6, 0, 0, 0, 4},
		{LIE_CUT, 5, 0},
		{LIE_GROW, 4, 1, 2, 3, 4},
		{LIE_HEAD, 0, 1, 0},
		{LIE_NOISE, 7, 0},
		{LIE_TEXT, 5, 'x', '\n', 0, 4, 'y'},
		{LIE_ERROR, 0xfe, 0xff, 3, 1},
		{LIE_TWICE},
		{LIE_RESTART},
		{LIE_LATE, 0xe8, 3},
	};
	uint8_t seed[64] = {0};

	visit(context, seed, 0);
	for (size_t before = 0; before < 24; before++) {
		for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
			memset(seed, LIE_NONE, sizeof(seed));
			memcpy(seed + before, tails[i], sizeof(tails[0]));
			visit(context, seed, before + sizeof(tails[0]));
		}
	}
}
