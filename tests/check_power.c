/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <termios.h>
#include <unistd.h>

#include "boardctl/monotonic.h"
#include "boardctl/power.h"

/* A two-channel LCUS relay on a pty, with the ways in which one goes wrong. */
enum relay_fault {
	RELAY_HEALTHY,
	RELAY_SILENT,	   /* a single-channel one */
	RELAY_HALF_ANSWER, /* pulled, or another device */
	RELAY_GARBAGE,	   /* another device */
	RELAY_STUCK,	   /* the contact does not move */
	RELAY_IN_PIECES,   /* a byte at a time */
};

struct relay {
	int master_fd, slave_fd, stop_fd;
	char path[64];
	enum relay_fault fault;
	pthread_t thread;
	_Atomic bool is_on[3]; /* by channel */
	unsigned char frames[64];
	_Atomic size_t frames_size;
	uint64_t times_us[16]; /* of each frame */
	_Atomic size_t frame_count;
	_Atomic unsigned queries;
};

static struct relay relay;

static void relay_say(const char *text)
{
	size_t size = strlen(text), piece = relay.fault == RELAY_IN_PIECES ? 1 : size;

	for (size_t at = 0; at < size; at += piece)
		if (write(relay.master_fd, text + at, piece) < 0)
			return;
}

static void relay_answer(void)
{
	relay.queries++;
	switch (relay.fault) {
	case RELAY_SILENT:
		break;
	case RELAY_HALF_ANSWER:
		relay_say("CH1:O");
		break;
	case RELAY_GARBAGE:
		relay_say("\x1b[2JU-Boot> ");
		break;
	case RELAY_HEALTHY:
	case RELAY_STUCK:
	case RELAY_IN_PIECES:
	default:
		relay_say(relay.is_on[1] ? "CH1:ON \r\n" : "CH1:OFF \r\n");
		relay_say(relay.is_on[2] ? "CH2:ON \r\n" : "CH2:OFF \r\n");
		break;
	}
}

static void relay_take(unsigned char byte)
{
	static unsigned char frame[4];
	static size_t have;

	if (!have && byte == 0xff) {
		relay_answer();
		return;
	}
	frame[have++] = byte;
	if (have < sizeof(frame))
		return;
	have = 0;
	memcpy(relay.frames + relay.frames_size, frame, sizeof(frame));
	relay.frames_size += sizeof(frame);
	relay.times_us[relay.frame_count++] = monotonic_get_us();
	if (relay.fault != RELAY_STUCK && frame[1] < 3)
		relay.is_on[frame[1]] = frame[2];
}

static void *relay_run(void *unused)
{
	struct pollfd entries[] = {
		{.fd = relay.master_fd, .events = POLLIN},
		{.fd = relay.stop_fd, .events = POLLIN},
	};

	(void)unused;
	/* What was sent before the stop still counts. */
	while (poll(entries, 2, -1) > 0) {
		unsigned char bytes[64];
		ssize_t got;

		if (!entries[0].revents)
			break;
		got = read(relay.master_fd, bytes, sizeof(bytes));
		for (ssize_t i = 0; i < got; i++)
			relay_take(bytes[i]);
	}
	return NULL;
}

static void relay_start(enum relay_fault fault)
{
	relay = (struct relay){.is_on = {false}};
	relay.fault = fault;
	relay.master_fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	relay.stop_fd = eventfd(0, EFD_CLOEXEC);
	ck_assert_int_ge(relay.master_fd, 0);
	ck_assert_int_ge(relay.stop_fd, 0);
	ck_assert_int_eq(grantpt(relay.master_fd) || unlockpt(relay.master_fd), 0);
	ck_assert_int_eq(ptsname_r(relay.master_fd, relay.path, sizeof(relay.path)), 0);
}

/* A slave is held open, for a master without one only hangs up. */
static void relay_wake(void)
{
	struct termios term;

	relay.slave_fd = open(relay.path, O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_ge(relay.slave_fd, 0);
	ck_assert_int_eq(tcgetattr(relay.slave_fd, &term), 0);
	cfmakeraw(&term);
	ck_assert_int_eq(tcsetattr(relay.slave_fd, TCSANOW, &term), 0);
	ck_assert_int_eq(pthread_create(&relay.thread, NULL, relay_run, NULL), 0);
}

static void relay_stop(void)
{
	const uint64_t one = 1;

	ck_assert_int_eq(write(relay.stop_fd, &one, sizeof(one)), sizeof(one));
	pthread_join(relay.thread, NULL);
	close(relay.slave_fd);
	close(relay.master_fd);
	close(relay.stop_fd);
}

static struct power *open_power(enum relay_fault fault, bool silent, unsigned off_ms, int expected)
{
	const struct power_config config = {
		.driver = "lcus",
		.port = {.driver = "pty", .path = relay.path},
		.off_ms = off_ms,
		.answer_ms = expected ? 100 : 5000,
		.silent = silent,
	};
	struct power *power;
	int ret;

	relay_start(fault);
	relay_wake();
	ret = power_open(&power, &config);
	ck_assert_msg(ret == expected, "%d: %s", ret, power_error(power));
	return power;
}

START_TEST(the_bytes_are_those_of_the_relay)
{
	static const unsigned char expected[] = {0xa0, 1, 1, 0xa2, 0xa0, 1, 0, 0xa1};
	struct power *power = open_power(RELAY_HEALTHY, false, 1, 0);
	struct termios term;
	bool on = false;

	ck_assert_uint_eq(relay.queries, 1);
	ck_assert_uint_eq(relay.frames_size, 0);
	ck_assert_int_eq(tcgetattr(relay.master_fd, &term), 0);
	ck_assert_uint_eq(cfgetospeed(&term), B9600);
	ck_assert_int_eq(power_set(power, true), 0);
	ck_assert_int_eq(power_get(power, &on), 0);
	ck_assert(on && relay.is_on[1]);
	ck_assert_int_eq(power_set(power, false), 0);
	ck_assert_int_eq(power_get(power, &on), 0);
	ck_assert(!on && !relay.is_on[1]);
	power_close(power);
	relay_stop();
	ck_assert_uint_eq(relay.frames_size, sizeof(expected));
	ck_assert_mem_eq(relay.frames, expected, sizeof(expected));
}
END_TEST

START_TEST(the_second_channel_has_its_own_bytes_and_state)
{
	static const unsigned char expected[] = {0xa0, 2, 1, 0xa3};
	struct power_config config = {
		.driver = "lcus",
		.port = {.driver = "pty", .path = relay.path},
		.channel = 2,
		.answer_ms = 5000,
	};
	struct power *power;
	bool on = false;

	relay_start(RELAY_HEALTHY);
	relay_wake();
	ck_assert_int_eq(power_open(&power, &config), 0);
	ck_assert_int_eq(power_set(power, true), 0);
	ck_assert_int_eq(power_get(power, &on), 0);
	ck_assert(on && !relay.is_on[1] && relay.is_on[2]);
	power_close(power);
	relay_stop();
	ck_assert_mem_eq(relay.frames, expected, sizeof(expected));
}
END_TEST

START_TEST(closing_leaves_the_contact_as_it_is)
{
	struct power *power = open_power(RELAY_HEALTHY, false, 1, 0);

	ck_assert_int_eq(power_set(power, true), 0);
	power_close(power);
	relay_stop();
	ck_assert(relay.is_on[1]);
	ck_assert_uint_eq(relay.frame_count, 1);
	power_close(NULL);
}
END_TEST

START_TEST(an_answer_in_pieces_is_an_answer)
{
	struct power *power = open_power(RELAY_IN_PIECES, false, 1, 0);
	bool on = false;

	ck_assert_int_eq(power_set(power, true), 0);
	ck_assert_int_eq(power_get(power, &on), 0);
	ck_assert(on);
	power_close(power);
	relay_stop();
}
END_TEST

START_TEST(no_answer_says_what_to_check)
{
	struct power *power = open_power(RELAY_SILENT, false, 1, -ETIMEDOUT);

	ck_assert_ptr_nonnull(strstr(power_error(power), relay.path));
	ck_assert_ptr_nonnull(strstr(power_error(power), "no answer"));
	ck_assert_ptr_nonnull(strstr(power_error(power), "check that"));
	ck_assert_uint_eq(relay.frame_count, 0);
	power_close(power);
	relay_stop();
}
END_TEST

START_TEST(a_relay_known_to_be_silent_is_commanded_unasked)
{
	struct power *power = open_power(RELAY_SILENT, true, 1, 0);
	bool on = false;

	ck_assert_int_eq(power_set(power, true), 0);
	ck_assert_int_eq(power_get(power, &on), -ENOTSUP);
	ck_assert(on);
	power_close(power);
	relay_stop();
	ck_assert_uint_eq(relay.queries, 0);
	ck_assert_uint_eq(relay.frame_count, 1);
}
END_TEST

START_TEST(half_an_answer_is_no_state)
{
	struct power *power = open_power(RELAY_HALF_ANSWER, false, 1, -EPROTO);

	ck_assert_ptr_nonnull(strstr(power_error(power), "\"CH1:O\""));
	power_close(power);
	relay_stop();
}
END_TEST

START_TEST(another_device_is_not_switched)
{
	struct power *power = open_power(RELAY_GARBAGE, false, 1, -EPROTO);

	ck_assert_ptr_nonnull(strstr(power_error(power), "?[2JU-Boot> "));
	power_close(power);
	relay_stop();
	ck_assert_uint_eq(relay.frame_count, 0);
}
END_TEST

START_TEST(a_stuck_contact_is_told)
{
	struct power *power = open_power(RELAY_STUCK, false, 1, 0);

	ck_assert_int_eq(power_set(power, true), -EIO);
	ck_assert_ptr_nonnull(strstr(power_error(power), "still reports OFF"));
	ck_assert_int_eq(power_set(power, false), 0);
	power_close(power);
	relay_stop();
}
END_TEST

START_TEST(a_cycle_keeps_the_board_off_long_enough)
{
	struct power *power = open_power(RELAY_HEALTHY, false, 300, 0);

	uint64_t starts_us[2];

	ck_assert_int_eq(power_set(power, true), 0);
	for (int i = 0; i < 2; i++) {
		starts_us[i] = monotonic_get_us();
		ck_assert_int_eq(power_set(power, false), 0);
		ck_assert_int_eq(power_set(power, true), 0);
	}
	power_close(power);
	relay_stop();
	ck_assert_uint_eq(relay.frame_count, 5);
	/* From before the off was sent: when the relay's thread saw it says nothing. */
	ck_assert_uint_ge(relay.times_us[2] - starts_us[0], 300000);
	ck_assert_uint_ge(relay.times_us[4] - starts_us[1], 300000);
}
END_TEST

START_TEST(a_pulled_relay_is_told)
{
	struct power *power = open_power(RELAY_HEALTHY, false, 1, 0);

	relay_stop();
	ck_assert_int_eq(power_set(power, false), -ENODEV);
	ck_assert_ptr_nonnull(strstr(power_error(power), "gone"));
	power_close(power);
}
END_TEST

START_TEST(a_wrong_configuration_is_refused)
{
	struct power_config config = {.driver = "tasmoto"};
	struct power *power;

	ck_assert_int_eq(power_open(&power, &config), -EINVAL);
	ck_assert_ptr_nonnull(strstr(power_error(power), "\"lcus\""));
	power_close(power);
	config = (struct power_config){.driver = "lcus", .port = {.driver = "pty"}, .channel = 9};
	ck_assert_int_eq(power_open(&power, &config), -EINVAL);
	ck_assert_ptr_nonnull(strstr(power_error(power), "channel 9"));
	power_close(power);
	config = (struct power_config){
		.driver = "lcus", .port = {.driver = "pty", .path = "/dev/no-such-relay"}};
	ck_assert_int_eq(power_open(&power, &config), -ENOENT);
	power_close(power);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("power");
	TCase *lcus = tcase_create("lcus");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(lcus, 20);
	tcase_add_test(lcus, the_bytes_are_those_of_the_relay);
	tcase_add_test(lcus, the_second_channel_has_its_own_bytes_and_state);
	tcase_add_test(lcus, closing_leaves_the_contact_as_it_is);
	tcase_add_test(lcus, an_answer_in_pieces_is_an_answer);
	tcase_add_test(lcus, no_answer_says_what_to_check);
	tcase_add_test(lcus, a_relay_known_to_be_silent_is_commanded_unasked);
	tcase_add_test(lcus, half_an_answer_is_no_state);
	tcase_add_test(lcus, another_device_is_not_switched);
	tcase_add_test(lcus, a_stuck_contact_is_told);
	tcase_add_test(lcus, a_cycle_keeps_the_board_off_long_enough);
	tcase_add_test(lcus, a_pulled_relay_is_told);
	tcase_add_test(lcus, a_wrong_configuration_is_refused);
	suite_add_tcase(suite, lcus);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
