/* SPDX-License-Identifier: Apache-2.0 */
/* A faster line for pulls: raised, proven, given back, and what can go wrong. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/peer_rig.h"

#define CONSOLE	 115200u
#define FASTEST	 WIRE_AGENT_BASE
#define N	 150000u
#define SEED	 5u
#define IDLE_MS	 4000u /* what the host gives the target */
#define SPEED_UP 6u

static struct series_entry latency;

/* The real agent with a window that is done; its line at the console's rate. */
static void open_measured(uint32_t n)
{
	struct peer_window window;

	peer_rig_open(1, true);
	ck_assert_int_ge(peer_wait_hello(&peer_rig.peer, 1000, NULL), 0);
	peer_rig_open_session();
	peer_rig_measure_agent(n, SEED, &window);
	peer_rig_find(&window, "latency", &latency);
}

static void check_at_console_rate(void)
{
	struct peer_exchange exchange;

	ck_assert_uint_eq(peer_rig.line.host_baud, CONSOLE);
	ck_assert_uint_eq(peer_rig.line.target_baud, CONSOLE);
	ck_assert(!peer_is_raised(&peer_rig.peer));
	PEER_OK(peer_ping(&peer_rig.peer, &exchange));
}

static void pull_and_check(void)
{
	uint8_t *bytes;

	PEER_OK(peer_rig_pull(&latency, &bytes));
	peer_rig_check_values(&latency, bytes, SEED);
	free(bytes);
}

START_TEST(the_ladder_has_only_rates_that_the_uart_makes)
{
	static const uint32_t expected[] = {
		1500000, 750000, 500000, 375000, 300000, 250000, 214285, 187500};
	struct message_bauded rates = {115384, 115384, 0};
	uint32_t list[PEER_RATES_MAX];

	rates.base = 1500000;
	ck_assert_uint_eq(peer_list_rates(&rates, 4000000, list), 8);
	ck_assert_mem_eq(list, expected, sizeof(expected));
	ck_assert_uint_eq(peer_list_rates(&rates, 500000, list), 6);
	ck_assert_uint_eq(list[0], 500000);
	rates = (struct message_bauded){115200, 115200, 230400};
	ck_assert_uint_eq(peer_list_rates(&rates, 4000000, list), 1);
	rates.base = 0;
	ck_assert_uint_eq(peer_list_rates(&rates, 1000000, list), 6);
	ck_assert_uint_eq(list[0], 1000000);
	/* What no target should say. */
	rates.console = UINT32_MAX;
	ck_assert_uint_eq(peer_list_rates(&rates, UINT32_MAX, list), 0);
	rates = (struct message_bauded){1, 1, UINT32_MAX};
	ck_assert_uint_le(peer_list_rates(&rates, UINT32_MAX, list), PEER_RATES_MAX);
}
END_TEST

START_TEST(a_raised_pull_is_six_times_faster_and_the_same)
{
	struct message_bauded rates;
	uint64_t begin_ms, slow_ms, fast_ms;

	open_measured(N);
	begin_ms = peer_rig_now_ms();
	pull_and_check();
	slow_ms = peer_rig_now_ms() - begin_ms;
	begin_ms = peer_rig_now_ms();
	PEER_OK(peer_query_rates(&peer_rig.peer, &rates));
	ck_assert_uint_eq(rates.base, WIRE_AGENT_BASE);
	ck_assert_uint_eq(rates.console, CONSOLE);
	PEER_OK(peer_raise(&peer_rig.peer, FASTEST));
	ck_assert_uint_eq(peer_rig.line.host_baud, FASTEST);
	ck_assert_uint_eq(peer_rig.line.target_baud, FASTEST);
	pull_and_check();
	PEER_OK(peer_lower(&peer_rig.peer));
	fast_ms = peer_rig_now_ms() - begin_ms;
	check_at_console_rate();
	ck_assert_msg(fast_ms * SPEED_UP <= slow_ms, "%u ms raised, %u ms not",
		(unsigned int)fast_ms, (unsigned int)slow_ms);
	PEER_OK(peer_release(&peer_rig.peer, 7));
	PEER_OK(peer_lower(&peer_rig.peer));
	ck_assert_uint_eq(peer_rig.peer.statistics.retries, 0);
	ck_assert_uint_eq(peer_rig.text_size, 0);
	peer_rig_close();
}
END_TEST

START_TEST(a_rate_is_proven_by_64_kib_without_a_damaged_byte)
{
	uint64_t received;

	open_measured(10);
	PEER_GIVES(-EINVAL, peer_prove_rate(&peer_rig.peer));
	PEER_OK(peer_raise(&peer_rig.peer, FASTEST));
	received = peer_rig.peer.statistics.bytes_received;
	PEER_OK(peer_prove_rate(&peer_rig.peer));
	ck_assert_uint_ge(peer_rig.peer.statistics.bytes_received - received, 65536);
	/* One bit in four million: some 64 KiB pass, most do not. */
	peer_rig.line.drop_in = 30000;
	ck_assert_int_lt(peer_prove_rate(&peer_rig.peer), 0);
	peer_rig.line.drop_in = 0;
	PEER_OK(peer_lower(&peer_rig.peer));
	check_at_console_rate();
	peer_rig_close();
}
END_TEST

START_TEST(a_rate_that_the_adapter_cannot_do_leaves_the_line_as_it_was)
{
	for (int is_refused = 0; is_refused < 2; is_refused++) {
		open_measured(100);
		peer_rig.line.max_baud = 800000;
		peer_rig.line.is_one_rate = is_refused;
		PEER_GIVES(-ECOMM, peer_raise(&peer_rig.peer, FASTEST));
		check_at_console_rate();
		peer_rig.line.is_one_rate = false;
		PEER_OK(peer_raise(&peer_rig.peer, FASTEST / 2));
		PEER_OK(peer_prove_rate(&peer_rig.peer));
		pull_and_check();
		PEER_OK(peer_lower(&peer_rig.peer));
		check_at_console_rate();
		peer_rig_close();
	}
}
END_TEST

START_TEST(any_lost_frame_of_the_switch_is_got_over)
{
	static const uint8_t types[] = {
		MESSAGE_BAUD, MESSAGE_BAUDED, MESSAGE_PING, MESSAGE_PONG, MESSAGE_PING};

	/* On the way up, then on the way down. */
	for (size_t i = 0; i < sizeof(types) * 2; i++) {
		struct wire_line *line = &peer_rig.line;
		uint8_t type = types[i / 2];
		int err;

		open_measured(2000);
		if (i % 2)
			PEER_OK(peer_raise(&peer_rig.peer, FASTEST));
		line->lose_host_type = line->lose_target_type = type;
		line->lose_host = type == MESSAGE_BAUD || type == MESSAGE_PING;
		line->lose_target = !line->lose_host;
		if (i / 2 == sizeof(types) - 1)
			line->lose_host = 4;
		if (i % 2 == 0) {
			err = peer_raise(&peer_rig.peer, FASTEST);
			ck_assert_msg(err == 0 || err == -ECOMM, "%s: %d (%s)",
				message_type_name(type), err, peer_error(&peer_rig.peer));
			ck_assert_int_eq(peer_is_raised(&peer_rig.peer), err == 0);
			pull_and_check();
		}
		PEER_OK(peer_lower(&peer_rig.peer));
		check_at_console_rate();
		pull_and_check();
		PEER_OK(peer_release(&peer_rig.peer, 7));
		peer_rig_close();
	}
}
END_TEST

START_TEST(a_target_left_alone_goes_back_by_itself)
{
	struct message_pong pong;
	struct peer_link link;

	for (int is_garbled = 0; is_garbled < 2; is_garbled++) {
		open_measured(100);
		PEER_OK(peer_raise(&peer_rig.peer, FASTEST));
		/* The host dies; its successor has the console's rate. */
		peer_rig.line.host_baud = CONSOLE;
		link = wire_line_get_link(&peer_rig.line);
		peer_init(&peer_rig.peer, &link, NULL, NULL);
		if (is_garbled)
			PEER_GIVES(-ETIMEDOUT,
				peer_resume_session(&peer_rig.peer, PEER_RIG_NONCE, &pong));
		ck_assert_int_ge(peer_poll(&peer_rig.peer, IDLE_MS + 100), 0);
		PEER_OK(peer_resume_session(&peer_rig.peer, PEER_RIG_NONCE, &pong));
		ck_assert_uint_eq(pong.state, MESSAGE_STATE_DONE);
		check_at_console_rate();
		peer_rig_close();
	}
}
END_TEST

START_TEST(a_raised_line_stays_while_it_is_used)
{
	struct peer_exchange exchange;

	open_measured(100);
	PEER_OK(peer_raise(&peer_rig.peer, FASTEST));
	for (int i = 0; i < 10; i++) {
		ck_assert_int_eq(peer_poll(&peer_rig.peer, IDLE_MS * 3 / 4), 0);
		PEER_OK(peer_ping(&peer_rig.peer, &exchange));
	}
	ck_assert_uint_eq(peer_rig.line.target_baud, FASTEST);
	ck_assert_int_eq(peer_poll(&peer_rig.peer, IDLE_MS + 10), 0);
	ck_assert_uint_eq(peer_rig.line.target_baud, CONSOLE);
	PEER_OK(peer_lower(&peer_rig.peer));
	check_at_console_rate();
	peer_rig_close();
}
END_TEST

START_TEST(only_pulls_are_done_on_a_raised_line)
{
	struct message_arm body = {.window = 7, .bench = WIRE_AGENT_BENCH, .n = 100, .seed = SEED};
	uint32_t estimate_ms;
	size_t size;
	char *text;

	open_measured(100);
	PEER_OK(peer_raise(&peer_rig.peer, FASTEST));
	PEER_GIVES(-EALREADY, peer_raise(&peer_rig.peer, FASTEST));
	PEER_GIVES(-EREMOTEIO, peer_arm(&peer_rig.peer, &body, &estimate_ms));
	ck_assert_int_eq(peer_target_error(&peer_rig.peer)->code, WIRE_ERROR_BAD_STATE);
	PEER_GIVES(-EREMOTEIO, peer_release(&peer_rig.peer, 7));
	PEER_GIVES(-EREMOTEIO, peer_probe(&peer_rig.peer, &text, &size));
	PEER_GIVES(-EREMOTEIO, peer_quit(&peer_rig.peer));
	PEER_OK(peer_lower(&peer_rig.peer));
	PEER_OK(peer_release(&peer_rig.peer, 7));
	PEER_OK(peer_arm(&peer_rig.peer, &body, &estimate_ms));
	PEER_GIVES(-EREMOTEIO, peer_raise(&peer_rig.peer, FASTEST));
	ck_assert_int_eq(peer_target_error(&peer_rig.peer)->code, WIRE_ERROR_BAD_STATE);
	check_at_console_rate();
	peer_rig_close();
}
END_TEST

START_TEST(rates_that_cannot_be_made_are_refused_with_the_nearest)
{
	struct message_bauded rates;

	open_measured(100);
	PEER_GIVES(-EREMOTEIO, peer_raise(&peer_rig.peer, 921600));
	ck_assert_int_eq(peer_target_error(&peer_rig.peer)->code, WIRE_ERROR_BAD_RANGE);
	ck_assert_uint_eq(peer_target_error(&peer_rig.peer)->detail, 750000);
	PEER_GIVES(-EREMOTEIO, peer_raise(&peer_rig.peer, UINT32_MAX));
	check_at_console_rate();
	peer_rig_close();

	/* A target of 1.0 does not know BAUD. */
	peer_rig_open(1, false);
	peer_rig_open_session();
	PEER_GIVES(-EREMOTEIO, peer_query_rates(&peer_rig.peer, &rates));
	ck_assert_int_eq(peer_target_error(&peer_rig.peer)->code, WIRE_ERROR_UNKNOWN_TYPE);
	peer_rig.peer.link.set_baud = NULL;
	PEER_GIVES(-ENOTSUP, peer_raise(&peer_rig.peer, FASTEST));
	peer_rig_close();
}
END_TEST

START_TEST(a_pull_cut_while_raised_goes_on_at_the_consoles_rate)
{
	struct peer_transfer transfer;
	uint8_t *bytes;
	uint64_t missing;

	open_measured(N);
	bytes = calloc(1, latency.bytes);
	peer_transfer_init(&transfer, 7, latency.id, latency.bytes, latency.crc, bytes);
	PEER_OK(peer_raise(&peer_rig.peer, FASTEST));
	peer_rig.line.cut_from_ns = peer_rig.line.now_ns + 1000000000u;
	peer_rig.line.cut_until_ns = peer_rig.line.cut_from_ns + 5000000000u;
	/* The frame that was cut counts as garbage. */
	PEER_GIVES(-EBADMSG, peer_pull(&peer_rig.peer, &transfer));
	missing = transfer.missing;
	ck_assert_uint_lt(missing, latency.bytes);
	PEER_OK(peer_lower(&peer_rig.peer));
	check_at_console_rate();
	PEER_OK(peer_pull(&peer_rig.peer, &transfer));
	peer_rig_check_values(&latency, bytes, SEED);
	free(bytes);
	peer_rig_close();
}
END_TEST

START_TEST(a_reset_while_raised_is_found_by_falling_back)
{
	uint8_t *bytes;

	open_measured(N);
	PEER_OK(peer_raise(&peer_rig.peer, FASTEST));
	peer_rig.agent.reset_ns = peer_rig.line.now_ns + 1000000000u;
	ck_assert_int_lt(peer_rig_pull(&latency, &bytes), 0);
	free(bytes);
	PEER_GIVES(-ECONNRESET, peer_lower(&peer_rig.peer));
	ck_assert_uint_eq(peer_rig.agent.resets, 1);
	ck_assert_uint_eq(peer_rig.line.host_baud, CONSOLE);
	ck_assert(!peer_is_raised(&peer_rig.peer));
	peer_rig_close();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("peer_baud");
	TCase *tcase = tcase_create("peer_baud");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, the_ladder_has_only_rates_that_the_uart_makes);
	tcase_add_test(tcase, a_raised_pull_is_six_times_faster_and_the_same);
	tcase_add_test(tcase, a_rate_is_proven_by_64_kib_without_a_damaged_byte);
	tcase_add_test(tcase, a_rate_that_the_adapter_cannot_do_leaves_the_line_as_it_was);
	tcase_add_test(tcase, any_lost_frame_of_the_switch_is_got_over);
	tcase_add_test(tcase, a_target_left_alone_goes_back_by_itself);
	tcase_add_test(tcase, a_raised_line_stays_while_it_is_used);
	tcase_add_test(tcase, only_pulls_are_done_on_a_raised_line);
	tcase_add_test(tcase, rates_that_cannot_be_made_are_refused_with_the_nearest);
	tcase_add_test(tcase, a_pull_cut_while_raised_goes_on_at_the_consoles_rate);
	tcase_add_test(tcase, a_reset_while_raised_is_found_by_falling_back);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
