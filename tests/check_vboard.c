/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/vboard_rig.h"

/* Ten bits at 115200 baud, less a little for rounding. */
#define BYTE_NS 86805

static struct rig rig;

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void command(const char *line)
{
	rig_write(rig.uart_fd, line, strlen(line));
	rig_write(rig.uart_fd, "\r", 1);
	rig_read_until(&rig, rig.uart_fd, "\r\n=> ");
}

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
	command("echo still he''re");
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
	command("mmc dev 0");
	ck_assert_ptr_nonnull(strstr(rig.text, "no card present"));
	rig_set_power(&rig, false);
	ck_assert_int_eq(rig_switch_mux(&rig, "dut"), 0);
	rig_boot(&rig);
	command("mmc dev 0");
	ck_assert_ptr_nonnull(strstr(rig.text, "mmc0 is current device"));
	/* And a switch under power takes it out of the running board, and puts it back. */
	ck_assert_int_eq(rig_switch_mux(&rig, "off"), 0);
	command("mmc dev 0");
	ck_assert_ptr_nonnull(strstr(rig.text, "no card present"));
	ck_assert_int_eq(rig_switch_mux(&rig, "dut"), 0);
	command("mmc rescan");
	command("mmc dev 0");
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
	command("mmc dev 0; mmc read 84000000 1 1; md.b 84000000 10");
	ck_assert_ptr_nonnull(strstr(rig.text, "sameboard"));
	rig_stop(&rig);
}
END_TEST

START_TEST(a_card_can_be_missing_at_either_side)
{
	rig_start(&rig, "no-card", "1");
	rig_boot(&rig);
	command("mmc dev 0");
	ck_assert_ptr_nonnull(strstr(rig.text, "no card present"));
	rig_stop(&rig);
	rig_start(&rig, "no-card=host", "1");
	ck_assert_int_eq(rig_switch_mux(&rig, "host"), 0);
	ck_assert(!rig_has_entry(&rig, "card"));
	rig_stop(&rig);
}
END_TEST

/* ---------------------------------------------------------------- line */

START_TEST(no_byte_of_the_board_is_early)
{
	long long start_ns, duration_ns;

	rig_start(&rig, NULL, "1");
	rig_boot(&rig);
	rig_write(rig.uart_fd, "md.b 80200000 800", 17);
	rig_read_bytes(&rig, rig.uart_fd, 17);
	start_ns = now_ns();
	rig_write(rig.uart_fd, "\r", 1);
	rig_read_until(&rig, rig.uart_fd, "=> ");
	duration_ns = now_ns() - start_ns;
	ck_assert_uint_gt(rig.text_size, 9000);
	ck_assert_int_ge(duration_ns, (long long)rig.text_size * BYTE_NS);
	/* Not a bound for busy machines, but enough to tell 115200 from 57600 on most. */
	printf("%zu bytes at %.1f us a byte\n", rig.text_size,
		(double)duration_ns / 1e3 / (double)rig.text_size);
	rig_stop(&rig);
}
END_TEST

START_TEST(no_byte_of_the_host_is_early)
{
	unsigned long long before, count;
	static char line[240];
	long long start_ns;

	memset(line, 'x', sizeof(line));
	rig_start(&rig, NULL, "1");
	rig_boot(&rig);
	before = rig_get_count(&rig, "to_guest_bytes");
	start_ns = now_ns();
	rig_write(rig.uart_fd, line, sizeof(line));
	do {
		count = rig_get_count(&rig, "to_guest_bytes") - before;
		ck_assert_int_ge(now_ns() - start_ns, (long long)count * BYTE_NS);
	} while (count < sizeof(line));
	rig_stop(&rig);
}
END_TEST

START_TEST(a_host_at_another_rate_reads_garbage)
{
	rig_start(&rig, NULL, "1");
	rig_set_baud(rig.uart_fd, 57600);
	rig_set_power(&rig, true);
	rig_read_bytes(&rig, rig.uart_fd, 1500);
	ck_assert_ptr_null(memmem(rig.text, 1500, "SBI", 3));
	ck_assert_uint_ge(rig_get_count(&rig, "to_host_garbled"), 1500);
	rig_stop(&rig);
}
END_TEST

START_TEST(the_board_and_the_host_can_change_their_rate)
{
	rig_start(&rig, NULL, "1");
	rig_boot(&rig);
	rig_write(rig.uart_fd, "setenv baudrate 9600\r", 21);
	rig_read_until(&rig, rig.uart_fd, "press ENTER ...\r\n");
	ck_assert_ptr_null(strstr(rig.text, "=> "));
	while (rig_get_count(&rig, "guest_baud") != 9600)
		poll(NULL, 0, 5);
	rig_set_baud(rig.uart_fd, 9600);
	rig_write(rig.uart_fd, "\r", 1);
	rig_read_until(&rig, rig.uart_fd, "=> ");
	command("echo hel''lo");
	ck_assert_ptr_nonnull(strstr(rig.text, "hello"));
	rig_stop(&rig);
}
END_TEST

START_TEST(what_nobody_listens_to_is_lost)
{
	unsigned long long handed_over;

	rig_start(&rig, NULL, "1");
	close(rig.uart_fd);
	rig_set_power(&rig, true);
	while (rig_get_count(&rig, "to_host_dropped") < 1800)
		poll(NULL, 0, 10);
	rig.uart_fd = rig_open_port(&rig, "uart", 115200);
	rig_write(rig.uart_fd, " ", 1);
	rig_read_until(&rig, rig.uart_fd, "=> ");
	ck_assert_ptr_null(strstr(rig.text, "OpenSBI v"));
	/* A port closed with something unread in it is empty when it is opened again. */
	handed_over = rig_get_count(&rig, "to_host_bytes");
	rig_write(rig.uart_fd, "version\r", 8);
	while (rig_get_count(&rig, "to_host_bytes") < handed_over + 60)
		poll(NULL, 0, 5);
	close(rig.uart_fd);
	while (rig_get_count(&rig, "host_listens"))
		poll(NULL, 0, 5);
	rig.uart_fd = rig_open_port(&rig, "uart", 115200);
	rig_read_rest(&rig, rig.uart_fd, 200);
	ck_assert_ptr_null(strstr(rig.text, "U-Boot 20"));
	command("echo ag''ain");
	ck_assert_ptr_nonnull(strstr(rig.text, "again"));
	rig_stop(&rig);
}
END_TEST

START_TEST(what_the_host_sends_to_a_board_without_power_is_lost)
{
	rig_start(&rig, NULL, "1");
	rig_write(rig.uart_fd, "   ", 3);
	while (rig_get_count(&rig, "to_guest_dropped") < 3)
		poll(NULL, 0, 5);
	rig_set_power(&rig, true);
	rig_read_until(&rig, rig.uart_fd, "Hit any key to stop autoboot:  2 \b\b\b 1");
	rig_stop(&rig);
}
END_TEST

/* ---------------------------------------------------------------- faults */

static void read_noisy_banner(const char *faults, const char *seed, char *banner, size_t size)
{
	rig_start(&rig, faults, seed);
	rig_set_power(&rig, true);
	rig_read_bytes(&rig, rig.uart_fd, size);
	memcpy(banner, rig.text, size);
	rig_stop(&rig);
}

START_TEST(noise_follows_from_the_seed)
{
	static char first[1400], same[1400], other[1400];

	read_noisy_banner("noise=1e-3", "7", first, sizeof(first));
	read_noisy_banner("noise=1e-3", "7", same, sizeof(same));
	read_noisy_banner("noise=1e-3", "8", other, sizeof(other));
	ck_assert_mem_eq(first, same, sizeof(first));
	ck_assert_mem_ne(first, other, sizeof(first));
}
END_TEST

START_TEST(faults_can_wait_for_the_first_frame)
{
	rig_start(&rig, "noise=0.2@frame,drop=0.5@frame", "1");
	rig_boot(&rig);
	ck_assert_uint_eq(rig_get_count(&rig, "to_host_flipped_bits"), 0);
	ck_assert_uint_eq(rig_get_count(&rig, "to_host_dropped"), 0);
	/* The UART's transmit register: the one way to make the loader send 00. */
	rig_write(rig.uart_fd, "mw.b 10000000 0; version\r", 25);
	while (rig_get_count(&rig, "to_host_dropped") < 10)
		poll(NULL, 0, 5);
	ck_assert_uint_gt(rig_get_count(&rig, "to_host_flipped_bits"), 0);
	rig_write(rig.uart_fd, "                                ", 32);
	while (rig_get_count(&rig, "to_guest_dropped") < 5)
		poll(NULL, 0, 5);
	rig_stop(&rig);
}
END_TEST

START_TEST(the_board_resets_itself_once_after_a_while)
{
	rig_start(&rig, "reset-after=2", "1");
	rig_set_power(&rig, true);
	rig_read_until(&rig, rig.uart_fd, "OpenSBI v");
	rig_read_until(&rig, rig.uart_fd, "OpenSBI v");
	ck_assert_uint_eq(rig_get_count(&rig, "power_ons"), 1);
	rig_stop(&rig);
}
END_TEST

START_TEST(a_loader_can_hang_after_its_banner)
{
	rig_start(&rig, "hang=uboot", "1");
	rig_set_power(&rig, true);
	rig_read_until(&rig, rig.uart_fd, "\nU-Boot 20");
	rig_read_rest(&rig, rig.uart_fd, 300);
	ck_assert_ptr_null(strstr(rig.text, "Hit any key"));
	rig_write(rig.uart_fd, "\r", 1);
	rig_read_rest(&rig, rig.uart_fd, 200);
	ck_assert_uint_eq(rig.text_size, 0);
	ck_assert_int_gt(rig_get_qemu(&rig), 0);
	rig_stop(&rig);
}
END_TEST

START_TEST(cut_wires_carry_nothing_until_the_next_power_on)
{
	rig_start(&rig, "cut=uart@1", "1");
	rig_set_power(&rig, true);
	while (rig_get_count(&rig, "to_host_dropped") < 10)
		poll(NULL, 0, 5);
	rig_read_rest(&rig, rig.uart_fd, 100);
	rig_write(rig.uart_fd, "\r", 1);
	rig_read_rest(&rig, rig.uart_fd, 200);
	ck_assert_uint_eq(rig.text_size, 0);
	ck_assert_int_gt(rig_get_qemu(&rig), 0);
	rig_set_power(&rig, false);
	rig_set_power(&rig, true);
	rig_read_until(&rig, rig.uart_fd, "OpenSBI v");
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
	TCase *power = tcase_create("power"), *card = tcase_create("card");
	TCase *line = tcase_create("line"), *fault = tcase_create("fault");
	TCase *end = tcase_create("end");
	TCase *cases[] = {power, card, line, fault, end};
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
	tcase_add_test(line, no_byte_of_the_board_is_early);
	tcase_add_test(line, no_byte_of_the_host_is_early);
	tcase_add_test(line, a_host_at_another_rate_reads_garbage);
	tcase_add_test(line, the_board_and_the_host_can_change_their_rate);
	tcase_add_test(line, what_nobody_listens_to_is_lost);
	tcase_add_test(line, what_the_host_sends_to_a_board_without_power_is_lost);
	tcase_add_test(fault, noise_follows_from_the_seed);
	tcase_add_test(fault, faults_can_wait_for_the_first_frame);
	tcase_add_test(fault, the_board_resets_itself_once_after_a_while);
	tcase_add_test(fault, a_loader_can_hang_after_its_banner);
	tcase_add_test(fault, cut_wires_carry_nothing_until_the_next_power_on);
	tcase_add_test(end, a_killed_vboard_leaves_no_emulator_and_no_entries);
	tcase_add_test(end, quit_ends_it);
	tcase_add_test(end, a_second_vboard_in_the_same_directory_is_refused);
	tcase_add_loop_test(
		end, wrong_usage_is_explained, 0, (int)(sizeof(refused) / sizeof(refused[0])));
	tcase_add_test(end, a_card_of_an_odd_size_is_refused);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tcase_set_timeout(cases[i], 120);
		suite_add_tcase(suite, cases[i]);
	}
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
