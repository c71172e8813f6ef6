/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/peer_private.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "boardctl/utf8.h"

/*
 * Held-back bytes are given out as text after this much silence. Long on
 * purpose: a stalled target may pause inside a frame, and nobody waits for
 * prompts here.
 */
#define PEER_FLUSH_US 400000u

/* ------------------------------------------------------------ the line */

int peer_fail(struct peer *peer, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(peer->error, sizeof(peer->error), format, args);
	va_end(args);
	utf8_mend_line(peer->error);
	return err;
}

uint64_t peer_now_us(const struct peer *peer)
{
	return peer->link.now_us(peer->link.context);
}

void peer_init(struct peer *peer, const struct peer_link *link, const struct peer_events *events,
	const struct peer_config *config)
{
	memset(peer, 0, sizeof(*peer));
	peer->link = *link;
	if (events)
		peer->events = *events;
	if (config)
		peer->config = *config;
	if (peer->config.baud == 0)
		peer->config.baud = 115200;
	if (peer->config.latency_ms == 0)
		peer->config.latency_ms = 50;
	if (peer->config.work_ms == 0)
		peer->config.work_ms = 2000;
	if (peer->config.tries == 0)
		peer->config.tries = 5;
	if (peer->config.quiet_ms == 0)
		peer->config.quiet_ms = 200;
	frame_reader_init(&peer->reader, peer->chunk, sizeof(peer->chunk));
	peer->last_byte_us = peer_now_us(peer);
}

const char *peer_error(const struct peer *peer)
{
	return peer->error;
}

const struct message_error *peer_target_error(const struct peer *peer)
{
	return &peer->target_error;
}

void peer_get_statistics(const struct peer *peer, struct peer_statistics *statistics)
{
	*statistics = peer->statistics;
	statistics->frames = peer->reader.counters;
}

uint64_t peer_get_damage(const struct peer *peer)
{
	const struct frame_counters *counters = &peer->reader.counters;

	return (uint64_t)counters->bad_crc + counters->bad_cobs + counters->oversize +
	       counters->abandoned;
}

static void tell_text(struct peer *peer, const struct frame_event *event)
{
	if (event->kind == FRAME_EVENT_TEXT && peer->events.text)
		peer->events.text(peer->events.context, peer->chunk_us, event->text, event->size);
}

/* Raw bytes, 00 included: in a window any byte at all breaks the silence. */
static void record_silence(struct peer *peer, const uint8_t *bytes, size_t size)
{
	struct peer_silence *silence = &peer->current.silence;
	size_t room = PEER_SILENCE_KEPT - silence->kept;

	if (!peer->is_hushed || size == 0)
		return;
	if (silence->bytes == 0)
		silence->first_us = peer->input_us;
	silence->last_us = peer->input_us;
	silence->bytes += size;
	room = size < room ? size : room;
	memcpy(silence->content + silence->kept, bytes, room);
	silence->kept += room;
}

/* One event out of what has been read; FRAME_EVENT_NONE when it is used up. */
static void take_event(struct peer *peer, struct frame_event *event)
{
	const uint8_t *bytes = peer->input + peer->input_used;
	size_t used;

	if (peer->reader.used == 0) {
		peer->chunk_us = peer->input_us;
		peer->mark_bytes = peer->current.silence.bytes;
		peer->mark_us = peer->current.silence.last_us;
	}
	used = frame_reader_feed(&peer->reader, bytes, peer->input_size - peer->input_used, event);
	record_silence(peer, bytes, used);
	peer->input_used += used;
	tell_text(peer, event);
}

static void flush_idle(struct peer *peer, uint64_t now_us)
{
	struct frame_event event;

	if (peer->reader.used == 0 || now_us - peer->last_byte_us < PEER_FLUSH_US)
		return;
	frame_reader_flush(&peer->reader, &event);
	tell_text(peer, &event);
}

/* Milliseconds to wait for, rounded up so that nobody spins. */
static int wait_ms(const struct peer *peer, uint64_t now_us, uint64_t deadline_us)
{
	uint64_t until_us = deadline_us;

	if (peer->reader.used > 0 && peer->last_byte_us + PEER_FLUSH_US < until_us)
		until_us = peer->last_byte_us + PEER_FLUSH_US;
	if (until_us <= now_us)
		return 0;
	if (until_us - now_us > 3600u * 1000000u)
		return 3600 * 1000;
	return (int)((until_us - now_us + 999) / 1000);
}

static int read_link(struct peer *peer, int timeout_ms)
{
	ssize_t got;

	if (peer->rest_us > 0 && peer->link.rest)
		peer->link.rest(peer->link.context, peer->rest_us);
	got = peer->link.read(peer->link.context, peer->input, sizeof(peer->input), timeout_ms);
	peer->input_used = 0;
	peer->input_size = 0;
	if (got < 0)
		return peer_fail(
			peer, (int)got, "cannot read the console: %s", strerror((int)-got));
	if ((size_t)got > sizeof(peer->input))
		return peer_fail(peer, -EIO, "the console link returned %zd bytes", got);
	if (got == 0)
		return 0;
	peer->input_size = (size_t)got;
	peer->input_us = peer_now_us(peer);
	peer->last_byte_us = peer->input_us;
	peer->statistics.bytes_received += (size_t)got;
	return 0;
}

int peer_next_frame(struct peer *peer, uint64_t deadline_us, struct peer_arrival *arrival)
{
	bool is_last_look = false;

	for (;;) {
		struct frame_event event = {.kind = FRAME_EVENT_NONE};
		uint64_t now_us;
		int err;

		while (peer->input_used < peer->input_size && event.kind != FRAME_EVENT_FRAME)
			take_event(peer, &event);
		if (event.kind == FRAME_EVENT_FRAME) {
			arrival->frame = event.frame;
			arrival->first_us = peer->chunk_us;
			arrival->last_us = peer->input_us;
			/* Told here, where the size on the wire is still known. */
			if (event.frame.type == MESSAGE_DONE)
				peer->done_wire = event.size;
			return 1;
		}
		/* Traffic must not keep the deadline from passing. */
		if (is_last_look)
			return 0;
		now_us = peer_now_us(peer);
		flush_idle(peer, now_us);
		is_last_look = now_us >= deadline_us;
		err = read_link(peer, is_last_look ? 0 : wait_ms(peer, now_us, deadline_us));
		if (err)
			return err;
	}
}

/* ----------------------------------------------------- unasked frames */

static void note_hello(struct peer *peer, const struct frame *frame)
{
	struct message message;

	if (frame->session != 0)
		return;
	if (message_decode(frame->type, frame->body, frame->size, &message) != 0)
		return;
	peer->hello = message.hello;
	peer->has_hello = true;
	if (peer->is_open)
		peer->is_reset = true;
}

/* The silence ended with DONE's first byte: what was recorded of it goes again. */
static void end_silence(struct peer *peer, const struct peer_arrival *arrival)
{
	struct peer_silence *silence = &peer->current.silence;
	uint64_t own = peer->done_wire;

	if (peer->frozen_us != 0)
		own = arrival->first_us <= peer->frozen_us ? peer->frozen_bytes : 0;
	silence->bytes -= own < silence->bytes ? own : silence->bytes;
	if (silence->kept > silence->bytes)
		silence->kept = (size_t)silence->bytes;
	if (silence->bytes == 0)
		silence->first_us = silence->last_us = 0;
	else if (peer->mark_bytes > 0)
		silence->last_us = peer->mark_us;
}

static void note_done(struct peer *peer, const struct peer_arrival *arrival)
{
	const struct frame *frame = &arrival->frame;
	struct message message;

	if (!peer->is_going || frame->session != peer->nonce || frame->seq != peer->go_seq)
		return;
	if (message_decode(frame->type, frame->body, frame->size, &message) != 0 ||
		message.done.window != peer->go_window)
		return;
	end_silence(peer, arrival);
	peer->current.done = message.done;
	peer->current.done_us = arrival->first_us;
	peer->is_hushed = false;
	peer->is_going = false;
	peer->is_done = true;
}

void peer_note_frame(struct peer *peer, const struct peer_arrival *arrival)
{
	peer->statistics.stray_frames++;
	if (arrival->frame.type == MESSAGE_HELLO)
		note_hello(peer, &arrival->frame);
	else if (arrival->frame.type == MESSAGE_DONE)
		note_done(peer, arrival);
	if (peer->events.frame)
		peer->events.frame(peer->events.context, arrival->first_us, &arrival->frame);
}

int peer_poll(struct peer *peer, int timeout_ms)
{
	uint64_t deadline_us = peer_now_us(peer) + (uint64_t)timeout_ms * 1000;
	uint64_t before = peer->statistics.bytes_received;
	bool was_reset = peer->is_reset;
	struct peer_arrival arrival;
	int err;

	while ((err = peer_next_frame(peer, deadline_us, &arrival)) == 1)
		peer_note_frame(peer, &arrival);
	if (err < 0)
		return err;
	if (peer->is_reset && !was_reset)
		return peer_fail(peer, -ECONNRESET, "the agent has restarted (HELLO)");
	return (int)(peer->statistics.bytes_received - before);
}

int peer_wait_quiet(struct peer *peer, int timeout_ms)
{
	uint64_t quiet_us = (uint64_t)peer->config.quiet_ms * 1000;
	uint64_t deadline_us = peer_now_us(peer) + (uint64_t)timeout_ms * 1000;

	for (;;) {
		uint64_t until_us = peer->last_byte_us + quiet_us;
		struct peer_arrival arrival;
		int err;

		if (until_us > deadline_us)
			until_us = deadline_us;
		err = peer_next_frame(peer, until_us, &arrival);
		if (err < 0)
			return err;
		if (err == 1)
			peer_note_frame(peer, &arrival);
		if (peer_now_us(peer) >= peer->last_byte_us + quiet_us)
			return 0;
		if (peer_now_us(peer) >= deadline_us)
			return peer_fail(peer, -EBUSY,
				"the console was never quiet for %u ms within %d ms: something prints",
				peer->config.quiet_ms, timeout_ms);
	}
}

/* ------------------------------------------------------------ requests */

uint64_t peer_line_us(const struct peer *peer, size_t size)
{
	return (uint64_t)size * 10 * 1000000 / peer->config.baud;
}

uint64_t peer_timeout_us(const struct peer *peer, size_t request_body, size_t answer_body)
{
	size_t bytes = FRAME_WIRE_SIZE(request_body) + FRAME_WIRE_SIZE(answer_body);

	return peer_line_us(peer, bytes) + (uint64_t)peer->config.latency_ms * 2000;
}

int peer_check_open(struct peer *peer)
{
	if (peer->is_reset)
		return peer_fail(peer, -ECONNRESET, "the agent has restarted: session %08x is gone",
			peer->nonce);
	if (!peer->is_open)
		return peer_fail(peer, -ENOTCONN, "no session is open");
	return 0;
}

static int write_frame(struct peer *peer, const uint8_t *wire, size_t size)
{
	int err = peer->link.write(peer->link.context, wire, size);

	if (err < 0)
		return peer_fail(peer, err, "cannot write to the console: %s", strerror(-err));
	peer->statistics.bytes_sent += size;
	return 0;
}

static int encode_frame(struct peer *peer, const struct message *message, uint32_t session,
	size_t padding, uint8_t *wire)
{
	uint8_t body[FRAME_HOST_BODY_MAX];
	struct frame frame = {.type = message->type, .session = session, .body = body};
	int size = message_encode(message, body, sizeof(body));

	peer->seq = peer->seq == 255 ? 1 : (uint8_t)(peer->seq + 1);
	frame.seq = peer->seq;
	if (size >= 0 && padding > sizeof(body) - (size_t)size)
		size = WIRE_ERROR_NO_ROOM;
	if (size >= 0) {
		for (size_t i = 0; i < padding; i++)
			body[(size_t)size + i] = series_pattern_byte((uint32_t)i);
		frame.size = (size_t)size + padding;
		size = frame_encode(&frame, wire, FRAME_HOST_WIRE_MAX);
	}
	if (size < 0)
		return peer_fail(peer, -EINVAL, "cannot encode a frame of type %u: %s",
			message->type, wire_error_name(size));
	peer->statistics.requests++;
	return size;
}

int peer_send(struct peer *peer, const struct message *message, uint32_t session, uint8_t *seq)
{
	uint8_t wire[FRAME_HOST_WIRE_MAX];
	int size = encode_frame(peer, message, session, 0, wire);

	*seq = peer->seq;
	return size < 0 ? size : write_frame(peer, wire, (size_t)size);
}

int peer_take_error(struct peer *peer, const struct frame *frame)
{
	struct message message;
	const struct message_error *error = &peer->target_error;
	const char *name;

	if (message_decode(frame->type, frame->body, frame->size, &message) != 0)
		return peer_fail(peer, -EPROTO, "the target sent an ERROR that cannot be read");
	peer->target_error = message.error;
	name = message_type_name(error->type) ? message_type_name(error->type) : "a frame";
	switch (error->code) {
	case WIRE_ERROR_NO_SESSION:
		peer->is_reset = true;
		return peer_fail(peer, -ECONNRESET,
			"the agent has restarted: it knows no session (asked for %08x)",
			peer->nonce);
	case WIRE_ERROR_WRONG_SESSION:
		return peer_fail(peer, -ESTALE, "the agent has session %08x, not %08x",
			frame->session, peer->nonce);
	case WIRE_ERROR_VERSION:
		return peer_fail(peer, -EPROTONOSUPPORT,
			"the agent speaks protocol %u.%u, this host %u.%u", error->detail >> 8,
			error->detail & 255, MESSAGE_PROTO_MAJOR, MESSAGE_PROTO_MINOR);
	default:
		return peer_fail(peer, -EREMOTEIO, "the target answers %s with %s (%u)%s%s", name,
			wire_error_name(error->code), error->detail, error->text[0] ? ": " : "",
			error->text);
	}
}

/* 1 = answered, 0 = time is up, or the errno that ends the request. */
static int wait_answer(struct peer *peer, struct peer_request *ask, uint64_t deadline_us)
{
	uint32_t session =
		ask->request.type == MESSAGE_SESSION ? ask->request.session.nonce : peer->nonce;
	bool was_reset = peer->is_reset;
	struct peer_arrival arrival;
	int err;

	while ((err = peer_next_frame(peer, deadline_us, &arrival)) == 1) {
		const struct frame *frame = &arrival.frame;

		if (frame->seq == peer->seq && frame->type == MESSAGE_ERROR)
			return peer_take_error(peer, frame);
		if (frame->seq == peer->seq && frame->type == ask->answer_type &&
			frame->session == session) {
			ask->began_us = arrival.first_us;
			ask->received_us = arrival.last_us;
			if (message_decode(frame->type, frame->body, frame->size, &ask->answer) ==
				0)
				return 1;
			return peer_fail(peer, -EPROTO, "the target sent a %s that cannot be read",
				message_type_name(frame->type));
		}
		peer_note_frame(peer, &arrival);
		if (peer->is_reset && !was_reset && ask->request.type != MESSAGE_SESSION)
			return peer_check_open(peer);
	}
	return err;
}

int peer_ask(struct peer *peer, struct peer_request *ask)
{
	uint32_t tries = ask->tries ? ask->tries : peer->config.tries;
	uint64_t damage = peer_get_damage(peer);
	uint8_t wire[FRAME_HOST_WIRE_MAX];
	uint64_t timeout_us;
	int size, err;

	size = encode_frame(peer, &ask->request,
		ask->request.type == MESSAGE_SESSION ? 0 : peer->nonce, ask->padding, wire);
	if (size < 0)
		return size;
	timeout_us = peer_timeout_us(peer, (size_t)size, ask->answer_body) +
		     (uint64_t)ask->work_ms * 1000;
	for (uint32_t try = 0; try < tries; try++) {
		peer->statistics.retries += try > 0;
		ask->sent_us = peer_now_us(peer);
		err = write_frame(peer, wire, (size_t)size);
		if (err)
			return err;
		/* Waits double, so that a stalled target is met with patience. */
		err = wait_answer(
			peer, ask, peer_now_us(peer) + (timeout_us << (try < 4 ? try : 4)));
		if (err)
			return err < 0 ? err : 0;
	}
	if (peer_get_damage(peer) != damage)
		return peer_fail(peer, -EBADMSG,
			"only damaged frames came back for %s (%u tries): noise, or a wrong baud rate",
			message_type_name(ask->request.type), tries);
	return peer_fail(peer, -ETIMEDOUT, "no answer to %s (%u tries): is the agent running?",
		message_type_name(ask->request.type), tries);
}
