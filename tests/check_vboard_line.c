/* SPDX-License-Identifier: Apache-2.0 */
/* The virtual board's UART: its pace, its rates, its listeners, and what the faults do to it. */
#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/vboard_rig.h"

/* Ten bits at 115200 baud, less a little for rounding. */
/* The guest divides its clock to 115384 baud. */
#define BYTE_NS 86667

static struct rig rig;

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

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
	rig_command(&rig, "echo hel''lo");
	ck_assert_ptr_nonnull(strstr(rig.text, "hello"));
	rig_stop(&rig);
}
END_TEST

START_TEST(the_uart_can_have_the_clock_of_the_real_board)
{
	rig_start_clocked(&rig, NULL, "1", "24000000");
	rig_boot(&rig);
	/* The loader took the clock from the tree: divisor 13, not 2. */
	ck_assert_uint_eq(rig_get_count(&rig, "guest_baud"), 24000000 / 16 / 13);
	rig_command(&rig, "version");
	ck_assert_ptr_nonnull(strstr(rig.text, "U-Boot"));
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
	rig_command(&rig, "echo ag''ain");
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

START_TEST(contacts_that_bounce_bring_the_first_banner_twice)
{
	rig_start(&rig, "bounce", "1");
	rig_set_power(&rig, true);
	rig_read_until(&rig, rig.uart_fd, "OpenSBI v");
	rig_read_until(&rig, rig.uart_fd, "OpenSBI v");
	/* Once only, and the board comes up. */
	rig_read_until(&rig, rig.uart_fd, "Hit any key");
	ck_assert_ptr_null(strstr(rig.text, "OpenSBI v"));
	rig_stop(&rig);
}
END_TEST

START_TEST(a_byte_that_nothing_answers_can_reset_the_board)
{
	rig_start(&rig, "reset-in-window=0.5", "1");
	rig_boot(&rig);
	/* Answered ones do not: neither before the first frame nor after it. */
	rig_command(&rig, "sleep 1; mw.b 10000000 0; echo do''ne");
	rig_command(&rig, "sleep 1; echo ag''ain");
	ck_assert_ptr_nonnull(strstr(rig.text, "again"));
	rig_write(rig.uart_fd, "sleep 30\r", 9);
	rig_read_until(&rig, rig.uart_fd, "sleep 30\r\n");
	rig_write(rig.uart_fd, "x", 1);
	rig_read_until(&rig, rig.uart_fd, "OpenSBI v");
	ck_assert_uint_eq(rig_get_count(&rig, "power_ons"), 1);
	rig_stop(&rig);
}
END_TEST

/* Time from the first to the last of some bytes of the board, and how many came at once at most. */
static long long read_pieces(size_t count, size_t *largest)
{
	struct pollfd port = {.fd = rig.uart_fd, .events = POLLIN};
	char bytes[4096];
	long long start_ns = 0;
	size_t total = 0;

	*largest = 0;
	while (total < count) {
		ssize_t got;

		ck_assert_int_eq(poll(&port, 1, 10000), 1);
		got = read(rig.uart_fd, bytes, sizeof(bytes));
		ck_assert_int_gt(got, 0);
		if (!total)
			start_ns = now_ns();
		total += (size_t)got;
		if ((size_t)got > *largest)
			*largest = (size_t)got;
	}
	return now_ns() - start_ns;
}

START_TEST(an_adapter_holds_bytes_back)
{
	long long start_ns;
	size_t largest;

	/* A single byte waits for the whole latency, a stream for the chunk only. */
	rig_start(&rig, "usb-latency=300,chunk=40", "1");
	rig_boot(&rig);
	start_ns = now_ns();
	rig_write(rig.uart_fd, "x", 1);
	rig_read_bytes(&rig, rig.uart_fd, 1);
	ck_assert_int_ge(now_ns() - start_ns, 300000000LL);
	rig_write(rig.uart_fd, "\x03", 1);
	rig_read_until(&rig, rig.uart_fd, "=> ");
	rig_write(rig.uart_fd, "md.b 80200000 100\r", 18);
	/* Were each chunk held for the latency, it would be twice that. */
	ck_assert_int_lt(read_pieces(1000, &largest), 1000 / 40 * 300000000LL / 2);
	ck_assert_uint_ge(largest, 40);
	rig_stop(&rig);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("vboard line");
	TCase *line = tcase_create("line");
	TCase *fault = tcase_create("fault");
	TCase *cases[] = {line, fault};
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(line, no_byte_of_the_board_is_early);
	tcase_add_test(line, no_byte_of_the_host_is_early);
	tcase_add_test(line, a_host_at_another_rate_reads_garbage);
	tcase_add_test(line, the_board_and_the_host_can_change_their_rate);
	tcase_add_test(line, the_uart_can_have_the_clock_of_the_real_board);
	tcase_add_test(line, what_nobody_listens_to_is_lost);
	tcase_add_test(line, what_the_host_sends_to_a_board_without_power_is_lost);
	tcase_add_test(fault, noise_follows_from_the_seed);
	tcase_add_test(fault, faults_can_wait_for_the_first_frame);
	tcase_add_test(fault, the_board_resets_itself_once_after_a_while);
	tcase_add_test(fault, a_loader_can_hang_after_its_banner);
	tcase_add_test(fault, cut_wires_carry_nothing_until_the_next_power_on);
	tcase_add_test(fault, contacts_that_bounce_bring_the_first_banner_twice);
	tcase_add_test(fault, a_byte_that_nothing_answers_can_reset_the_board);
	tcase_add_test(fault, an_adapter_holds_bytes_back);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tcase_set_timeout(cases[i], 120);
		suite_add_tcase(suite, cases[i]);
	}
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
