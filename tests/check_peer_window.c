/* SPDX-License-Identifier: Apache-2.0 */
/* From GO to DONE: silence, lost frames, resets. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/peer_rig.h"

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

		peer_rig_open(1, false);
		peer_rig.line.lose_host_type = peer_rig.line.lose_target_type = types[i / 3];
		peer_rig.line.damage_target_type = types[i / 3];
		peer_rig.line.lose_host = i % 3 == 0 ? 2 : 0;
		peer_rig.line.lose_target = i % 3 == 0 ? 2 : i % 3 == 1;
		peer_rig.line.damage_target = i % 3 == 2 ? 2 : 0;
		peer_rig_open_session();
		PEER_OK(peer_probe(&peer_rig.peer, &text, &size));
		ck_assert_uint_eq(peer_rig.model.probes, 1);
		free(text);
		PEER_OK(peer_catalog(&peer_rig.peer, &text, &size));
		free(text);
		peer_rig_measure(&window);
		ck_assert_uint_eq(window.silence.bytes, 0);
		ck_assert_int_eq(window.is_resolved_by_ping, types[i / 3] == MESSAGE_DONE);
		peer_rig_pull_everything(&window);
		PEER_OK(peer_release(&peer_rig.peer, 7));
		PEER_OK(peer_quit(&peer_rig.peer));
		peer_rig_close();
	}
}
END_TEST

START_TEST(go_waits_for_a_quiet_line)
{
	struct peer_window window;
	uint64_t begin_ms;

	peer_rig_open(1, false);
	peer_rig_open_session();
	peer_rig_arm();
	wire_line_send(&peer_rig.line, (const uint8_t *)"late text\n", 10);
	begin_ms = peer_rig_now_ms();
	PEER_OK(peer_go(&peer_rig.peer, 7, 5000));
	ck_assert_uint_ge(peer_rig_now_ms() - begin_ms, 200);
	/* It was still held back, but it had come before GO. */
	ck_assert_uint_eq(peer_rig.text_size, 10);
	PEER_OK(peer_wait_done(&peer_rig.peer, 4000, &window));
	ck_assert_uint_eq(window.silence.bytes, 0);
	peer_rig.model.lie = WIRE_LIE_FLOOD;
	PEER_GIVES(-EBUSY, peer_go(&peer_rig.peer, 7, 3000));
	peer_rig_close();
}
END_TEST

START_TEST(a_lost_go_is_found_by_ping_and_sent_again)
{
	struct peer_window window;

	peer_rig_open(1, false);
	peer_rig.line.lose_host = 1;
	peer_rig.line.lose_host_type = MESSAGE_GO;
	peer_rig_open_session();
	peer_rig_arm();
	PEER_OK(peer_go(&peer_rig.peer, 7, 5000));
	PEER_GIVES(-EAGAIN, peer_wait_done(&peer_rig.peer, 4000, &window));
	PEER_OK(peer_go(&peer_rig.peer, 7, 5000));
	PEER_OK(peer_wait_done(&peer_rig.peer, 4000, &window));
	ck_assert_uint_eq(window.silence.bytes, 0);
	peer_rig_pull_everything(&window);
	peer_rig_close();
}
END_TEST

START_TEST(nothing_is_sent_before_the_deadline)
{
	struct peer_window window;
	unsigned int frames;

	peer_rig_open(1, false);
	peer_rig.model.window_ms = 60000;
	peer_rig_open_session();
	peer_rig_arm();
	PEER_OK(peer_go(&peer_rig.peer, 7, 5000));
	frames = peer_rig.line.frames_from_host;
	peer_rig.line.lose_target = 1;
	peer_rig.line.lose_target_type = MESSAGE_DONE;
	peer_rig.model.is_mute = true;
	PEER_GIVES(-ETIMEDOUT, peer_wait_done(&peer_rig.peer, 59000, &window));
	ck_assert_uint_gt(peer_rig.line.frames_from_host, frames);
	ck_assert_uint_eq(window.silence.bytes, 0);
	peer_rig_close();

	peer_rig_open(1, false);
	peer_rig.model.window_ms = 60000;
	peer_rig_open_session();
	peer_rig_arm();
	PEER_OK(peer_go(&peer_rig.peer, 7, 5000));
	frames = peer_rig.line.frames_from_host;
	PEER_OK(peer_wait_done(&peer_rig.peer, 61000, &window));
	ck_assert_uint_eq(peer_rig.line.frames_from_host, frames);
	peer_rig_close();
}
END_TEST

START_TEST(a_window_that_outlives_its_deadline_is_disturbed)
{
	struct peer_window window;

	peer_rig_open(1, false);
	peer_rig_open_session();
	peer_rig_arm();
	PEER_OK(peer_go(&peer_rig.peer, 7, 5000));
	/* The model is deaf while it runs, so the PING is lost and DONE comes later. */
	PEER_OK(peer_wait_done(&peer_rig.peer, 2900, &window));
	ck_assert(window.is_disturbed);
	ck_assert_uint_eq(window.done.window, 7);
	peer_rig_close();
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

		peer_rig_open(1, false);
		peer_rig.model.chatter = bytes;
		peer_rig.model.chatter_size = size;
		/* In the middle, and directly before DONE; DONE whole, and damaged. */
		peer_rig.model.chatter_ms = i % 2 ? 3000 : 1234;
		peer_rig.line.damage_target = i % 4 / 2;
		peer_rig.line.damage_target_type = MESSAGE_DONE;
		peer_rig_measure(&window);
		ck_assert_int_eq(window.is_resolved_by_ping, i % 4 / 2);
		ck_assert_msg(silence->bytes == size, "row %zu: %u bytes", i,
			(unsigned int)silence->bytes);
		ck_assert_uint_eq(silence->kept, size);
		ck_assert_mem_eq(silence->content, bytes, size);
		ck_assert_uint_ge(
			silence->first_us, window.go_us + peer_rig.model.chatter_ms * 1000);
		ck_assert_uint_le(
			silence->first_us, window.go_us + peer_rig.model.chatter_ms * 1000 + 10000);
		peer_rig_close();
	}
}
END_TEST

START_TEST(a_done_damaged_anywhere_breaks_no_silence)
{
	/* DONE of the model: two delimiters, a code byte, 10 + 28 bytes. */
	for (size_t at = 0; at < 41 * 2; at++) {
		static const uint8_t code_of_done = 0x08;
		struct peer_window window;

		peer_rig_open(1, false);
		peer_rig.line.damage_target = 1;
		peer_rig.line.damage_target_type = MESSAGE_DONE;
		peer_rig.line.damage_at = at / 2;
		/* The code byte becomes a 00, which makes two frames out of one. */
		peer_rig.line.damage_mask = at / 2 == 1 ? code_of_done : (uint8_t)(1 << at % 8);
		peer_rig_measure(&window);
		ck_assert_msg(window.silence.bytes == 0, "byte %zu: %u", at / 2,
			(unsigned int)window.silence.bytes);
		peer_rig_close();
	}
}
END_TEST

START_TEST(long_chatter_is_counted_whole_and_kept_in_part)
{
	static char chatter[5000];
	struct peer_window window;

	memset(chatter, 'c', sizeof(chatter));
	peer_rig_open(1, false);
	peer_rig.model.chatter = chatter;
	peer_rig.model.chatter_size = sizeof(chatter);
	peer_rig.model.chatter_ms = 1000;
	peer_rig_measure(&window);
	ck_assert_uint_eq(window.silence.bytes, sizeof(chatter));
	ck_assert_uint_eq(window.silence.kept, PEER_SILENCE_KEPT);
	ck_assert_mem_eq(window.silence.content, chatter, PEER_SILENCE_KEPT);
	ck_assert_uint_eq(peer_rig.text_size, sizeof(chatter));
	peer_rig_close();
}
END_TEST

START_TEST(a_reset_inside_a_window_is_seen_with_and_without_its_hello)
{
	for (int quietly = 0; quietly < 2; quietly++) {
		struct peer_exchange exchange;
		struct peer_window window;
		uint32_t estimate_ms;

		peer_rig_open(1, false);
		peer_rig.model.restart_ms = 1500;
		peer_rig.model.restarts_quietly = quietly;
		peer_rig_open_session();
		peer_rig_arm();
		PEER_OK(peer_go(&peer_rig.peer, 7, 5000));
		PEER_GIVES(-ECONNRESET, peer_wait_done(&peer_rig.peer, 4000, &window));
		/* And nothing works any more. */
		PEER_GIVES(-ECONNRESET, peer_ping(&peer_rig.peer, &exchange));
		PEER_GIVES(-ECONNRESET, peer_release(&peer_rig.peer, 7));
		PEER_GIVES(
			-ECONNRESET, peer_arm(&peer_rig.peer, &peer_rig.model.arm, &estimate_ms));
		PEER_GIVES(-ECONNRESET, peer_go(&peer_rig.peer, 7, 1000));
		PEER_OK(peer_open_session(&peer_rig.peer, PEER_RIG_NONCE + 1, NULL));
		PEER_OK(peer_ping(&peer_rig.peer, &exchange));
		peer_rig_close();
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("peer_window");
	TCase *tcase = tcase_create("peer_window");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, every_lost_frame_is_asked_for_again);
	tcase_add_test(tcase, go_waits_for_a_quiet_line);
	tcase_add_test(tcase, a_lost_go_is_found_by_ping_and_sent_again);
	tcase_add_test(tcase, nothing_is_sent_before_the_deadline);
	tcase_add_test(tcase, a_window_that_outlives_its_deadline_is_disturbed);
	tcase_add_test(tcase, every_byte_inside_a_window_is_kept_with_its_time);
	tcase_add_test(tcase, a_done_damaged_anywhere_breaks_no_silence);
	tcase_add_test(tcase, long_chatter_is_counted_whole_and_kept_in_part);
	tcase_add_test(tcase, a_reset_inside_a_window_is_seen_with_and_without_its_hello);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
