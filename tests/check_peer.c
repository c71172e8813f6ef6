/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/decode.h"
#include "harness/peer.h"
#include "tests/vectors.h"
#include "tests/wire_agent.h"
#include "tests/wire_model.h"

#define NONCE 0xdeadbeefu

/* A peer, a line, and one of the two targets; what the callbacks were told. */
struct rig {
	struct wire_line line;
	struct wire_model model;
	struct wire_agent agent;
	bool has_agent;
	struct peer peer;
	char text[1 << 16];
	size_t text_size;
	uint64_t text_us;
	unsigned int hellos;
};

static struct rig rig;

static void on_text(void *context, uint64_t when_us, const uint8_t *text, size_t size)
{
	struct rig *to = context;

	to->text_us = when_us;
	if (size > sizeof(to->text) - to->text_size)
		size = sizeof(to->text) - to->text_size;
	memcpy(to->text + to->text_size, text, size);
	to->text_size += size;
}

static void on_frame(void *context, uint64_t when_us, const struct frame *frame)
{
	struct rig *to = context;

	(void)when_us;
	to->hellos += frame->type == MESSAGE_HELLO;
}

static void rig_open(uint64_t seed, bool has_agent)
{
	struct peer_events events = {.context = &rig, .text = on_text, .frame = on_frame};
	struct peer_link link;

	memset(&rig, 0, sizeof(rig));
	wire_line_init(&rig.line, 115200, seed);
	rig.has_agent = has_agent;
	if (has_agent)
		wire_agent_init(&rig.agent, &rig.line);
	else
		wire_model_init(&rig.model, &rig.line);
	link = wire_line_get_link(&rig.line);
	peer_init(&rig.peer, &link, &events, NULL);
}

static void rig_close(void)
{
	if (rig.has_agent)
		wire_agent_fini(&rig.agent);
	else
		wire_model_fini(&rig.model);
	wire_line_fini(&rig.line);
}

#define OK(call) ck_assert_msg((call) == 0, #call ": %s", peer_error(&rig.peer))
#define GIVES(err, call)                                                                           \
	do {                                                                                       \
		int got_ = (call);                                                                 \
		ck_assert_msg(                                                                     \
			got_ == (err), #call ": %d (%s), not " #err, got_, peer_error(&rig.peer)); \
		ck_assert_str_ne(peer_error(&rig.peer), "");                                       \
	} while (0)

static void open_session(void)
{
	OK(peer_open_session(&rig.peer, NONCE, NULL));
}

static void arm(void)
{
	struct message_arm body = {.window = 7, .bench = 1, .n = WIRE_MODEL_BIG, .period_us = 1000};
	uint32_t estimate_ms;

	OK(peer_arm(&rig.peer, &body, &estimate_ms));
	ck_assert_uint_eq(estimate_ms, rig.model.window_ms);
}

/* Everything up to a window that is done, on the model. */
static void measure(struct peer_window *window)
{
	open_session();
	arm();
	OK(peer_go(&rig.peer, 7, 5000));
	OK(peer_wait_done(&rig.peer, 4000, window));
}

static int pull_series(const struct series_entry *entry, uint8_t **bytes)
{
	struct peer_transfer transfer;
	int err;

	*bytes = malloc(entry->bytes ? entry->bytes : 1);
	err = peer_transfer_init(&transfer, 7, entry->id, entry->bytes, entry->crc, *bytes);
	if (!err)
		err = peer_pull(&rig.peer, &transfer);
	return err;
}

static void pull_everything(const struct peer_window *window)
{
	struct series_entry *entries;
	size_t count;

	OK(peer_pull_index(&rig.peer, &window->done, &entries, &count));
	ck_assert_uint_eq(count, WIRE_MODEL_SERIES);
	for (size_t i = 0; i < count; i++) {
		uint8_t *bytes;

		ck_assert_str_eq(entries[i].name, rig.model.entries[i].name);
		OK(pull_series(&entries[i], &bytes));
		ck_assert_uint_eq(entries[i].bytes, rig.model.entries[i].bytes);
		ck_assert_mem_eq(bytes, rig.model.data[i], entries[i].bytes);
		free(bytes);
	}
	free(entries);
}

static uint64_t now_ms(void)
{
	return rig.line.now_ns / 1000000;
}

/* --------------------------------------------------------- the way it goes */

START_TEST(a_whole_run_with_the_model_gives_what_the_target_has)
{
	struct message_hello hello;
	struct peer_exchange exchange;
	struct peer_window window;
	struct peer_statistics statistics;
	uint64_t counter_us;
	char *text;
	size_t size;

	rig_open(1, false);
	wire_model_restart(&rig.model, true);
	ck_assert_int_eq(peer_wait_hello(&rig.peer, 1000, &hello), 1);
	ck_assert_str_eq(hello.system, "model");
	ck_assert_uint_eq(rig.line.frames_from_host, 0);
	OK(peer_open_session(&rig.peer, NONCE, &hello));
	ck_assert_uint_eq(hello.counter_hz, 24000000);
	OK(peer_ping(&rig.peer, &exchange));
	counter_us = exchange.pong.received / 24;
	ck_assert_uint_le(exchange.host_sent_us, counter_us);
	ck_assert_uint_le(counter_us, exchange.host_received_us);
	OK(peer_probe(&rig.peer, &text, &size));
	ck_assert_uint_eq(size, rig.model.facts_size);
	ck_assert_uint_eq(strlen(text), size);
	ck_assert_mem_eq(text, rig.model.facts, size);
	free(text);
	OK(peer_catalog(&rig.peer, &text, &size));
	ck_assert_str_eq(text, rig.model.catalogue);
	free(text);
	measure(&window);
	ck_assert_int_eq(window.done.status, 0);
	ck_assert_uint_eq(window.done.window, 7);
	ck_assert_uint_eq(window.silence.bytes, 0);
	ck_assert(!window.is_resolved_by_ping && !window.is_disturbed);
	ck_assert_uint_ge(window.done_us - window.go_us, 3000000);
	ck_assert_uint_le(window.done_us - window.go_us, 3010000);
	pull_everything(&window);
	OK(peer_release(&rig.peer, 7));
	OK(peer_release(&rig.peer, 7));
	OK(peer_quit(&rig.peer));
	GIVES(-ENOTCONN, peer_ping(&rig.peer, &exchange));
	peer_get_statistics(&rig.peer, &statistics);
	ck_assert_uint_eq(statistics.retries, 0);
	ck_assert_uint_eq(statistics.frames.bad_crc + statistics.frames.bad_cobs, 0);
	ck_assert_uint_eq(rig.text_size, 0);
	rig_close();
}
END_TEST

static void check_agent_series(const struct series_entry *entry, uint32_t seed, uint32_t n)
{
	char error[160];
	uint8_t *bytes;
	void *values;

	OK(pull_series(entry, &bytes));
	ck_assert_msg(decode_series(entry, bytes, &values, error, sizeof(error)) == 0, "%s", error);
	if (strcmp(entry->name, "latency") == 0) {
		ck_assert_uint_eq(entry->count, n);
		for (uint32_t i = 0; i < n; i++)
			ck_assert_int_eq(((const int32_t *)values)[i], wire_agent_value(seed, i));
	}
	free(values);
	free(bytes);
}

/* The real agent over a line with those faults. */
static void run_agent(uint64_t seed, uint32_t noise_in, uint32_t drop_in, uint32_t n)
{
	struct message_arm body = {.window = 7, .bench = WIRE_AGENT_BENCH, .n = n, .seed = 99};
	struct series_entry *entries;
	struct peer_window window;
	uint32_t estimate_ms;
	size_t size, count;
	bool is_seen = false;
	char *text;

	rig_open(seed, true);
	rig.line.noise_in = noise_in;
	rig.line.drop_in = drop_in;
	ck_assert_int_ge(peer_wait_hello(&rig.peer, 1000, NULL), 0);
	open_session();
	OK(peer_probe(&rig.peer, &text, &size));
	ck_assert_ptr_nonnull(strstr(text, "platform=simulated\n"));
	free(text);
	OK(peer_catalog(&rig.peer, &text, &size));
	ck_assert_ptr_nonnull(strstr(text, "77 seeded supported\n"));
	free(text);
	OK(peer_arm(&rig.peer, &body, &estimate_ms));
	do {
		OK(peer_go(&rig.peer, 7, 5000));
		count = (size_t)-peer_wait_done(&rig.peer, estimate_ms + 500, &window);
	} while (count == EAGAIN);
	ck_assert_msg(count == 0, "%s", peer_error(&rig.peer));
	ck_assert_msg(window.silence.bytes == 0, "%u bytes in the window",
		(unsigned int)window.silence.bytes);
	OK(peer_pull_index(&rig.peer, &window.done, &entries, &count));
	for (size_t i = 0; i < count; i++) {
		is_seen |= strcmp(entries[i].name, "latency") == 0;
		check_agent_series(&entries[i], 99, n);
	}
	ck_assert(is_seen);
	free(entries);
	OK(peer_release(&rig.peer, 7));
	OK(peer_quit(&rig.peer));
	ck_assert_uint_eq(rig.agent.overruns, 0);
	rig_close();
}

START_TEST(a_whole_run_with_the_real_agent_gives_its_samples)
{
	run_agent(1, 0, 0, 20000);
	ck_assert_uint_eq(rig.peer.statistics.retries, 0);
}
END_TEST

START_TEST(the_real_agent_over_a_bad_line_gives_the_same_samples)
{
	/* One flipped bit in 1e5 and one lost byte in 1e4, as the virtual board has them. */
	run_agent((uint64_t)_i + 1, 100000, 10000, 16000);
	ck_assert_uint_gt(rig.peer.statistics.retries, 0);
}
END_TEST

START_TEST(a_terrible_line_is_only_slow)
{
	run_agent((uint64_t)_i + 100, 2000, 1000, 1000);
	ck_assert_uint_gt(rig.peer.statistics.retries, 5);
}
END_TEST

START_TEST(a_clean_pull_uses_most_of_the_line)
{
	struct peer_window window;
	uint64_t begin_ms, ideal_ms = (uint64_t)WIRE_MODEL_BIG * 4 * 10 * 1000 / 115200;
	uint8_t *bytes;

	rig_open(1, false);
	measure(&window);
	begin_ms = now_ms();
	OK(pull_series(&rig.model.entries[1], &bytes));
	free(bytes);
	ck_assert_uint_le((now_ms() - begin_ms) * 90, ideal_ms * 100);
	rig_close();
}
END_TEST

/* ------------------------------------------------------ announcements */

START_TEST(a_damaged_hello_is_an_announcement_once_the_line_is_quiet)
{
	uint64_t begin_ms;

	rig_open(1, false);
	rig.line.damage_target = 1;
	rig.line.damage_target_type = MESSAGE_HELLO;
	wire_model_restart(&rig.model, true);
	begin_ms = now_ms();
	ck_assert_int_eq(peer_wait_hello(&rig.peer, 2000, NULL), 0);
	ck_assert_uint_ge(now_ms() - begin_ms, 200);
	ck_assert_uint_eq(rig.line.frames_from_host, 0);
	open_session();
	rig_close();
}
END_TEST

START_TEST(text_alone_is_no_announcement)
{
	rig_open(1, false);
	wire_line_send(&rig.line, (const uint8_t *)"Starting kernel ...\r\n", 21);
	GIVES(-ETIMEDOUT, peer_wait_hello(&rig.peer, 2000, NULL));
	ck_assert_uint_eq(rig.line.frames_from_host, 0);
	ck_assert_uint_eq(rig.text_size, 21);
	rig_close();
}
END_TEST

START_TEST(a_hello_that_was_polled_is_not_lost)
{
	struct message_hello hello;

	rig_open(1, false);
	wire_model_restart(&rig.model, true);
	ck_assert_int_gt(peer_poll(&rig.peer, 300), 0);
	ck_assert_uint_eq(rig.hellos, 1);
	ck_assert_int_eq(peer_wait_hello(&rig.peer, 0, &hello), 1);
	ck_assert_str_eq(hello.system, "model");
	rig_close();
}
END_TEST

START_TEST(another_major_is_refused_by_either_side)
{
	struct message_hello hello;

	rig_open(1, false);
	rig.model.lie = WIRE_LIE_MAJOR;
	wire_model_restart(&rig.model, true);
	GIVES(-EPROTONOSUPPORT, peer_wait_hello(&rig.peer, 1000, &hello));
	ck_assert_uint_eq(hello.proto_major, 9);
	GIVES(-EPROTONOSUPPORT, peer_open_session(&rig.peer, NONCE, &hello));
	GIVES(-ENOTCONN, peer_release(&rig.peer, 7));
	rig_close();
}
END_TEST

/* ------------------------------------------------------------- windows */

START_TEST(every_lost_frame_is_asked_for_again)
{
	static const uint8_t types[] = {MESSAGE_HELLO, MESSAGE_SESSION, MESSAGE_PROBE,
		MESSAGE_PROBED, MESSAGE_CATALOG, MESSAGE_CATALOGED, MESSAGE_ARM, MESSAGE_ARMED,
		MESSAGE_DONE, MESSAGE_READ, MESSAGE_DATA, MESSAGE_RELEASE, MESSAGE_RELEASED,
		MESSAGE_QUIT, MESSAGE_BYE};

	for (size_t i = 0; i < sizeof(types) * 3; i++) {
		struct peer_window window;
		char *text;
		size_t size;

		rig_open(1, false);
		rig.line.lose_host_type = rig.line.lose_target_type = types[i / 3];
		rig.line.damage_target_type = types[i / 3];
		rig.line.lose_host = i % 3 == 0 ? 2 : 0;
		rig.line.lose_target = i % 3 == 0 ? 2 : i % 3 == 1;
		rig.line.damage_target = i % 3 == 2 ? 2 : 0;
		open_session();
		OK(peer_probe(&rig.peer, &text, &size));
		ck_assert_uint_eq(rig.model.probes, 1);
		free(text);
		OK(peer_catalog(&rig.peer, &text, &size));
		free(text);
		measure(&window);
		ck_assert_uint_eq(window.silence.bytes, 0);
		ck_assert_int_eq(window.is_resolved_by_ping, types[i / 3] == MESSAGE_DONE);
		pull_everything(&window);
		OK(peer_release(&rig.peer, 7));
		OK(peer_quit(&rig.peer));
		rig_close();
	}
}
END_TEST

START_TEST(go_waits_for_a_quiet_line)
{
	struct peer_window window;
	uint64_t begin_ms;

	rig_open(1, false);
	open_session();
	arm();
	wire_line_send(&rig.line, (const uint8_t *)"late text\n", 10);
	begin_ms = now_ms();
	OK(peer_go(&rig.peer, 7, 5000));
	ck_assert_uint_ge(now_ms() - begin_ms, 200);
	/* It was still held back, but it had come before GO. */
	ck_assert_uint_eq(rig.text_size, 10);
	OK(peer_wait_done(&rig.peer, 4000, &window));
	ck_assert_uint_eq(window.silence.bytes, 0);
	rig.model.lie = WIRE_LIE_FLOOD;
	GIVES(-EBUSY, peer_go(&rig.peer, 7, 3000));
	rig_close();
}
END_TEST

START_TEST(a_lost_go_is_found_by_ping_and_sent_again)
{
	struct peer_window window;

	rig_open(1, false);
	rig.line.lose_host = 1;
	rig.line.lose_host_type = MESSAGE_GO;
	open_session();
	arm();
	OK(peer_go(&rig.peer, 7, 5000));
	GIVES(-EAGAIN, peer_wait_done(&rig.peer, 4000, &window));
	OK(peer_go(&rig.peer, 7, 5000));
	OK(peer_wait_done(&rig.peer, 4000, &window));
	ck_assert_uint_eq(window.silence.bytes, 0);
	pull_everything(&window);
	rig_close();
}
END_TEST

START_TEST(nothing_is_sent_before_the_deadline)
{
	struct peer_window window;
	unsigned int frames;

	rig_open(1, false);
	rig.model.window_ms = 60000;
	open_session();
	arm();
	OK(peer_go(&rig.peer, 7, 5000));
	frames = rig.line.frames_from_host;
	rig.line.lose_target = 1;
	rig.line.lose_target_type = MESSAGE_DONE;
	rig.model.is_mute = true;
	GIVES(-ETIMEDOUT, peer_wait_done(&rig.peer, 59000, &window));
	ck_assert_uint_gt(rig.line.frames_from_host, frames);
	ck_assert_uint_eq(window.silence.bytes, 0);
	rig_close();

	rig_open(1, false);
	rig.model.window_ms = 60000;
	open_session();
	arm();
	OK(peer_go(&rig.peer, 7, 5000));
	frames = rig.line.frames_from_host;
	OK(peer_wait_done(&rig.peer, 61000, &window));
	ck_assert_uint_eq(rig.line.frames_from_host, frames);
	rig_close();
}
END_TEST

START_TEST(a_window_that_outlives_its_deadline_is_disturbed)
{
	struct peer_window window;

	rig_open(1, false);
	open_session();
	arm();
	OK(peer_go(&rig.peer, 7, 5000));
	/* The model is deaf while it runs, so the PING is lost and DONE comes later. */
	OK(peer_wait_done(&rig.peer, 2900, &window));
	ck_assert(window.is_disturbed);
	ck_assert_uint_eq(window.done.window, 7);
	rig_close();
}
END_TEST

START_TEST(every_byte_inside_a_window_is_kept_with_its_time)
{
	static const struct {
		const char *bytes;
		size_t size;
	} rows[] = {
		{"[   12.5] eth0: link up\r\n", 25},
		{"x", 1},
		{"\0", 1},
		{"a\0b", 3},
		{"\0\0\0\0\0", 5},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) * 4; i++) {
		const char *bytes = rows[i / 4].bytes;
		size_t size = rows[i / 4].size;
		struct peer_window window;
		const struct peer_silence *silence = &window.silence;

		rig_open(1, false);
		rig.model.chatter = bytes;
		rig.model.chatter_size = size;
		/* In the middle, and directly before DONE; DONE whole, and damaged. */
		rig.model.chatter_ms = i % 2 ? 3000 : 1234;
		rig.line.damage_target = i % 4 / 2;
		rig.line.damage_target_type = MESSAGE_DONE;
		measure(&window);
		ck_assert_int_eq(window.is_resolved_by_ping, i % 4 / 2);
		ck_assert_msg(silence->bytes == size, "row %zu: %u bytes", i,
			(unsigned int)silence->bytes);
		ck_assert_uint_eq(silence->kept, size);
		ck_assert_mem_eq(silence->content, bytes, size);
		ck_assert_uint_ge(silence->first_us, window.go_us + rig.model.chatter_ms * 1000);
		ck_assert_uint_le(
			silence->first_us, window.go_us + rig.model.chatter_ms * 1000 + 10000);
		rig_close();
	}
}
END_TEST

START_TEST(a_done_damaged_anywhere_breaks_no_silence)
{
	/* DONE of the model: two delimiters, a code byte, 10 + 28 bytes. */
	for (size_t at = 0; at < 41 * 2; at++) {
		static const uint8_t code_of_done = 0x08;
		struct peer_window window;

		rig_open(1, false);
		rig.line.damage_target = 1;
		rig.line.damage_target_type = MESSAGE_DONE;
		rig.line.damage_at = at / 2;
		/* The code byte becomes a 00, which makes two frames out of one. */
		rig.line.damage_mask = at / 2 == 1 ? code_of_done : (uint8_t)(1 << at % 8);
		measure(&window);
		ck_assert_msg(window.silence.bytes == 0, "byte %zu: %u", at / 2,
			(unsigned int)window.silence.bytes);
		rig_close();
	}
}
END_TEST

START_TEST(long_chatter_is_counted_whole_and_kept_in_part)
{
	static char chatter[5000];
	struct peer_window window;

	memset(chatter, 'c', sizeof(chatter));
	rig_open(1, false);
	rig.model.chatter = chatter;
	rig.model.chatter_size = sizeof(chatter);
	rig.model.chatter_ms = 1000;
	measure(&window);
	ck_assert_uint_eq(window.silence.bytes, sizeof(chatter));
	ck_assert_uint_eq(window.silence.kept, PEER_SILENCE_KEPT);
	ck_assert_mem_eq(window.silence.content, chatter, PEER_SILENCE_KEPT);
	ck_assert_uint_eq(rig.text_size, sizeof(chatter));
	rig_close();
}
END_TEST

START_TEST(a_reset_inside_a_window_is_seen_with_and_without_its_hello)
{
	for (int quietly = 0; quietly < 2; quietly++) {
		struct peer_exchange exchange;
		struct peer_window window;
		uint32_t estimate_ms;

		rig_open(1, false);
		rig.model.restart_ms = 1500;
		rig.model.restarts_quietly = quietly;
		open_session();
		arm();
		OK(peer_go(&rig.peer, 7, 5000));
		GIVES(-ECONNRESET, peer_wait_done(&rig.peer, 4000, &window));
		/* And nothing works any more. */
		GIVES(-ECONNRESET, peer_ping(&rig.peer, &exchange));
		GIVES(-ECONNRESET, peer_release(&rig.peer, 7));
		GIVES(-ECONNRESET, peer_arm(&rig.peer, &rig.model.arm, &estimate_ms));
		GIVES(-ECONNRESET, peer_go(&rig.peer, 7, 1000));
		OK(peer_open_session(&rig.peer, NONCE + 1, NULL));
		OK(peer_ping(&rig.peer, &exchange));
		rig_close();
	}
}
END_TEST

START_TEST(a_reset_while_polling_is_told_once)
{
	rig_open(1, false);
	open_session();
	wire_model_restart(&rig.model, true);
	GIVES(-ECONNRESET, peer_poll(&rig.peer, 500));
	ck_assert_int_eq(peer_poll(&rig.peer, 500), 0);
	rig_close();
}
END_TEST

/* -------------------------------------------------------------- errors */

/* A frame that the target could have sent long ago. */
static void send_late(const struct message *message, uint8_t seq)
{
	uint8_t body[FRAME_BODY_MAX], wire[FRAME_WIRE_SIZE(FRAME_BODY_MAX)];
	int size =
		message_encode_frame(message, seq, NONCE, body, sizeof(body), wire, sizeof(wire));

	ck_assert_int_gt(size, 0);
	wire_line_send(&rig.line, wire, (size_t)size);
}

START_TEST(a_late_answer_is_not_the_answer)
{
	struct message late = {.type = MESSAGE_ARMED, .armed = {.window = 99}};
	struct message error = {.type = MESSAGE_ERROR, .error = {.code = WIRE_ERROR_BUSY}};

	rig_open(1, false);
	open_session();
	send_late(&late, 200);
	send_late(&error, 200);
	arm();
	ck_assert_uint_eq(rig.peer.statistics.stray_frames, 2);
	rig_close();
}
END_TEST

START_TEST(late_data_are_used_if_they_fit_and_a_lie_if_they_do_not)
{
	struct message late = {.type = MESSAGE_DATA, .data = {.window = 7, .series = 1}};
	struct peer_transfer transfer;
	struct peer_window window;
	struct series_entry entry;
	uint8_t *bytes;

	rig_open(1, false);
	measure(&window);
	entry = rig.model.entries[0];
	bytes = malloc(entry.bytes);
	/* Of another series, harmless; of this one, as far as it goes. */
	late.data.series = 2;
	late.data.size = 100;
	late.data.bytes = rig.model.data[0];
	send_late(&late, 200);
	late.data.series = 1;
	send_late(&late, 200);
	peer_transfer_init(&transfer, 7, 1, entry.bytes, entry.crc, bytes);
	OK(peer_pull(&rig.peer, &transfer));
	ck_assert_mem_eq(bytes, rig.model.data[0], entry.bytes);
	late.data.offset = entry.bytes - 99;
	send_late(&late, 200);
	peer_transfer_init(&transfer, 7, 1, entry.bytes, entry.crc, bytes);
	GIVES(-EPROTO, peer_pull(&rig.peer, &transfer));
	free(bytes);
	rig_close();
}
END_TEST

START_TEST(what_the_target_refuses_is_told_with_its_code)
{
	struct message_arm body = {.window = 7, .bench = 200};
	uint32_t estimate_ms;

	rig_open(1, false);
	open_session();
	GIVES(-EREMOTEIO, peer_arm(&rig.peer, &body, &estimate_ms));
	ck_assert_int_eq(peer_target_error(&rig.peer)->code, WIRE_ERROR_UNKNOWN_BENCH);
	ck_assert_uint_eq(peer_target_error(&rig.peer)->detail, 200);
	ck_assert_ptr_nonnull(strstr(peer_error(&rig.peer), "unknown-bench"));
	ck_assert_ptr_nonnull(strstr(peer_error(&rig.peer), "not here"));
	arm();
	body.bench = 1;
	GIVES(-EREMOTEIO, peer_arm(&rig.peer, &body, &estimate_ms));
	ck_assert_int_eq(peer_target_error(&rig.peer)->code, WIRE_ERROR_BUSY);
	rig_close();
}
END_TEST

START_TEST(a_dead_target_ends_every_call_in_time)
{
	struct message_arm body = {.window = 7, .bench = 1};
	struct peer_exchange exchange;
	struct peer_window window;
	uint64_t begin_ms = 1000;
	uint32_t estimate_ms;
	char *text;
	size_t size;

	rig_open(1, false);
	rig.line.is_cut = true;
	GIVES(-ETIMEDOUT, peer_open_session(&rig.peer, NONCE, NULL));
	rig.line.is_cut = false;
	open_session();
	rig.line.is_cut = true;
	GIVES(-ETIMEDOUT, peer_ping(&rig.peer, &exchange));
	GIVES(-ETIMEDOUT, peer_probe(&rig.peer, &text, &size));
	ck_assert_ptr_null(text);
	GIVES(-ETIMEDOUT, peer_arm(&rig.peer, &body, &estimate_ms));
	OK(peer_go(&rig.peer, 7, 1000));
	GIVES(-ETIMEDOUT, peer_wait_done(&rig.peer, 1000, &window));
	GIVES(-ETIMEDOUT, peer_release(&rig.peer, 7));
	OK(peer_quit(&rig.peer));
	ck_assert_uint_le(now_ms() - begin_ms, 200000);
	rig_close();
}
END_TEST

START_TEST(garbage_for_an_answer_is_not_taken_for_silence)
{
	struct peer_exchange exchange;

	rig_open(1, false);
	open_session();
	rig.line.damage_target = 100;
	rig.line.damage_target_type = MESSAGE_PONG;
	GIVES(-EBADMSG, peer_ping(&rig.peer, &exchange));
	rig.line.damage_target_type = MESSAGE_RELEASED;
	GIVES(-EBADMSG, peer_release(&rig.peer, 7));
	rig_close();
}
END_TEST

START_TEST(errors_of_the_link_are_passed_on)
{
	struct peer_exchange exchange;
	struct peer_window window;

	rig_open(1, false);
	open_session();
	arm();
	rig.line.write_error = -ENODEV;
	GIVES(-ENODEV, peer_ping(&rig.peer, &exchange));
	GIVES(-ENODEV, peer_go(&rig.peer, 7, 1000));
	rig.line.write_error = 0;
	OK(peer_go(&rig.peer, 7, 1000));
	rig.line.read_error = -EIO;
	GIVES(-EIO, peer_wait_done(&rig.peer, 1000, &window));
	GIVES(-EIO, peer_poll(&rig.peer, 10));
	GIVES(-EIO, peer_wait_hello(&rig.peer, 10, NULL));
	rig_close();
}
END_TEST

START_TEST(after_a_crash_the_session_is_taken_up_or_known_to_be_gone)
{
	struct peer_link link;
	struct peer_window window;
	struct message_pong pong;
	struct peer_window again = {.go_us = 0};

	rig_open(1, false);
	measure(&window);
	link = wire_line_get_link(&rig.line);
	peer_init(&rig.peer, &link, NULL, NULL);
	OK(peer_resume_session(&rig.peer, NONCE, &pong));
	ck_assert_int_eq(pong.state, MESSAGE_STATE_DONE);
	ck_assert_mem_eq(&pong.done, &window.done, sizeof(pong.done));
	again.done = pong.done;
	pull_everything(&again);
	GIVES(-ESTALE, peer_resume_session(&rig.peer, NONCE + 1, &pong));
	wire_model_restart(&rig.model, false);
	GIVES(-ECONNRESET, peer_resume_session(&rig.peer, NONCE, &pong));
	rig_close();
}
END_TEST

/* --------------------------------------------------------------- pulls */

static int stop_at_half(void *context, uint32_t done, uint32_t size)
{
	uint32_t *last = context;

	ck_assert_uint_ge(done, *last);
	ck_assert_uint_le(done, size);
	*last = done;
	return done > size / 2;
}

START_TEST(a_pull_goes_on_where_it_was_stopped)
{
	struct series_entry entry;
	struct peer_transfer transfer;
	struct peer_window window;
	uint64_t received;
	uint32_t last = 0;
	uint8_t *bytes;

	rig_open(1, false);
	measure(&window);
	entry = rig.model.entries[1];
	bytes = malloc(entry.bytes);
	ck_assert_int_eq(
		peer_transfer_init(&transfer, 7, entry.id, entry.bytes, entry.crc, bytes), 0);
	transfer.progress = stop_at_half;
	transfer.progress_context = &last;
	GIVES(-ECANCELED, peer_pull(&rig.peer, &transfer));
	ck_assert_uint_eq(last, entry.bytes - transfer.missing);
	transfer.progress = NULL;
	rig.line.is_cut = true;
	GIVES(-ETIMEDOUT, peer_pull(&rig.peer, &transfer));
	rig.line.is_cut = false;
	received = rig.peer.statistics.bytes_received;
	OK(peer_pull(&rig.peer, &transfer));
	ck_assert_mem_eq(bytes, rig.model.data[1], entry.bytes);
	ck_assert_uint_le(rig.peer.statistics.bytes_received - received, entry.bytes * 55 / 100);
	free(bytes);
	rig_close();
}
END_TEST

START_TEST(frames_in_odd_order_and_twice_are_put_in_their_place)
{
	struct peer_window window;

	rig_open(1, false);
	rig.model.shuffles = true;
	measure(&window);
	pull_everything(&window);
	rig_close();
}
END_TEST

START_TEST(a_target_that_lies_gives_an_error_in_bounded_time)
{
	static const int expected[WIRE_LIE_COUNT] = {
		[WIRE_LIE_MAJOR] = -EPROTONOSUPPORT,
		[WIRE_LIE_STILL_COUNTER] = -EPROTO,
		[WIRE_LIE_SHORT_HELLO] = -EPROTO,
		[WIRE_LIE_COOKIE] = -EPROTO,
		[WIRE_LIE_PONG_IDLE] = -EPROTO,
		[WIRE_LIE_PONG_RUNNING] = -EPROTO,
		[WIRE_LIE_ARMED_OTHER] = -EPROTO,
		[WIRE_LIE_RELEASED_OTHER] = -EPROTO,
		[WIRE_LIE_FACTS_HUGE] = -EMSGSIZE,
		[WIRE_LIE_FACTS_NUL] = -EPROTO,
		[WIRE_LIE_FACTS_CRC] = -EPROTO,
		[WIRE_LIE_INDEX_HUGE] = -EMSGSIZE,
		[WIRE_LIE_INDEX_GARBAGE] = -EPROTO,
		[WIRE_LIE_INDEX_TWICE] = -EPROTO,
		[WIRE_LIE_SERIES_HUGE] = -EMSGSIZE,
		[WIRE_LIE_SERIES_CRC] = -EPROTO,
		[WIRE_LIE_DATA_BEFORE] = 0,
		[WIRE_LIE_DATA_BEHIND] = -EPROTO,
		[WIRE_LIE_DATA_FAR] = -EPROTO,
		[WIRE_LIE_DATA_OTHER] = -EPROTO,
		[WIRE_LIE_DATA_SHORT] = -EPROTO,
		[WIRE_LIE_DATA_FIRST_ONLY] = -ETIMEDOUT,
		[WIRE_LIE_ERROR_SHORT] = -EPROTO,
		[WIRE_LIE_ERROR_READ] = -EREMOTEIO,
		[WIRE_LIE_FLOOD] = -ETIMEDOUT,
	};

	for (int lie = 1; lie < WIRE_LIE_COUNT; lie++) {
		struct message_arm body = {.window = 7, .bench = 1};
		struct series_entry *entries = NULL;
		struct peer_exchange exchange;
		struct peer_window window;
		uint8_t *bytes = NULL;
		uint32_t estimate_ms;
		uint64_t begin_ms;
		size_t count, size;
		char *text = NULL;
		int err;

		rig_open(1, false);
		rig.model.lie = (enum wire_lie)lie;
		begin_ms = now_ms();
		err = peer_open_session(&rig.peer, NONCE, NULL);
		if (!err)
			err = peer_ping(&rig.peer, &exchange);
		if (!err)
			err = peer_probe(&rig.peer, &text, &size);
		if (!err)
			err = peer_arm(&rig.peer, &body, &estimate_ms);
		if (!err)
			err = peer_go(&rig.peer, 7, 1000);
		if (!err)
			err = peer_wait_done(&rig.peer, 4000, &window);
		if (!err)
			err = peer_pull_index(&rig.peer, &window.done, &entries, &count);
		if (lie == WIRE_LIE_SERIES_HUGE)
			ck_assert_ptr_null(entries);
		for (size_t i = 0; !err && i < count; i++) {
			free(bytes);
			err = pull_series(&entries[i], &bytes);
		}
		if (!err)
			err = peer_release(&rig.peer, 7);
		if (lie == WIRE_LIE_DATA_BEFORE)
			ck_assert_msg(err == 0 || err == -EPROTO, "lie %d: %d", lie, err);
		else
			ck_assert_msg(err == expected[lie], "lie %d: %d (%s)", lie, err,
				peer_error(&rig.peer));
		ck_assert_uint_le(now_ms() - begin_ms, 1000000);
		free(bytes);
		free(text);
		free(entries);
		rig_close();
	}
}
END_TEST

/* Valid frames with the right session and seq, and nonsense in them. */
struct babbler {
	struct wire_line *line;
	struct frame_reader reader;
	uint8_t chunk[FRAME_CHUNK_SIZE(FRAME_HOST_BODY_MAX)];
	uint64_t random;
	struct frame last;
	unsigned int owes;
};

static void babbler_receive(void *context, uint8_t byte)
{
	struct babbler *babbler = context;
	struct frame_event event;

	frame_reader_feed(&babbler->reader, &byte, 1, &event);
	if (event.kind == FRAME_EVENT_FRAME) {
		babbler->last = event.frame;
		babbler->owes = vectors_random(&babbler->random) % 4;
	}
}

static uint64_t babbler_wake_ns(void *context)
{
	struct babbler *babbler = context;

	return babbler->owes > 0 ? babbler->line->to_host.free_ns : WIRE_NEVER;
}

static void babbler_act(void *context)
{
	struct babbler *babbler = context;
	uint8_t body[200], wire[300];
	struct frame frame = babbler->last;
	int size;

	babbler->owes--;
	for (size_t i = 0; i < sizeof(body); i++)
		body[i] = (uint8_t)(vectors_random(&babbler->random) % 3
					    ? 0
					    : vectors_random(&babbler->random) % 5);
	frame.body = body;
	frame.size = vectors_random(&babbler->random) % sizeof(body);
	/* Mostly the right answer's type and session. */
	frame.type++;
	if (vectors_random(&babbler->random) % 5 == 0)
		frame.type = (uint8_t)(vectors_random(&babbler->random) % 24);
	if (babbler->last.type == MESSAGE_SESSION)
		frame.type = MESSAGE_HELLO;
	if (frame.session == 0 && vectors_random(&babbler->random) % 4)
		frame.session = NONCE;
	if (frame.type == MESSAGE_HELLO && frame.size > 16)
		body[0] = 1, body[13] = 1;
	if (frame.type == MESSAGE_ERROR && frame.size > 2)
		body[1] = 0xff, body[0] = (uint8_t)(0xff - body[0]);
	size = frame_encode(&frame, wire, sizeof(wire));
	wire_line_send(babbler->line, wire, (size_t)size);
}

START_TEST(a_target_that_babbles_never_breaks_or_hangs_the_host)
{
	static struct babbler babbler;
	int answered = 0;

	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct message_arm body = {.window = 0};
		struct message_done done = {.window = 0, .index_size = 60};
		struct series_entry *entries;
		struct peer_exchange exchange;
		struct peer_window window;
		struct message_hello hello;
		uint8_t bytes[500];
		struct peer_transfer transfer;
		uint32_t estimate_ms;
		size_t size;
		char *text;

		rig_open(seed, false);
		memset(&babbler, 0, sizeof(babbler));
		babbler.line = &rig.line;
		babbler.random = seed;
		frame_reader_init(&babbler.reader, babbler.chunk, sizeof(babbler.chunk));
		rig.line.end =
			(struct wire_end){&babbler, babbler_receive, babbler_wake_ns, babbler_act};
		for (int i = 0; i < 5 && !rig.peer.is_open; i++)
			answered += peer_open_session(&rig.peer, NONCE, &hello) == 0;
		answered += peer_ping(&rig.peer, &exchange) == 0;
		answered += peer_arm(&rig.peer, &body, &estimate_ms) == 0;
		answered += peer_probe(&rig.peer, &text, &size) == 0;
		free(text);
		if (peer_go(&rig.peer, 0, 1000) == 0)
			answered += peer_wait_done(&rig.peer, 500, &window) == 0;
		answered += peer_pull_index(&rig.peer, &done, &entries, &size) == 0;
		free(entries);
		peer_transfer_init(&transfer, 0, 0, sizeof(bytes), 1, bytes);
		answered += peer_pull(&rig.peer, &transfer) == 0;
		answered += peer_release(&rig.peer, 0) == 0;
		ck_assert_uint_le(now_ms(), 3600000);
		rig_close();
	}
	ck_assert_int_gt(answered, 400);
}
END_TEST

START_TEST(limits_are_checked_before_anything_is_asked)
{
	struct peer_transfer transfer;

	rig_open(1, false);
	open_session();
	ck_assert_int_eq(
		peer_transfer_init(&transfer, 1, 1, PEER_SERIES_MAX + 1, 0, NULL), -EMSGSIZE);
	ck_assert_int_eq(peer_transfer_init(&transfer, 1, 1, 0, 0, NULL), 0);
	OK(peer_pull(&rig.peer, &transfer));
	ck_assert_uint_eq(rig.model.reads, 0);
	GIVES(-EINVAL, peer_open_session(&rig.peer, 0, NULL));
	rig_close();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("peer");
	TCase *tcase = tcase_create("peer");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, a_whole_run_with_the_model_gives_what_the_target_has);
	tcase_add_test(tcase, a_whole_run_with_the_real_agent_gives_its_samples);
	tcase_add_loop_test(tcase, the_real_agent_over_a_bad_line_gives_the_same_samples, 0, 12);
	tcase_add_loop_test(tcase, a_terrible_line_is_only_slow, 0, 3);
	tcase_add_test(tcase, a_clean_pull_uses_most_of_the_line);
	tcase_add_test(tcase, a_damaged_hello_is_an_announcement_once_the_line_is_quiet);
	tcase_add_test(tcase, text_alone_is_no_announcement);
	tcase_add_test(tcase, a_hello_that_was_polled_is_not_lost);
	tcase_add_test(tcase, another_major_is_refused_by_either_side);
	tcase_add_test(tcase, every_lost_frame_is_asked_for_again);
	tcase_add_test(tcase, go_waits_for_a_quiet_line);
	tcase_add_test(tcase, a_lost_go_is_found_by_ping_and_sent_again);
	tcase_add_test(tcase, nothing_is_sent_before_the_deadline);
	tcase_add_test(tcase, a_window_that_outlives_its_deadline_is_disturbed);
	tcase_add_test(tcase, every_byte_inside_a_window_is_kept_with_its_time);
	tcase_add_test(tcase, a_done_damaged_anywhere_breaks_no_silence);
	tcase_add_test(tcase, a_late_answer_is_not_the_answer);
	tcase_add_test(tcase, late_data_are_used_if_they_fit_and_a_lie_if_they_do_not);
	tcase_add_test(tcase, long_chatter_is_counted_whole_and_kept_in_part);
	tcase_add_test(tcase, a_reset_inside_a_window_is_seen_with_and_without_its_hello);
	tcase_add_test(tcase, a_reset_while_polling_is_told_once);
	tcase_add_test(tcase, what_the_target_refuses_is_told_with_its_code);
	tcase_add_test(tcase, a_dead_target_ends_every_call_in_time);
	tcase_add_test(tcase, garbage_for_an_answer_is_not_taken_for_silence);
	tcase_add_test(tcase, errors_of_the_link_are_passed_on);
	tcase_add_test(tcase, after_a_crash_the_session_is_taken_up_or_known_to_be_gone);
	tcase_add_test(tcase, a_pull_goes_on_where_it_was_stopped);
	tcase_add_test(tcase, frames_in_odd_order_and_twice_are_put_in_their_place);
	tcase_add_test(tcase, a_target_that_lies_gives_an_error_in_bounded_time);
	tcase_add_test(tcase, a_target_that_babbles_never_breaks_or_hangs_the_host);
	tcase_add_test(tcase, limits_are_checked_before_anything_is_asked);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
