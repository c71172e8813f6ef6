/* SPDX-License-Identifier: Apache-2.0 */
/* The virtual board's relay, its card and how it ends; check_vboard_line.c has its UART. */
#include <check.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/vboard_rig.h"

static struct rig rig;

static int open_qemu(void)
{
	return (int)syscall(SYS_pidfd_open, rig_get_qemu(&rig), 0);
}

static void expect_off(void)
{
	char answer[64];

	rig_ask(&rig, "power", answer, sizeof(answer));
	ck_assert_str_eq(answer, "off");
}

/* ---------------------------------------------------------------- power */

START_TEST(the_relay_gives_power_and_takes_it)
{
	int qemu_fd;

	rig_start(&rig, NULL, "1");
	expect_off();
	rig_set_power(&rig, true);
	qemu_fd = open_qemu();
	rig_read_until(&rig, rig.uart_fd, "OpenSBI v");
	rig_set_power(&rig, false);
	rig_await_end(qemu_fd);
	expect_off();
	rig_read_rest(&rig, rig.uart_fd, 100);
	rig_write(rig.uart_fd, "\r", 1);
	rig_read_rest(&rig, rig.uart_fd, 100);
	ck_assert_uint_eq(rig.text_size, 0);
	close(qemu_fd);
	rig_stop(&rig);
}
END_TEST

START_TEST(the_relay_answers_for_each_channel)
{
	rig_start(&rig, NULL, "1");
	rig_write(rig.relay_fd, "\xFF", 1);
	rig_read_bytes(&rig, rig.relay_fd, 18);
	ck_assert_str_eq(rig.text, "CH1:OFF\r\nCH2:OFF\r\n");
	rig_write(rig.relay_fd, "\xA0\x02\x01\xA3\xFF", 5);
	rig_read_bytes(&rig, rig.relay_fd, 18);
	ck_assert_str_eq(rig.text, "CH1:OFF\r\nCH2:ON \r\n");
	expect_off();
	rig_write(rig.relay_fd, "\xA0\x01\x01\xA2\xFF", 5);
	rig_read_bytes(&rig, rig.relay_fd, 18);
	ck_assert_str_eq(rig.text, "CH1:ON \r\nCH2:ON \r\n");
	ck_assert_int_gt(rig_get_qemu(&rig), 0);
	rig_stop(&rig);
}
END_TEST

START_TEST(a_wrong_sum_switches_nothing_and_the_next_frame_still_works)
{
	rig_start(&rig, NULL, "1");
	rig_write(rig.relay_fd, "\xA0\x01\x01\xA3\xFF", 5);
	rig_read_bytes(&rig, rig.relay_fd, 18);
	ck_assert_str_eq(rig.text, "CH1:OFF\r\nCH2:OFF\r\n");
	/* A frame that lost its second byte swallows the head of the next one. */
	rig_write(rig.relay_fd, "\xA0\x01\xA2\xA0\x02\x01\xA3\xFF", 8);
	rig_read_bytes(&rig, rig.relay_fd, 18);
	ck_assert_str_eq(rig.text, "CH1:OFF\r\nCH2:ON \r\n");
	rig_stop(&rig);
}
END_TEST

START_TEST(a_relay_at_another_rate_understands_nothing)
{
	rig_start(&rig, NULL, "1");
	rig_set_baud(rig.relay_fd, 115200);
	rig_write(rig.relay_fd, "\xA0\x01\x01\xA2", 4);
	rig_read_rest(&rig, rig.relay_fd, 50);
	expect_off();
	rig_stop(&rig);
}
END_TEST

START_TEST(a_stuck_relay_says_on_and_gives_nothing)
{
	rig_start(&rig, "stuck-relay", "1");
	rig_write(rig.relay_fd, "\xA0\x01\x01\xA2\xFF", 5);
	rig_read_bytes(&rig, rig.relay_fd, 18);
	ck_assert_str_eq(rig.text, "CH1:ON \r\nCH2:OFF\r\n");
	expect_off();
	rig_stop(&rig);
}
END_TEST

START_TEST(a_relay_stuck_on_says_off_and_cuts_nothing)
{
	rig_start(&rig, "stuck-relay=on", "1");
	rig_boot(&rig);
	rig_write(rig.relay_fd, "\xA0\x01\x00\xA1\xFF", 5);
	rig_read_bytes(&rig, rig.relay_fd, 18);
	ck_assert_str_eq(rig.text, "CH1:OFF\r\nCH2:OFF\r\n");
	rig_command(&rig, "echo still he''re");
	ck_assert_ptr_nonnull(strstr(rig.text, "still here"));
	rig_stop(&rig);
}
END_TEST

START_TEST(a_board_that_switches_itself_off_still_has_its_relay_on)
{
	char answer[64];
	int qemu_fd;

	rig_start(&rig, NULL, "1");
	rig_boot(&rig);
	qemu_fd = open_qemu();
	rig_write(rig.uart_fd, "poweroff\r", 9);
	rig_await_end(qemu_fd);
	do
		rig_ask(&rig, "power", answer, sizeof(answer));
	while (strcmp(answer, "on none") != 0);
	rig_set_power(&rig, false);
	rig_boot(&rig);
	close(qemu_fd);
	rig_stop(&rig);
}
END_TEST

/* ---------------------------------------------------------------- card */

START_TEST(the_card_is_at_one_side_only)
{
	char path[PATH_MAX];
	struct stat link, card;

	rig_start(&rig, NULL, "1");
	ck_assert_int_eq(rig_switch_mux(&rig, "get"), 0);
	ck_assert_str_eq(rig.text, "dut\n");
	ck_assert(!rig_has_entry(&rig, "card"));
	ck_assert_int_eq(rig_switch_mux(&rig, "host"), 0);
	ck_assert_int_eq(rig_switch_mux(&rig, "get"), 0);
	ck_assert_str_eq(rig.text, "host\n");
	snprintf(path, sizeof(path), "%s/card", rig.dir);
	ck_assert_int_eq(stat(path, &link), 0);
	ck_assert_int_eq(stat(rig.card, &card), 0);
	ck_assert_uint_eq(link.st_ino, card.st_ino);
	ck_assert_int_eq(rig_switch_mux(&rig, "host"), 0);
	ck_assert_int_eq(rig_switch_mux(&rig, "off"), 0);
	ck_assert(!rig_has_entry(&rig, "card"));
	ck_assert_int_eq(rig_switch_mux(&rig, "host"), 0);
	ck_assert_int_eq(rig_switch_mux(&rig, "dut"), 0);
	ck_assert(!rig_has_entry(&rig, "card"));
	ck_assert_int_eq(rig_switch_mux(&rig, "left"), 2);
	rig_stop(&rig);
}
END_TEST

START_TEST(the_loader_finds_the_card_only_when_it_is_at_the_board)
{
	rig_start(&rig, NULL, "1");
	ck_assert_int_eq(rig_switch_mux(&rig, "host"), 0);
	rig_boot(&rig);
	rig_command(&rig, "mmc dev 0");
	ck_assert_ptr_nonnull(strstr(rig.text, "no card present"));
	rig_set_power(&rig, false);
	ck_assert_int_eq(rig_switch_mux(&rig, "dut"), 0);
	rig_boot(&rig);
	rig_command(&rig, "mmc dev 0");
	ck_assert_ptr_nonnull(strstr(rig.text, "mmc0 is current device"));
	/* And a switch under power takes it out of the running board, and puts it back. */
	ck_assert_int_eq(rig_switch_mux(&rig, "off"), 0);
	rig_command(&rig, "mmc dev 0");
	ck_assert_ptr_nonnull(strstr(rig.text, "no card present"));
	ck_assert_int_eq(rig_switch_mux(&rig, "dut"), 0);
	rig_command(&rig, "mmc rescan");
	rig_command(&rig, "mmc dev 0");
	ck_assert_ptr_nonnull(strstr(rig.text, "mmc0 is current device"));
	rig_stop(&rig);
}
END_TEST

START_TEST(what_the_host_writes_the_board_reads)
{
	char path[PATH_MAX];
	int fd;

	rig_start(&rig, NULL, "1");
	ck_assert_int_eq(rig_switch_mux(&rig, "host"), 0);
	snprintf(path, sizeof(path), "%s/card", rig.dir);
	fd = open(path, O_RDWR | O_CLOEXEC);
	ck_assert_int_eq(pwrite(fd, "sameboard", 9, 512), 9);
	close(fd);
	ck_assert_int_eq(rig_switch_mux(&rig, "dut"), 0);
	rig_boot(&rig);
	rig_command(&rig, "mmc dev 0; mmc read 84000000 1 1; md.b 84000000 10");
	ck_assert_ptr_nonnull(strstr(rig.text, "sameboard"));
	rig_stop(&rig);
}
END_TEST

START_TEST(a_card_can_be_missing_at_either_side)
{
	rig_start(&rig, "no-card", "1");
	rig_boot(&rig);
	rig_command(&rig, "mmc dev 0");
	ck_assert_ptr_nonnull(strstr(rig.text, "no card present"));
	rig_stop(&rig);
	rig_start(&rig, "no-card=host", "1");
	ck_assert_int_eq(rig_switch_mux(&rig, "host"), 0);
	ck_assert(!rig_has_entry(&rig, "card"));
	rig_stop(&rig);
}
END_TEST

/* ---------------------------------------------------------------- ends and refusals */

START_TEST(a_killed_vboard_leaves_no_emulator_and_no_entries)
{
	static const char *const names[] = {"uart", "relay", "card", "vboard.sock", "pid"};
	int qemu_fd, dir_fd;

	rig_start(&rig, NULL, "1");
	ck_assert_int_eq(rig_switch_mux(&rig, "host"), 0);
	rig_set_power(&rig, true);
	qemu_fd = open_qemu();
	dir_fd = open(rig.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ck_assert_msg(rig_has_entry(&rig, names[i]), "no %s", names[i]);
	kill(rig.pid, SIGKILL);
	waitpid(rig.pid, NULL, 0);
	rig_await_end(qemu_fd);
	/* The guard holds the lock until it has cleaned up. */
	ck_assert_int_eq(flock(dir_fd, LOCK_EX), 0);
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ck_assert_msg(!rig_has_entry(&rig, names[i]), "%s is left", names[i]);
	close(dir_fd);
	close(qemu_fd);
	rig_remove(&rig);
}
END_TEST

START_TEST(quit_ends_it)
{
	char answer[64];

	rig_start(&rig, NULL, "1");
	rig_set_power(&rig, true);
	rig_ask(&rig, "quit", answer, sizeof(answer));
	/* It ends by itself; the signal of rig_stop would come too late or find nobody. */
	ck_assert_int_eq(waitpid(rig.pid, NULL, 0), rig.pid);
	rig_remove(&rig);
}
END_TEST

START_TEST(a_second_vboard_in_the_same_directory_is_refused)
{
	char program[PATH_MAX], text[2048];

	rig_start(&rig, NULL, "1");
	rig_find_program("vboard", program, sizeof(program));
	ck_assert_int_eq(
		rig_run((const char *[]){program, "--dir", rig.dir, "--card", rig.card, NULL}, text,
			sizeof(text)),
		3);
	ck_assert_ptr_nonnull(strstr(text, "belongs to another vboard"));
	rig_set_power(&rig, true);
	rig_read_until(&rig, rig.uart_fd, "OpenSBI v");
	rig_stop(&rig);
}
END_TEST

static const struct {
	const char *option, *value, *message;
} refused[] = {
	{"--fault", "earthquake", "known are: noise=P[@frame] drop=P[@frame]"},
	{"--fault", "noise=2", "bad value in fault 'noise=2'"},
	{"--fault", "drop=1e-3@prompt", "bad value in fault"},
	{"--fault", "hang=linux", "bad value in fault"},
	{"--fault", "noise=1e-5,reset-after=-1", "bad value in fault 'reset-after=-1'"},
	{"--fault", "reset-in-window=0", "bad value in fault 'reset-in-window=0'"},
	{"--fault", "bounce=2", "bad value in fault 'bounce=2'"},
	{"--fault", "usb-latency=0", "bad value in fault 'usb-latency=0'"},
	{"--fault", "chunk=62", "bad value in fault 'chunk=62'"},
	{"--fault", "usb-latency=16,chunk=513", "bad value in fault 'chunk=513'"},
	{"--card", "/nonexistent/card", "--card /nonexistent/card"},
	{"--uboot", "/nonexistent/u-boot", "--uboot /nonexistent/u-boot"},
	{"--seed", "many", "--seed many"},
	{"--memory", "1", "--memory 1"},
	{"--time", "imaginary", "--time imaginary"},
	{"--colour", "red", "--colour"},
};

START_TEST(wrong_usage_is_explained)
{
	char program[PATH_MAX], text[2048], card[64] = "/tmp/check_vboard.XXXXXX";
	int fd = mkstemp(card);

	rig_find_program("vboard", program, sizeof(program));
	ck_assert_int_eq(ftruncate(fd, 1 << 20), 0);
	ck_assert_int_eq(rig_run((const char *[]){program, "--dir", "/tmp/unused", "--card", card,
					 refused[_i].option, refused[_i].value, NULL},
				 text, sizeof(text)),
		2);
	ck_assert_msg(strstr(text, refused[_i].message) != NULL, "%s", text);
	close(fd);
	unlink(card);
}
END_TEST

START_TEST(a_card_of_an_odd_size_is_refused)
{
	char program[PATH_MAX], text[2048], card[64] = "/tmp/check_vboard.XXXXXX";
	int fd = mkstemp(card);

	rig_find_program("vboard", program, sizeof(program));
	ck_assert_int_eq(ftruncate(fd, 3 << 20), 0);
	ck_assert_int_eq(
		rig_run((const char *[]){program, "--dir", "/tmp/unused", "--card", card, NULL},
			text, sizeof(text)),
		2);
	ck_assert_ptr_nonnull(strstr(text, "power of two"));
	close(fd);
	unlink(card);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("vboard");
	TCase *power = tcase_create("power");
	TCase *card = tcase_create("card");
	TCase *end = tcase_create("end");
	TCase *cases[] = {power, card, end};
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(power, the_relay_gives_power_and_takes_it);
	tcase_add_test(power, the_relay_answers_for_each_channel);
	tcase_add_test(power, a_wrong_sum_switches_nothing_and_the_next_frame_still_works);
	tcase_add_test(power, a_relay_at_another_rate_understands_nothing);
	tcase_add_test(power, a_stuck_relay_says_on_and_gives_nothing);
	tcase_add_test(power, a_relay_stuck_on_says_off_and_cuts_nothing);
	tcase_add_test(power, a_board_that_switches_itself_off_still_has_its_relay_on);
	tcase_add_test(card, the_card_is_at_one_side_only);
	tcase_add_test(card, the_loader_finds_the_card_only_when_it_is_at_the_board);
	tcase_add_test(card, what_the_host_writes_the_board_reads);
	tcase_add_test(card, a_card_can_be_missing_at_either_side);
	tcase_add_test(end, a_killed_vboard_leaves_no_emulator_and_no_entries);
	tcase_add_test(end, quit_ends_it);
	tcase_add_test(end, a_second_vboard_in_the_same_directory_is_refused);
	tcase_add_test(end, a_card_of_an_odd_size_is_refused);
	tcase_add_loop_test(
		end, wrong_usage_is_explained, 0, (int)(sizeof(refused) / sizeof(refused[0])));
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tcase_set_timeout(cases[i], 120);
		suite_add_tcase(suite, cases[i]);
	}
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
