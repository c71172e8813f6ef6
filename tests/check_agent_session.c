/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's state machine over a scripted line: every request, repeated,
 * refused, out of order and among garbage.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/crc32c.h"
#include "protocol/series.h"
#include "tests/agent_script.h"

static const struct message quit = {.type = MESSAGE_QUIT};

START_TEST(one_hello_is_sent_unasked_and_nothing_else)
{
	const struct script_answer *hello;

	ck_assert_int_eq(script_run(), AGENT_END_CONSOLE);
	ck_assert_uint_eq(script.answer_count, 1);
	hello = script_answer(0, MESSAGE_HELLO);
	ck_assert_uint_eq(hello->seq, 0);
	ck_assert_uint_eq(hello->session, 0);
	ck_assert_uint_eq(hello->message.hello.counter_hz, 1000000000);
	ck_assert_uint_eq(hello->message.hello.state, MESSAGE_STATE_IDLE);
	ck_assert_str_eq(hello->message.hello.system, "script");
	ck_assert_uint_eq(script.text_bytes, 0);
}
END_TEST

START_TEST(nothing_is_answered_without_a_session)
{
	script_ping(1);
	script_simple(MESSAGE_PROBE);
	script_arm(1, 1, 10);
	script_go(1);
	script_simple(MESSAGE_QUIT);
	ck_assert_int_eq(script_run(), AGENT_END_CONSOLE);
	/* HELLO and four errors; GO is never answered. */
	ck_assert_uint_eq(script.answer_count, 5);
	for (size_t i = 1; i < 5; i++)
		script_expect_error(i, WIRE_ERROR_NO_SESSION, 0);
	ck_assert_uint_eq(script_answer(1, MESSAGE_ERROR)->message.error.type, MESSAGE_PING);
}
END_TEST

START_TEST(another_nonce_is_a_wrong_session)
{
	struct message ping = {.type = MESSAGE_PING};

	script_session();
	script_send_as(&ping, 9, SCRIPT_NONCE + 1);
	script_send_as(&ping, 10, 0);
	script_ping(77);
	script_run();
	ck_assert_uint_eq(script_answer(1, MESSAGE_HELLO)->session, SCRIPT_NONCE);
	script_expect_error(2, WIRE_ERROR_WRONG_SESSION, 0);
	ck_assert_uint_eq(script_answer(2, MESSAGE_ERROR)->seq, 9);
	script_expect_error(3, WIRE_ERROR_WRONG_SESSION, 0);
	ck_assert_uint_eq(script_answer(4, MESSAGE_PONG)->message.pong.cookie, 77);
	ck_assert_uint_eq(script_answer(4, MESSAGE_PONG)->seq, script.seq);
}
END_TEST

START_TEST(a_session_of_another_major_or_without_nonce_is_refused)
{
	struct message session = {.type = MESSAGE_SESSION};

	session.session.proto_major = MESSAGE_PROTO_MAJOR + 1;
	session.session.nonce = SCRIPT_NONCE;
	script_send_as(&session, 1, 0);
	session.session.proto_major = MESSAGE_PROTO_MAJOR;
	session.session.nonce = 0;
	script_send_as(&session, 2, 0);
	script_ping(1);
	script_run();
	script_expect_error(1, WIRE_ERROR_VERSION, MESSAGE_PROTO_MAJOR << 8 | MESSAGE_PROTO_MINOR);
	script_expect_error(2, WIRE_ERROR_BAD_RANGE, 0);
	script_expect_error(3, WIRE_ERROR_NO_SESSION, 0);
}
END_TEST

START_TEST(the_same_nonce_keeps_the_window_and_another_gives_it_up)
{
	struct message session = {.type = MESSAGE_SESSION};

	script_session();
	script_arm(1, 1, 10);
	script_session();
	session.session.proto_major = MESSAGE_PROTO_MAJOR;
	session.session.nonce = 5;
	script_send_as(&session, 100, 0);
	script_run();
	ck_assert_uint_eq(
		script_answer(3, MESSAGE_HELLO)->message.hello.state, MESSAGE_STATE_ARMED);
	ck_assert_uint_eq(script_answer(4, MESSAGE_HELLO)->message.hello.state, MESSAGE_STATE_IDLE);
	ck_assert_uint_eq(script_answer(4, MESSAGE_HELLO)->session, 5);
}
END_TEST

START_TEST(a_window_goes_from_arm_to_release)
{
	const struct message_done *done;
	const struct message_pong *pong;
	uint8_t index[1024];
	size_t size;

	script_session();
	script_arm(3, 1, 10);
	script_ping(1);
	script_go(3);
	script_ping(2);
	script_run();
	ck_assert_uint_eq(script_answer(2, MESSAGE_ARMED)->message.armed.window, 3);
	ck_assert_uint_ge(script_answer(2, MESSAGE_ARMED)->message.armed.estimate_ms, 12);
	pong = &script_answer(3, MESSAGE_PONG)->message.pong;
	ck_assert_uint_eq(pong->state, MESSAGE_STATE_ARMED);
	ck_assert_uint_eq(pong->done.window, 3);
	ck_assert_uint_eq(pong->done.index_size, 0);
	done = &script_answer(4, MESSAGE_DONE)->message.done;
	ck_assert_int_eq(done->status, 0);
	ck_assert_uint_gt(done->end, done->start);
	pong = &script_answer(5, MESSAGE_PONG)->message.pong;
	ck_assert_uint_eq(pong->state, MESSAGE_STATE_DONE);
	ck_assert_mem_eq(&pong->done, done, sizeof(*done));
	ck_assert_uint_eq(script.run_writes, 0);

	size = done->index_size;
	script_reset();
	script_session();
	script_arm(3, 1, 10);
	script_go(3);
	script_read(3, 0, 0, (uint32_t)size);
	script_release(3);
	script_ping(3);
	script_run();
	ck_assert_uint_eq(script_collect(3, 0, index, sizeof(index)), size);
	ck_assert_uint_eq(crc32c_update(0, index, size),
		script_answer(3, MESSAGE_DONE)->message.done.index_crc);
	ck_assert_uint_eq(script_answer(5, MESSAGE_RELEASED)->message.released.window, 3);
	ck_assert_uint_eq(script_answer(6, MESSAGE_PONG)->message.pong.state, MESSAGE_STATE_IDLE);
}
END_TEST

START_TEST(the_console_is_quiet_from_go_until_done_is_out)
{
	script_session();
	script_arm(1, 0, 10);
	script_go(1);
	script_run();
	ck_assert_uint_eq(script.begins, 1);
	ck_assert_uint_eq(script.loud_windows, 0);
	ck_assert_uint_eq(script.quiet_dones, 1);
	ck_assert(!script.is_quiet);
}
END_TEST

START_TEST(done_carries_the_seq_of_go)
{
	script_session();
	script_arm(1, 0, 10);
	script_go(1);
	script_run();
	ck_assert_uint_eq(script_answer(3, MESSAGE_DONE)->seq, script.seq);
}
END_TEST

START_TEST(arm_again_is_the_same_answer_and_runs_nothing_twice)
{
	struct message arm = {.type = MESSAGE_ARM};

	arm.arm.window = 1;
	arm.arm.n = 10;
	arm.arm.bench = 1;
	script_session();
	script_send(&arm);
	script_repeat(&arm);
	script_go(1);
	script_send(&arm);
	script_run();
	ck_assert_uint_eq(script_answer(2, MESSAGE_ARMED)->message.armed.estimate_ms,
		script_answer(3, MESSAGE_ARMED)->message.armed.estimate_ms);
	script_answer(4, MESSAGE_DONE);
	script_answer(5, MESSAGE_ARMED);
	ck_assert_uint_eq(script.begins, 1);
}
END_TEST

START_TEST(arm_of_something_else_is_busy)
{
	script_session();
	script_arm(1, 1, 10);
	script_arm(2, 1, 10);
	script_arm(1, 1, 11);
	script_go(1);
	script_arm(2, 1, 10);
	script_release(2);
	script_release(1);
	script_arm(2, 1, 10);
	script_run();
	script_expect_error(3, WIRE_ERROR_BUSY, 1);
	script_expect_error(4, WIRE_ERROR_BUSY, 1);
	script_answer(5, MESSAGE_DONE);
	script_expect_error(6, WIRE_ERROR_BUSY, 1);
	script_expect_error(7, WIRE_ERROR_BUSY, 1);
	script_answer(8, MESSAGE_RELEASED);
	ck_assert_uint_eq(script_answer(9, MESSAGE_ARMED)->message.armed.window, 2);
}
END_TEST

START_TEST(go_is_ignored_unless_that_window_is_armed)
{
	script_session();
	script_go(1);
	script_arm(1, 0, 10);
	script_go(2);
	script_go(1);
	script_go(1);
	script_run();
	/* HELLO, HELLO, ARMED, DONE. */
	ck_assert_uint_eq(script.answer_count, 4);
	ck_assert_uint_eq(script_answer(3, MESSAGE_DONE)->message.done.window, 1);
	ck_assert_uint_eq(script.begins, 1);
}
END_TEST

START_TEST(release_twice_is_released_twice)
{
	script_session();
	script_release(4);
	script_arm(1, 0, 10);
	script_release(1);
	script_release(1);
	script_run();
	ck_assert_uint_eq(script_answer(2, MESSAGE_RELEASED)->message.released.window, 4);
	script_answer(4, MESSAGE_RELEASED);
	script_answer(5, MESSAGE_RELEASED);
}
END_TEST

START_TEST(arm_checks_all_that_can_be_checked)
{
	struct message arm = {.type = MESSAGE_ARM};
	size_t at = 2;

	script_session();
	script_arm(0, 1, 10);
	script_arm(1, 77, 10);
	script_arm(1, 11, 10);
	script_arm(1, 1, 0);
	arm.arm = (struct message_arm){.window = 1, .bench = 1, .n = 1, .flags = 0x82};
	script_send(&arm);
	arm.arm = (struct message_arm){.window = 1, .bench = 1, .n = 1, .load = 11};
	script_send(&arm);
	arm.arm = (struct message_arm){.window = 1, .bench = 1, .n = 1, .load = 1};
	script_send(&arm);
	arm.arm = (struct message_arm){.window = 1, .bench = 1, .n = 1, .period_us = 4000000000};
	script_send(&arm);
	script_ping(1);
	script_run();
	script_expect_error(at++, WIRE_ERROR_BAD_RANGE, 0);
	script_expect_error(at++, WIRE_ERROR_UNKNOWN_BENCH, 77);
	script_expect_error(at, WIRE_ERROR_UNSUPPORTED, 11);
	ck_assert_str_eq(script_answer(at++, MESSAGE_ERROR)->message.error.text, "no threads");
	script_expect_error(at++, WIRE_ERROR_BAD_RANGE, 0);
	script_expect_error(at++, WIRE_ERROR_BAD_RANGE, 0x82);
	script_expect_error(at++, WIRE_ERROR_BAD_RANGE, 11);
	script_expect_error(at++, WIRE_ERROR_UNSUPPORTED, 1);
	script_expect_error(at++, WIRE_ERROR_BAD_RANGE, 4000000000);
	ck_assert_uint_eq(script_answer(at, MESSAGE_PONG)->message.pong.state, MESSAGE_STATE_IDLE);
}
END_TEST

START_TEST(arm_of_too_many_samples_names_the_largest_number)
{
	uint32_t fits;

	script_session();
	script_arm(1, 1, 100000000);
	script_run();
	fits = script_answer(2, MESSAGE_ERROR)->message.error.detail;
	ck_assert_int_eq(script_answer(2, MESSAGE_ERROR)->message.error.code, WIRE_ERROR_NO_MEMORY);
	ck_assert_uint_gt(fits, 100000);

	script_reset();
	script_session();
	script_arm(1, 1, fits + 1);
	script_arm(1, 1, fits);
	script_run();
	script_expect_error(2, WIRE_ERROR_NO_MEMORY, fits);
	script_answer(3, MESSAGE_ARMED);
}
END_TEST

START_TEST(a_bench_that_fails_is_done_with_its_reason)
{
	uint8_t text[4096] = {0};
	size_t size;

	script_session();
	script_arm(1, 60, 1);
	script_go(1);
	script_read(1, 3, 0, 60);
	script_run();
	ck_assert_int_eq(script_answer(3, MESSAGE_DONE)->message.done.status, WIRE_ERROR_FAILED);
	size = script_collect(1, 3, text, sizeof(text) - 1);
	ck_assert_uint_eq(size, 60);

	script_reset();
	script_session();
	script_arm(1, 60, 1);
	script_go(1);
	script_read(1, 3, 100, 50);
	script_run();
	script_collect(1, 3, text, sizeof(text) - 1);
	ck_assert_ptr_nonnull(strstr((char *)text + 100, "failure=broken on"));
}
END_TEST

START_TEST(facts_are_made_once_for_one_seq_and_anew_for_another)
{
	struct message probe = {.type = MESSAGE_PROBE};

	script_session();
	script_send(&probe);
	script_repeat(&probe);
	script_send(&probe);
	script_run();
	ck_assert_uint_eq(script_answer(2, MESSAGE_PROBED)->message.probed.crc,
		script_answer(3, MESSAGE_PROBED)->message.probed.crc);
	ck_assert_uint_ne(script_answer(2, MESSAGE_PROBED)->message.probed.crc,
		script_answer(4, MESSAGE_PROBED)->message.probed.crc);
	ck_assert_uint_eq(script.probes, 2);
}
END_TEST

START_TEST(the_catalogue_has_a_line_for_each_row_and_the_reason)
{
	char text[4096] = {0};
	uint32_t size;

	script_session();
	script_simple(MESSAGE_CATALOG);
	script_run();
	size = script_answer(2, MESSAGE_CATALOGED)->message.cataloged.bytes;
	script_reset();
	script_session();
	script_simple(MESSAGE_CATALOG);
	script_read(0, 2, 0, size);
	script_run();
	ck_assert_uint_eq(script_collect(0, 2, (uint8_t *)text, sizeof(text) - 1), size);
	ck_assert_uint_eq(crc32c_update(0, text, size),
		script_answer(2, MESSAGE_CATALOGED)->message.cataloged.crc);
	ck_assert_int_eq(strncmp(text, "0 floor supported\n", 18), 0);
	ck_assert_ptr_nonnull(strstr(text, "\n11 mutex.pair unsupported no threads\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n60 failing supported\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n99 reference supported\n"));
}
END_TEST

static const struct {
	struct message_read read;
	int code;
	uint32_t detail;
} bad_reads[] = {
	{{0, 1, 0, 10}, WIRE_ERROR_BAD_STATE, MESSAGE_STATE_DONE}, /* no PROBE yet */
	{{0, 2, 0, 10}, WIRE_ERROR_BAD_STATE, MESSAGE_STATE_DONE},
	{{0, 4, 0, 10}, WIRE_ERROR_BAD_RANGE, 4},
	{{0, 3, 65530, 10}, WIRE_ERROR_BAD_RANGE, 65530},
	{{2, 1, 0, 10}, WIRE_ERROR_BAD_RANGE, 2},
	{{1, 9, 0, 10}, WIRE_ERROR_BAD_RANGE, 9},
	{{1, 1, 0, 0}, WIRE_ERROR_BAD_RANGE, 0},
	{{1, 1, 0, 65537}, WIRE_ERROR_BAD_RANGE, 65537},
	{{1, 1, 0, 4001}, WIRE_ERROR_BAD_RANGE, 0},
	{{1, 1, 4000, 1}, WIRE_ERROR_BAD_RANGE, 4000},
	{{1, 1, 4001, 1}, WIRE_ERROR_BAD_RANGE, 4001},
	{{1, 1, 0xffffffff, 2}, WIRE_ERROR_BAD_RANGE, 0xffffffff},
	{{1, 0, 1000, 10}, WIRE_ERROR_BAD_RANGE, 1000},
};

START_TEST(a_read_outside_is_refused)
{
	const struct message_read *read = &bad_reads[_i].read;

	script_session();
	script_arm(1, 0, 10);
	script_go(1);
	script_read(read->window, read->series, read->offset, read->length);
	script_run();
	script_expect_error(4, bad_reads[_i].code, bad_reads[_i].detail);
}
END_TEST

START_TEST(a_read_before_the_window_is_done_is_refused)
{
	script_session();
	script_read(1, 1, 0, 10);
	script_arm(1, 0, 10);
	script_read(1, 1, 0, 10);
	script_run();
	script_expect_error(2, WIRE_ERROR_BAD_STATE, MESSAGE_STATE_IDLE);
	script_expect_error(4, WIRE_ERROR_BAD_STATE, MESSAGE_STATE_ARMED);
}
END_TEST

START_TEST(a_read_is_a_train_that_covers_exactly_the_range)
{
	uint32_t offset = 7;
	uint32_t length = 3000;

	script_session();
	script_arm(1, 0, 10);
	script_go(1);
	script_read(1, 1, offset, length);
	script_run();
	for (size_t i = 4; i < script.answer_count; i++) {
		const struct message_data *data = &script_answer(i, MESSAGE_DATA)->message.data;

		ck_assert_uint_eq(data->offset, offset);
		ck_assert_uint_le(data->size, length);
		ck_assert_uint_eq(script.answers[i].seq, script.seq);
		offset += data->size;
		length -= data->size;
	}
	ck_assert_uint_eq(length, 0);
}
END_TEST

START_TEST(a_request_inside_a_train_ends_it_and_is_answered)
{
	script_session();
	script_arm(1, 0, 10);
	script_go(1);
	script_read(1, 1, 0, 4000);
	script_ping(42);
	script_hurry();
	script_run();
	ck_assert_uint_eq(script.answer_count, 6);
	script_answer(4, MESSAGE_DATA);
	ck_assert_uint_eq(script_answer(5, MESSAGE_PONG)->message.pong.cookie, 42);
}
END_TEST

START_TEST(garbage_between_frames_does_no_harm)
{
	static const char shell[] = "root@board:~# \r\n[    1.000000] printk: cut";
	static const uint8_t noise[] = {0, 3, 1, 2, 0, 0, 0xff, 0x80, 0, 5, 0};
	uint8_t flood[700];

	memset(flood, 'x', sizeof(flood));
	script_send_bytes(shell, sizeof(shell) - 1);
	script_session();
	script_send_bytes(noise, sizeof(noise));
	script_ping(1);
	script_send_bytes(flood, sizeof(flood));
	script_ping(2);
	script_run();
	ck_assert_uint_eq(script.answer_count, 4);
	script_answer(1, MESSAGE_HELLO);
	ck_assert_uint_eq(script_answer(2, MESSAGE_PONG)->message.pong.cookie, 1);
	ck_assert_uint_eq(script_answer(3, MESSAGE_PONG)->message.pong.cookie, 2);
}
END_TEST

START_TEST(frames_may_come_byte_by_byte)
{
	uint8_t bytes[512];
	size_t size;

	script_session();
	script_ping(6);
	size = script.host_size;
	memcpy(bytes, script.host, size);
	script_reset();
	for (size_t i = 0; i < size; i++)
		script_send_bytes(bytes + i, 1);
	script_run();
	ck_assert_uint_eq(script.answer_count, 3);
	ck_assert_uint_eq(script_answer(2, MESSAGE_PONG)->message.pong.cookie, 6);
}
END_TEST

START_TEST(the_agents_own_frames_echoed_are_no_requests)
{
	struct message hello = {.type = MESSAGE_HELLO};

	script_session();
	script_send(&hello);
	script_run();
	ck_assert_uint_eq(script.answer_count, 2);
}
END_TEST

START_TEST(unknown_and_short_messages_are_named)
{
	const struct frame unknown = {.type = 0x7f, .seq = 8, .session = SCRIPT_NONCE};
	const struct frame cut = {.type = MESSAGE_PING,
		.seq = 9,
		.session = SCRIPT_NONCE,
		.body = (const uint8_t *)"abc",
		.size = 3};
	uint8_t wire[FRAME_HOST_WIRE_MAX];

	script_session();
	script_send_bytes(wire, (size_t)frame_encode(&unknown, wire, sizeof(wire)));
	script_send_bytes(wire, (size_t)frame_encode(&cut, wire, sizeof(wire)));
	script_run();
	script_expect_error(2, WIRE_ERROR_UNKNOWN_TYPE, 0);
	script_expect_error(3, WIRE_ERROR_BAD_MESSAGE, 0);
	ck_assert_uint_eq(script_answer(3, MESSAGE_ERROR)->seq, 9);
}
END_TEST

START_TEST(quit_says_bye_and_ends)
{
	script_session();
	script_send(&quit);
	script_ping(1);
	ck_assert_int_eq(script_run(), AGENT_END_QUIT);
	ck_assert_uint_eq(script.answer_count, 3);
	script_answer(2, MESSAGE_BYE);
}
END_TEST

static int read_nothing(
	struct agent_port *port, uint8_t *data, size_t capacity, uint32_t timeout_ms)
{
	(void)port;
	(void)data;
	(void)capacity;
	(void)timeout_ms;
	return 0;
}

START_TEST(a_dead_line_gives_the_console_back)
{
	struct agent_port_ops ops = *script.port.ops;

	ops.console_read = read_nothing;
	script.port.ops = &ops;
	script.port.counter_rate_hz = 1000;
	script.port.silence_limit_s = 600;
	ck_assert_int_eq(script_run(), AGENT_END_SILENT);
}
END_TEST

static int read_garbage(
	struct agent_port *port, uint8_t *data, size_t capacity, uint32_t timeout_ms)
{
	(void)port;
	(void)timeout_ms;
	memset(data, 'x', capacity);
	return (int)capacity;
}

START_TEST(typing_does_not_keep_a_dead_line_alive)
{
	struct agent_port_ops ops = *script.port.ops;

	ops.console_read = read_garbage;
	script.port.ops = &ops;
	script.port.counter_rate_hz = 1000;
	script.port.silence_limit_s = 600;
	ck_assert_int_eq(script_run(), AGENT_END_SILENT);
}
END_TEST

START_TEST(an_arena_too_small_or_a_clock_without_rate_is_refused)
{
	script.port.arena_size = AGENT_ARENA_MIN - 1;
	ck_assert_int_eq(script_run(), AGENT_END_ARENA);
	script_reset();
	script.port.counter_rate_hz = 0;
	ck_assert_int_eq(script_run(), AGENT_END_ARENA);
	script_reset();
	script.port.arena_size = AGENT_ARENA_MIN;
	ck_assert_int_eq(script_run(), AGENT_END_CONSOLE);
	ck_assert_uint_eq(script.answer_count, 1);
}
END_TEST

START_TEST(a_second_start_remembers_nothing)
{
	script_session();
	script_arm(1, 0, 10);
	script_run();
	script.chunk_count = 0;
	script.chunk_at = 0;
	script.answer_count = 0;
	script_ping(1);
	script_run();
	ck_assert_uint_eq(script_answer(0, MESSAGE_HELLO)->session, 0);
	script_expect_error(1, WIRE_ERROR_NO_SESSION, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent_session");
	TCase *tcase = tcase_create("session");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tcase, script_reset, NULL);
	tcase_add_test(tcase, one_hello_is_sent_unasked_and_nothing_else);
	tcase_add_test(tcase, nothing_is_answered_without_a_session);
	tcase_add_test(tcase, another_nonce_is_a_wrong_session);
	tcase_add_test(tcase, a_session_of_another_major_or_without_nonce_is_refused);
	tcase_add_test(tcase, the_same_nonce_keeps_the_window_and_another_gives_it_up);
	tcase_add_test(tcase, a_window_goes_from_arm_to_release);
	tcase_add_test(tcase, the_console_is_quiet_from_go_until_done_is_out);
	tcase_add_test(tcase, done_carries_the_seq_of_go);
	tcase_add_test(tcase, arm_again_is_the_same_answer_and_runs_nothing_twice);
	tcase_add_test(tcase, arm_of_something_else_is_busy);
	tcase_add_test(tcase, go_is_ignored_unless_that_window_is_armed);
	tcase_add_test(tcase, release_twice_is_released_twice);
	tcase_add_test(tcase, arm_checks_all_that_can_be_checked);
	tcase_add_test(tcase, arm_of_too_many_samples_names_the_largest_number);
	tcase_add_test(tcase, a_bench_that_fails_is_done_with_its_reason);
	tcase_add_test(tcase, facts_are_made_once_for_one_seq_and_anew_for_another);
	tcase_add_test(tcase, the_catalogue_has_a_line_for_each_row_and_the_reason);
	tcase_add_loop_test(tcase, a_read_outside_is_refused, 0,
		(int)(sizeof(bad_reads) / sizeof(bad_reads[0])));
	tcase_add_test(tcase, a_read_before_the_window_is_done_is_refused);
	tcase_add_test(tcase, a_read_is_a_train_that_covers_exactly_the_range);
	tcase_add_test(tcase, a_request_inside_a_train_ends_it_and_is_answered);
	tcase_add_test(tcase, garbage_between_frames_does_no_harm);
	tcase_add_test(tcase, frames_may_come_byte_by_byte);
	tcase_add_test(tcase, the_agents_own_frames_echoed_are_no_requests);
	tcase_add_test(tcase, unknown_and_short_messages_are_named);
	tcase_add_test(tcase, quit_says_bye_and_ends);
	tcase_add_test(tcase, a_dead_line_gives_the_console_back);
	tcase_add_test(tcase, typing_does_not_keep_a_dead_line_alive);
	tcase_add_test(tcase, an_arena_too_small_or_a_clock_without_rate_is_refused);
	tcase_add_test(tcase, a_second_start_remembers_nothing);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
