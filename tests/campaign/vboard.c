/* SPDX-License-Identifier: Apache-2.0 */
/*
 * campaign-vboard: pulls from the bare-metal agent on the virtual panel, in real
 * time, over lines that flip, lose, break or are raised; the test pattern tells
 * what should have come.  Then 1 MiB raised to 1.5 Mbaud against 115200.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "boardctl/monotonic.h"
#include "boardctl/tty.h"
#include "harness/peer.h"
#include "protocol/crc32c.h"
#include "tests/vboard_rig.h"
#include "tests/vectors.h"

#define IMAGE	"build/images/baremetal.img"
#define NONCE	0x5eedu
#define RAISED	1500000u
#define CONSOLE 115200u
#define PULLS	50

static const struct {
	const char *faults;
	bool is_raised;
	bool may_fail; /* with an error, never with other data */
	int pulls;
} lines[] = {
	{NULL, false, false, 4},
	{"noise=1e-5@frame,drop=1e-4@frame", false, false, 10},
	{"noise=1e-4@frame", false, false, 8},
	{"noise=3e-4@frame,drop=3e-4@frame", false, false, 6},
	{NULL, true, false, 6},
	{"noise=2e-5@frame", true, false, 8},
	{"reset-after=15", false, true, 4},
	{"cut=uart@15", false, true, 4},
};

#define LINES (sizeof(lines) / sizeof(lines[0]))

struct board {
	struct rig rig;
	struct peer peer;
};

static struct board board;

/* ---------------------------------------------------------------- the board */

static ssize_t link_read(void *context, uint8_t *bytes, size_t capacity, int timeout_ms)
{
	(void)context;
	return tty_read(board.rig.uart_fd, bytes, capacity, (unsigned)timeout_ms);
}

static int link_write(void *context, const uint8_t *bytes, size_t size)
{
	uint64_t start_us = monotonic_get_us();
	struct peer *peer = &board.peer;
	int rc = tty_write(board.rig.uart_fd, bytes, size, peer->config.baud);

	(void)context;
	monotonic_sleep_until_us(start_us + size * 10 * 1000000 / peer->config.baud + 1);
	return rc;
}

static uint64_t link_now_us(void *context)
{
	(void)context;
	return monotonic_get_us();
}

static int link_set_baud(void *context, uint32_t baud)
{
	(void)context;
	return tty_set_baud(board.rig.uart_fd, baud);
}

static void insert_card(void)
{
	int from = open(IMAGE, O_RDONLY | O_CLOEXEC);
	int to = open(board.rig.card, O_WRONLY | O_CLOEXEC);

	ck_assert_msg(from >= 0 && to >= 0, "%s: %s", IMAGE, strerror(errno));
	while (sendfile(to, from, NULL, 1 << 20) > 0)
		;
	close(from);
	close(to);
}

static void start_board(const char *faults, uint64_t seed)
{
	const struct peer_link link = {.read = link_read,
		.write = link_write,
		.now_us = link_now_us,
		.set_baud = link_set_baud};
	static const char boot[] = "booti ${kernel_addr_r} - ${fdtcontroladdr}\r";
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)seed);
	rig_start_clocked(&board.rig, faults, text, "24000000");
	insert_card();
	rig_boot(&board.rig);
	rig_command(&board.rig, "load mmc 0:1 ${kernel_addr_r} /baremetal.bin");
	peer_init(&board.peer, &link, NULL, NULL);
	rig_write(board.rig.uart_fd, boot, sizeof(boot) - 1);
	ck_assert_msg(
		peer_wait_hello(&board.peer, 20000, NULL) >= 0, "%s", peer_error(&board.peer));
	ck_assert_msg(
		peer_open_session(&board.peer, NONCE, NULL) == 0, "%s", peer_error(&board.peer));
}

static void stop_board(void)
{
	rig_set_power(&board.rig, false);
	rig_stop(&board.rig);
}

/* ---------------------------------------------------------------- pulls */

/* The first size bytes of the pattern: 0 or an error; what came must be right. */
static int pull_pattern(uint32_t size)
{
	uint8_t *bytes = calloc(2, size);
	struct peer_transfer transfer;
	int rc;

	for (uint32_t at = 0; at < size; at++)
		bytes[size + at] = series_pattern_byte(at);
	peer_transfer_init(&transfer, SERIES_WINDOW_FACTS, SERIES_ID_PATTERN, size,
		crc32c_update(0, bytes + size, size), bytes);
	rc = peer_pull(&board.peer, &transfer);
	if (rc == -ETIMEDOUT || rc == -EBADMSG) {
		rc = peer_lower(&board.peer);
		if (rc == 0)
			rc = peer_pull(&board.peer, &transfer);
	}
	if (rc == 0)
		ck_assert_mem_eq(bytes, bytes + size, size);
	free(bytes);
	return rc;
}

static int pull_once(bool is_raised, uint32_t size)
{
	int rc = is_raised ? peer_raise(&board.peer, RAISED) : 0;

	if (rc == 0 || rc == -ECOMM)
		rc = pull_pattern(size);
	return rc == 0 ? peer_lower(&board.peer) : rc;
}

START_TEST(a_bad_line_gives_the_same_bytes_or_an_error)
{
	uint64_t random = (uint64_t)_i + 1, begin_us;
	int whole = 0, failed = 0;

	start_board(lines[_i].faults, random);
	begin_us = monotonic_get_us();
	for (int i = 0; i < lines[_i].pulls; i++) {
		uint32_t size = 2048 + vectors_random(&random) % 30000;
		int rc = pull_once(lines[_i].is_raised, size);

		whole += rc == 0;
		failed += rc != 0;
		ck_assert_msg(rc == 0 || lines[_i].may_fail, "%s: %d, %s",
			lines[_i].faults ? lines[_i].faults : "no faults", rc,
			peer_error(&board.peer));
		/* So that the fault comes into it. */
		if (lines[_i].may_fail && rc == 0 && i + 1 < lines[_i].pulls)
			peer_poll(&board.peer, 3000);
	}
	fprintf(stderr, "%-34s %s %2d whole, %d failed, %u retries, %.1f s%s%s\n",
		lines[_i].faults ? lines[_i].faults : "no faults",
		lines[_i].is_raised ? "raised" : "      ", whole, failed,
		board.peer.statistics.retries, (double)(monotonic_get_us() - begin_us) / 1e6,
		failed ? ": " : "", failed ? peer_error(&board.peer) : "");
	stop_board();
}
END_TEST

static double time_pulls(int count)
{
	uint64_t begin_us = monotonic_get_us();

	for (int i = 0; i < count; i++)
		ck_assert_int_eq(pull_pattern(SERIES_PATTERN_SIZE), 0);
	return (double)(monotonic_get_us() - begin_us) / 1e6;
}

START_TEST(a_raised_mebibyte_is_six_times_faster)
{
	struct message_bauded rates;
	double slow_s, fast_s, proof_s;
	uint64_t begin_us;

	start_board(NULL, 1);
	slow_s = time_pulls(4) * 4;
	begin_us = monotonic_get_us();
	ck_assert_int_eq(peer_query_rates(&board.peer, &rates), 0);
	ck_assert_msg(peer_raise(&board.peer, RAISED) == 0, "%s", peer_error(&board.peer));
	time_pulls(16);
	ck_assert_int_eq(peer_lower(&board.peer), 0);
	fast_s = (double)(monotonic_get_us() - begin_us) / 1e6;
	begin_us = monotonic_get_us();
	ck_assert_int_eq(peer_raise(&board.peer, RAISED), 0);
	ck_assert_msg(peer_prove_rate(&board.peer) == 0, "%s", peer_error(&board.peer));
	ck_assert_int_eq(peer_lower(&board.peer), 0);
	proof_s = (double)(monotonic_get_us() - begin_us) / 1e6;
	fprintf(stderr,
		"1 MiB: %.1f s at %u (from 256 KiB), %.1f s raised to %u with switching: %.1f x; "
		"proof of the rate %.1f s, once\n",
		slow_s, CONSOLE, fast_s, RAISED, slow_s / fast_s, proof_s);
	ck_assert_double_ge(slow_s / fast_s, 6);
	ck_assert_uint_eq(board.peer.statistics.retries, 0);
	stop_board();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("campaign_vboard");
	TCase *tcase = tcase_create("lines");
	TCase *speed = tcase_create("speed");
	SRunner *runner = srunner_create(suite);
	int failed, pulls = 0;

	for (size_t i = 0; i < LINES; i++)
		pulls += lines[i].pulls;
	if (pulls != PULLS)
		fprintf(stderr, "%d pulls, not %d\n", pulls, PULLS);
	tcase_set_timeout(tcase, 600);
	tcase_add_loop_test(tcase, a_bad_line_gives_the_same_bytes_or_an_error, 0, (int)LINES);
	tcase_set_timeout(speed, 600);
	tcase_add_test(speed, a_raised_mebibyte_is_six_times_faster);
	suite_add_tcase(suite, tcase);
	suite_add_tcase(suite, speed);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
