/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/agent_script.h"

#include <check.h>
#include <string.h>

#include "agents/core/counter.h"

#define RATE_HZ 1000000000u

struct script script;

/* ---------------------------------------------------------------- the port */

static int read_console(
	struct agent_port *port, uint8_t *data, size_t capacity, uint32_t timeout_ms)
{
	struct script *at = (struct script *)port;
	struct script_chunk *chunk = &at->chunks[at->chunk_at];
	size_t size;

	if (at->chunk_at == at->chunk_count)
		return timeout_ms ? -1 : 0;
	if (timeout_ms == 0 && !chunk->at_once)
		return 0;
	size = chunk->end - chunk->begin;
	if (size > capacity)
		size = capacity;
	memcpy(data, at->host + chunk->begin, size);
	chunk->begin += size;
	if (chunk->begin == chunk->end)
		at->chunk_at++;
	return (int)size;
}

static void keep_answer(struct script *at, const struct frame *frame)
{
	struct script_answer *answer = &at->answers[at->answer_count];

	ck_assert_uint_lt(at->answer_count, SCRIPT_ANSWERS_MAX);
	answer->seq = frame->seq;
	answer->session = frame->session;
	ck_assert_int_eq(
		message_decode(frame->type, frame->body, frame->size, &answer->message), 0);
	if (frame->type == MESSAGE_DATA) {
		memcpy(answer->data, answer->message.data.bytes, answer->message.data.size);
		answer->message.data.bytes = answer->data;
	}
	at->answer_count++;
}

static int write_console(struct agent_port *port, const uint8_t *data, size_t size)
{
	struct script *at = (struct script *)port;

	at->run_writes += at->window_is_open;
	while (size > 0) {
		struct frame_event event;
		size_t used = frame_reader_feed(&at->reader, data, size, &event);

		if (event.kind == FRAME_EVENT_FRAME && event.frame.type == MESSAGE_DONE)
			at->quiet_dones += at->is_quiet;
		if (event.kind == FRAME_EVENT_FRAME)
			keep_answer(at, &event.frame);
		else if (event.kind == FRAME_EVENT_TEXT)
			at->text_bytes += event.size;
		data += used;
		size -= used;
	}
	return 0;
}

static void anchor(struct agent_port *port, uint64_t lead_counts, struct agent_anchor *result)
{
	struct script *at = (struct script *)port;

	result->release_counts = at->now + lead_counts;
	result->bracket_counts = 3;
	result->tick_counts = 7;
}

static uint64_t wait_until(struct agent_port *port, uint64_t deadline_counts)
{
	struct script *at = (struct script *)port;
	int64_t late = at->lateness ? at->lateness[at->waits % at->lateness_count] : 0;

	at->waits++;
	at->now = deadline_counts + (uint64_t)late;
	return at->now;
}

static void sleep_ms(struct agent_port *port, uint32_t ms)
{
	((struct script *)port)->now += (uint64_t)ms * (RATE_HZ / 1000);
}

static uint64_t clock_ns(struct agent_port *port)
{
	(void)port;
	return counter_read();
}

static void quiet(struct agent_port *port, bool is_quiet)
{
	((struct script *)port)->is_quiet = is_quiet;
}

static void window_begin(struct agent_port *port, struct window *window)
{
	struct script *at = (struct script *)port;

	(void)window;
	at->window_is_open = true;
	at->begins++;
	at->loud_windows += !at->is_quiet;
}

static void window_end(struct agent_port *port, struct window *window)
{
	((struct script *)port)->window_is_open = false;
	text_put(&window->counters, "interrupts", "unknown");
}

static void facts(struct agent_port *port, struct text *text)
{
	text_put_u64(text, "probes", ++((struct script *)port)->probes);
}

static const struct agent_port_ops script_ops = {
	.console_read = read_console,
	.console_write = write_console,
	.anchor = anchor,
	.wait_until = wait_until,
	.sleep_ms = sleep_ms,
	.clock_ns = clock_ns,
	.quiet = quiet,
	.window_begin = window_begin,
	.window_end = window_end,
	.facts = facts,
};

/* ---------------------------------------------------------------- rows */

static int prepare_failing(struct window *window)
{
	window->samples = window_add_counts(window, "failing", 4);
	return window->samples ? 0 : WIRE_ERROR_NO_MEMORY;
}

static uint32_t estimate_failing_ms(const struct window *window)
{
	(void)window;
	return 5;
}

static int run_failing(struct window *window)
{
	window_store_counts(window->samples, 1);
	strcpy(window->failure, "broken on purpose");
	return WIRE_ERROR_FAILED;
}

static const struct bench benches[] = {
	{.id = 11, .name = "mutex.pair", .unsupported = "no threads"},
	{
		.id = 60,
		.name = "failing",
		.prepare = prepare_failing,
		.estimate_ms = estimate_failing_ms,
		.run = run_failing,
	},
};

/* ---------------------------------------------------------------- the host */

void script_reset(void)
{
	memset(&script, 0, sizeof(script));
	script.now = 1000;
	script.port = (struct agent_port){
		.ops = &script_ops,
		.counter_rate_hz = RATE_HZ,
		.system = "script",
		.version = "1",
		.mode = "none",
		.benches = benches,
		.bench_count = sizeof(benches) / sizeof(benches[0]),
		.arena = script.arena,
		.arena_size = sizeof(script.arena),
	};
	frame_reader_init(&script.reader, script.reader_chunk, sizeof(script.reader_chunk));
}

void script_send_bytes(const void *bytes, size_t size)
{
	struct script_chunk *chunk = &script.chunks[script.chunk_count++];

	ck_assert_uint_le(script.chunk_count, SCRIPT_CHUNKS_MAX);
	ck_assert_uint_le(script.host_size + size, sizeof(script.host));
	chunk->begin = script.host_size;
	memcpy(script.host + script.host_size, bytes, size);
	script.host_size += size;
	chunk->end = script.host_size;
}

void script_send_as(const struct message *message, uint8_t seq, uint32_t session)
{
	uint8_t body[FRAME_HOST_BODY_MAX];
	uint8_t wire[FRAME_HOST_WIRE_MAX];
	int size =
		message_encode_frame(message, seq, session, body, sizeof(body), wire, sizeof(wire));

	ck_assert_int_gt(size, 0);
	script_send_bytes(wire, (size_t)size);
}

void script_send(const struct message *message)
{
	script_send_as(message, ++script.seq, SCRIPT_NONCE);
}

void script_repeat(const struct message *message)
{
	script_send_as(message, script.seq, SCRIPT_NONCE);
}

void script_hurry(void)
{
	script.chunks[script.chunk_count - 1].at_once = true;
}

void script_session(void)
{
	struct message message = {.type = MESSAGE_SESSION};

	message.session.proto_major = MESSAGE_PROTO_MAJOR;
	message.session.nonce = SCRIPT_NONCE;
	script_send_as(&message, ++script.seq, 0);
}

void script_ping(uint64_t cookie)
{
	struct message message = {.type = MESSAGE_PING};

	message.ping.cookie = cookie;
	script_send(&message);
}

void script_simple(uint8_t type)
{
	struct message message = {.type = type};

	script_send(&message);
}

void script_arm(uint16_t window, uint8_t bench, uint32_t n)
{
	struct message message = {.type = MESSAGE_ARM};

	message.arm.window = window;
	message.arm.bench = bench;
	message.arm.n = n;
	message.arm.period_us = 1000;
	script_send(&message);
}

void script_go(uint16_t window)
{
	struct message message = {.type = MESSAGE_GO};

	message.go.window = window;
	script_send(&message);
}

void script_release(uint16_t window)
{
	struct message message = {.type = MESSAGE_RELEASE};

	message.release.window = window;
	script_send(&message);
}

void script_read(uint16_t window, uint16_t series, uint32_t offset, uint32_t length)
{
	struct message message = {.type = MESSAGE_READ};

	message.read = (struct message_read){window, series, offset, length};
	script_send(&message);
}

enum agent_end script_run(void)
{
	return agent_run(&script.port);
}

const struct script_answer *script_answer(size_t index, uint8_t type)
{
	ck_assert_msg(index < script.answer_count, "answer %zu of %zu", index, script.answer_count);
	ck_assert_msg(script.answers[index].message.type == type, "answer %zu is %s, not %s", index,
		message_type_name(script.answers[index].message.type), message_type_name(type));
	return &script.answers[index];
}

void script_expect_error(size_t index, int code, uint32_t detail)
{
	const struct message_error *error = &script_answer(index, MESSAGE_ERROR)->message.error;

	ck_assert_int_eq(error->code, code);
	ck_assert_uint_eq(error->detail, detail);
}

size_t script_collect(uint16_t window, uint16_t series, uint8_t *bytes, size_t capacity)
{
	size_t size = 0;

	for (size_t i = 0; i < script.answer_count; i++) {
		const struct message_data *data = &script.answers[i].message.data;

		if (script.answers[i].message.type != MESSAGE_DATA || data->window != window ||
			data->series != series)
			continue;
		ck_assert_uint_le(data->offset + data->size, capacity);
		memcpy(bytes + data->offset, data->bytes, data->size);
		if (data->offset + data->size > size)
			size = data->offset + data->size;
	}
	return size;
}
