/* SPDX-License-Identifier: Apache-2.0 */
/* The host's side of the protocol: whole runs, announcements, requests and their errors. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/decode.h"
#include "tests/peer_rig.h"

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

	peer_rig_open(1, false);
	wire_model_restart(&peer_rig.model, true);
	ck_assert_int_eq(peer_wait_hello(&peer_rig.peer, 1000, &hello), 1);
	ck_assert_str_eq(hello.system, "model");
	ck_assert_uint_eq(peer_rig.line.frames_from_host, 0);
	PEER_OK(peer_open_session(&peer_rig.peer, PEER_RIG_NONCE, &hello));
	ck_assert_uint_eq(hello.counter_hz, 24000000);
	PEER_OK(peer_ping(&peer_rig.peer, &exchange));
	counter_us = exchange.pong.received / 24;
	ck_assert_uint_le(exchange.host_sent_us, counter_us);
	ck_assert_uint_le(counter_us, exchange.host_received_us);
	PEER_OK(peer_probe(&peer_rig.peer, &text, &size));
	ck_assert_uint_eq(size, peer_rig.model.facts_size);
	ck_assert_uint_eq(strlen(text), size);
	ck_assert_mem_eq(text, peer_rig.model.facts, size);
	free(text);
	PEER_OK(peer_catalog(&peer_rig.peer, &text, &size));
	ck_assert_str_eq(text, peer_rig.model.catalogue);
	free(text);
	peer_rig_measure(&window);
	ck_assert_int_eq(window.done.status, 0);
	ck_assert_uint_eq(window.done.window, 7);
	ck_assert_uint_eq(window.silence.bytes, 0);
	ck_assert(!window.is_resolved_by_ping && !window.is_disturbed);
	ck_assert_uint_ge(window.done_us - window.go_us, 3000000);
	ck_assert_uint_le(window.done_us - window.go_us, 3010000);
	peer_rig_pull_everything(&window);
	PEER_OK(peer_release(&peer_rig.peer, 7));
	PEER_OK(peer_release(&peer_rig.peer, 7));
	PEER_OK(peer_quit(&peer_rig.peer));
	PEER_GIVES(-ENOTCONN, peer_ping(&peer_rig.peer, &exchange));
	peer_get_statistics(&peer_rig.peer, &statistics);
	ck_assert_uint_eq(statistics.retries, 0);
	ck_assert_uint_eq(statistics.frames.bad_crc + statistics.frames.bad_cobs, 0);
	ck_assert_uint_eq(peer_rig.text_size, 0);
	peer_rig_close();
}
END_TEST

static void check_agent_series(const struct series_entry *entry, uint32_t seed, uint32_t n)
{
	char error[160];
	uint8_t *bytes;
	void *values;

	PEER_OK(peer_rig_pull(entry, &bytes));
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

	peer_rig_open(seed, true);
	peer_rig.line.noise_in = noise_in;
	peer_rig.line.drop_in = drop_in;
	ck_assert_int_ge(peer_wait_hello(&peer_rig.peer, 1000, NULL), 0);
	peer_rig_open_session();
	PEER_OK(peer_probe(&peer_rig.peer, &text, &size));
	ck_assert_ptr_nonnull(strstr(text, "platform=simulated\n"));
	free(text);
	PEER_OK(peer_catalog(&peer_rig.peer, &text, &size));
	ck_assert_ptr_nonnull(strstr(text, "77 seeded supported\n"));
	free(text);
	PEER_OK(peer_arm(&peer_rig.peer, &body, &estimate_ms));
	do {
		PEER_OK(peer_go(&peer_rig.peer, 7, 5000));
		count = (size_t)-peer_wait_done(&peer_rig.peer, estimate_ms + 500, &window);
	} while (count == EAGAIN);
	ck_assert_msg(count == 0, "%s", peer_error(&peer_rig.peer));
	ck_assert_msg(window.silence.bytes == 0, "%u bytes in the window",
		(unsigned int)window.silence.bytes);
	PEER_OK(peer_pull_index(&peer_rig.peer, &window.done, &entries, &count));
	for (size_t i = 0; i < count; i++) {
		is_seen |= strcmp(entries[i].name, "latency") == 0;
		check_agent_series(&entries[i], 99, n);
	}
	ck_assert(is_seen);
	free(entries);
	PEER_OK(peer_release(&peer_rig.peer, 7));
	PEER_OK(peer_quit(&peer_rig.peer));
	ck_assert_uint_eq(peer_rig.agent.overruns, 0);
	peer_rig_close();
}

START_TEST(a_whole_run_with_the_real_agent_gives_its_samples)
{
	run_agent(1, 0, 0, 20000);
	ck_assert_uint_eq(peer_rig.peer.statistics.retries, 0);
}
END_TEST

START_TEST(the_real_agent_over_a_bad_line_gives_the_same_samples)
{
	/* One flipped bit in 1e5 and one lost byte in 1e4, as the virtual board has them. */
	run_agent((uint64_t)_i + 1, 100000, 10000, 16000);
	ck_assert_uint_gt(peer_rig.peer.statistics.retries, 0);
}
END_TEST

START_TEST(a_terrible_line_is_only_slow)
{
	run_agent((uint64_t)_i + 100, 2000, 1000, 1000);
	ck_assert_uint_gt(peer_rig.peer.statistics.retries, 5);
}
END_TEST

START_TEST(a_clean_pull_uses_most_of_the_line)
{
	struct peer_window window;
	uint64_t begin_ms, ideal_ms = (uint64_t)WIRE_MODEL_BIG * 4 * 10 * 1000 / 115200;
	uint8_t *bytes;

	peer_rig_open(1, false);
	peer_rig_measure(&window);
	begin_ms = peer_rig_now_ms();
	PEER_OK(peer_rig_pull(&peer_rig.model.entries[1], &bytes));
	free(bytes);
	ck_assert_uint_le((peer_rig_now_ms() - begin_ms) * 90, ideal_ms * 100);
	peer_rig_close();
}
END_TEST

/* ------------------------------------------------------ announcements */

START_TEST(a_damaged_hello_is_an_announcement_once_the_line_is_quiet)
{
	uint64_t begin_ms;

	peer_rig_open(1, false);
	peer_rig.line.damage_target = 1;
	peer_rig.line.damage_target_type = MESSAGE_HELLO;
	wire_model_restart(&peer_rig.model, true);
	begin_ms = peer_rig_now_ms();
	ck_assert_int_eq(peer_wait_hello(&peer_rig.peer, 2000, NULL), 0);
	ck_assert_uint_ge(peer_rig_now_ms() - begin_ms, 200);
	ck_assert_uint_eq(peer_rig.line.frames_from_host, 0);
	peer_rig_open_session();
	peer_rig_close();
}
END_TEST

START_TEST(text_alone_is_no_announcement)
{
	peer_rig_open(1, false);
	wire_line_send(&peer_rig.line, (const uint8_t *)"Starting kernel ...\r\n", 21);
	PEER_GIVES(-ETIMEDOUT, peer_wait_hello(&peer_rig.peer, 2000, NULL));
	ck_assert_uint_eq(peer_rig.line.frames_from_host, 0);
	ck_assert_uint_eq(peer_rig.text_size, 21);
	peer_rig_close();
}
END_TEST

START_TEST(a_hello_that_was_polled_is_not_lost)
{
	struct message_hello hello;

	peer_rig_open(1, false);
	wire_model_restart(&peer_rig.model, true);
	ck_assert_int_gt(peer_poll(&peer_rig.peer, 300), 0);
	ck_assert_uint_eq(peer_rig.hellos, 1);
	ck_assert_int_eq(peer_wait_hello(&peer_rig.peer, 0, &hello), 1);
	ck_assert_str_eq(hello.system, "model");
	peer_rig_close();
}
END_TEST

START_TEST(another_major_is_refused_by_either_side)
{
	struct message_hello hello;

	peer_rig_open(1, false);
	peer_rig.model.lie = WIRE_LIE_MAJOR;
	wire_model_restart(&peer_rig.model, true);
	PEER_GIVES(-EPROTONOSUPPORT, peer_wait_hello(&peer_rig.peer, 1000, &hello));
	ck_assert_uint_eq(hello.proto_major, 9);
	PEER_GIVES(-EPROTONOSUPPORT, peer_open_session(&peer_rig.peer, PEER_RIG_NONCE, &hello));
	PEER_GIVES(-ENOTCONN, peer_release(&peer_rig.peer, 7));
	peer_rig_close();
}
END_TEST

START_TEST(a_reset_while_polling_is_told_once)
{
	peer_rig_open(1, false);
	peer_rig_open_session();
	wire_model_restart(&peer_rig.model, true);
	PEER_GIVES(-ECONNRESET, peer_poll(&peer_rig.peer, 500));
	ck_assert_int_eq(peer_poll(&peer_rig.peer, 500), 0);
	peer_rig_close();
}
END_TEST

/* -------------------------------------------------------------- errors */

/* A frame that the target could have sent long ago. */
static void send_late(const struct message *message, uint8_t seq)
{
	uint8_t body[FRAME_BODY_MAX], wire[FRAME_WIRE_SIZE(FRAME_BODY_MAX)];
	int size = message_encode_frame(
		message, seq, PEER_RIG_NONCE, body, sizeof(body), wire, sizeof(wire));

	ck_assert_int_gt(size, 0);
	wire_line_send(&peer_rig.line, wire, (size_t)size);
}

START_TEST(a_late_answer_is_not_the_answer)
{
	struct message late = {.type = MESSAGE_ARMED, .armed = {.window = 99}};
	struct message error = {.type = MESSAGE_ERROR, .error = {.code = WIRE_ERROR_BUSY}};

	peer_rig_open(1, false);
	peer_rig_open_session();
	send_late(&late, 200);
	send_late(&error, 200);
	peer_rig_arm();
	ck_assert_uint_eq(peer_rig.peer.statistics.stray_frames, 2);
	peer_rig_close();
}
END_TEST

START_TEST(what_the_target_refuses_is_told_with_its_code)
{
	struct message_arm body = {.window = 7, .bench = 200};
	uint32_t estimate_ms;

	peer_rig_open(1, false);
	peer_rig_open_session();
	PEER_GIVES(-EREMOTEIO, peer_arm(&peer_rig.peer, &body, &estimate_ms));
	ck_assert_int_eq(peer_target_error(&peer_rig.peer)->code, WIRE_ERROR_UNKNOWN_BENCH);
	ck_assert_uint_eq(peer_target_error(&peer_rig.peer)->detail, 200);
	ck_assert_ptr_nonnull(strstr(peer_error(&peer_rig.peer), "unknown-bench"));
	ck_assert_ptr_nonnull(strstr(peer_error(&peer_rig.peer), "not here"));
	peer_rig_arm();
	body.bench = 1;
	PEER_GIVES(-EREMOTEIO, peer_arm(&peer_rig.peer, &body, &estimate_ms));
	ck_assert_int_eq(peer_target_error(&peer_rig.peer)->code, WIRE_ERROR_BUSY);
	peer_rig_close();
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

	peer_rig_open(1, false);
	peer_rig.line.is_cut = true;
	PEER_GIVES(-ETIMEDOUT, peer_open_session(&peer_rig.peer, PEER_RIG_NONCE, NULL));
	peer_rig.line.is_cut = false;
	peer_rig_open_session();
	peer_rig.line.is_cut = true;
	PEER_GIVES(-ETIMEDOUT, peer_ping(&peer_rig.peer, &exchange));
	PEER_GIVES(-ETIMEDOUT, peer_probe(&peer_rig.peer, &text, &size));
	ck_assert_ptr_null(text);
	PEER_GIVES(-ETIMEDOUT, peer_arm(&peer_rig.peer, &body, &estimate_ms));
	PEER_OK(peer_go(&peer_rig.peer, 7, 1000));
	PEER_GIVES(-ETIMEDOUT, peer_wait_done(&peer_rig.peer, 1000, &window));
	PEER_GIVES(-ETIMEDOUT, peer_release(&peer_rig.peer, 7));
	PEER_OK(peer_quit(&peer_rig.peer));
	ck_assert_uint_le(peer_rig_now_ms() - begin_ms, 200000);
	peer_rig_close();
}
END_TEST

START_TEST(garbage_for_an_answer_is_not_taken_for_silence)
{
	struct peer_exchange exchange;

	peer_rig_open(1, false);
	peer_rig_open_session();
	peer_rig.line.damage_target = 100;
	peer_rig.line.damage_target_type = MESSAGE_PONG;
	PEER_GIVES(-EBADMSG, peer_ping(&peer_rig.peer, &exchange));
	peer_rig.line.damage_target_type = MESSAGE_RELEASED;
	PEER_GIVES(-EBADMSG, peer_release(&peer_rig.peer, 7));
	peer_rig_close();
}
END_TEST

START_TEST(errors_of_the_link_are_passed_on)
{
	struct peer_exchange exchange;
	struct peer_window window;

	peer_rig_open(1, false);
	peer_rig_open_session();
	peer_rig_arm();
	peer_rig.line.write_error = -ENODEV;
	PEER_GIVES(-ENODEV, peer_ping(&peer_rig.peer, &exchange));
	PEER_GIVES(-ENODEV, peer_go(&peer_rig.peer, 7, 1000));
	peer_rig.line.write_error = 0;
	PEER_OK(peer_go(&peer_rig.peer, 7, 1000));
	peer_rig.line.read_error = -EIO;
	PEER_GIVES(-EIO, peer_wait_done(&peer_rig.peer, 1000, &window));
	PEER_GIVES(-EIO, peer_poll(&peer_rig.peer, 10));
	PEER_GIVES(-EIO, peer_wait_hello(&peer_rig.peer, 10, NULL));
	peer_rig_close();
}
END_TEST

START_TEST(after_a_crash_the_session_is_taken_up_or_known_to_be_gone)
{
	struct peer_link link;
	struct peer_window window;
	struct message_pong pong;
	struct peer_window again = {.go_us = 0};

	peer_rig_open(1, false);
	peer_rig_measure(&window);
	link = wire_line_get_link(&peer_rig.line);
	peer_init(&peer_rig.peer, &link, NULL, NULL);
	PEER_OK(peer_resume_session(&peer_rig.peer, PEER_RIG_NONCE, &pong));
	ck_assert_int_eq(pong.state, MESSAGE_STATE_DONE);
	ck_assert_mem_eq(&pong.done, &window.done, sizeof(pong.done));
	again.done = pong.done;
	peer_rig_pull_everything(&again);
	PEER_GIVES(-ESTALE, peer_resume_session(&peer_rig.peer, PEER_RIG_NONCE + 1, &pong));
	wire_model_restart(&peer_rig.model, false);
	PEER_GIVES(-ECONNRESET, peer_resume_session(&peer_rig.peer, PEER_RIG_NONCE, &pong));
	peer_rig_close();
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
	tcase_add_test(tcase, a_reset_while_polling_is_told_once);
	tcase_add_test(tcase, a_late_answer_is_not_the_answer);
	tcase_add_test(tcase, what_the_target_refuses_is_told_with_its_code);
	tcase_add_test(tcase, a_dead_target_ends_every_call_in_time);
	tcase_add_test(tcase, garbage_for_an_answer_is_not_taken_for_silence);
	tcase_add_test(tcase, errors_of_the_link_are_passed_on);
	tcase_add_test(tcase, after_a_crash_the_session_is_taken_up_or_known_to_be_gone);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
