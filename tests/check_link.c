/* SPDX-License-Identifier: Apache-2.0 */
#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "boardctl/drivers.h"
#include "boardctl/link.h"
#include "boardctl/monotonic.h"
#include "boardctl/portmatch.h"

static int master_fd = -1;
static char slave_path[64];
static struct link *link_under_test;

static void open_master(void)
{
	master_fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_ge(master_fd, 0);
	ck_assert_int_eq(grantpt(master_fd), 0);
	ck_assert_int_eq(unlockpt(master_fd), 0);
	ck_assert_int_eq(ptsname_r(master_fd, slave_path, sizeof(slave_path)), 0);
}

static void set_up(void)
{
	const struct link_config config = {.driver = "pty", .path = slave_path, .baud = 115200};

	open_master();
	ck_assert_int_eq(link_open(&link_under_test, &config), 0);
}

static void tear_down(void)
{
	link_close(link_under_test);
	if (master_fd >= 0)
		close(master_fd);
}

static void read_master(void *buffer, size_t size)
{
	for (size_t have = 0; have < size;) {
		ssize_t got = read(master_fd, (char *)buffer + have, size - have);

		ck_assert_int_gt(got, 0);
		have += (size_t)got;
	}
}

static void read_link(void *buffer, size_t size)
{
	for (size_t have = 0; have < size;) {
		ssize_t got = link_read(link_under_test, (char *)buffer + have, size - have, 2000);

		ck_assert_int_gt(got, 0);
		have += (size_t)got;
	}
}

START_TEST(an_unknown_driver_is_refused_with_the_known_ones_named)
{
	const struct link_config config = {.driver = "telnet", .path = "/dev/null"};
	struct link *link;

	ck_assert_int_eq(link_open(&link, &config), -EINVAL);
	ck_assert_ptr_nonnull(strstr(link_error(link), "telnet"));
	ck_assert_ptr_nonnull(strstr(link_error(link), "\"serial\""));
	ck_assert_ptr_nonnull(strstr(link_error(link), "\"pty\""));
	ck_assert_int_eq(link_read(link, (char[1]){0}, 1, 0), -ENODEV);
	link_close(link);
}
END_TEST

START_TEST(a_path_that_is_missing_or_no_tty_is_refused)
{
	struct link_config config = {.driver = "pty"};
	struct link *link;

	ck_assert_int_eq(link_open(&link, &config), -EINVAL);
	link_close(link);
	config.path = "/dev/no-such-port";
	ck_assert_int_eq(link_open(&link, &config), -ENOENT);
	ck_assert_ptr_nonnull(strstr(link_error(link), "/dev/no-such-port"));
	link_close(link);
	config.path = "/dev/null";
	ck_assert_int_eq(link_open(&link, &config), -ENOTTY);
	link_close(link);
	link_close(NULL);
}
END_TEST

START_TEST(all_byte_values_pass_unchanged_both_ways)
{
	unsigned char sent[1024], received[1024];

	for (size_t i = 0; i < sizeof(sent); i++)
		sent[i] = (unsigned char)(i * 7 + i / 256);
	ck_assert_int_eq(link_write(link_under_test, sent, sizeof(sent)), 0);
	read_master(received, sizeof(received));
	ck_assert_mem_eq(sent, received, sizeof(sent));
	ck_assert_int_eq(write(master_fd, sent, sizeof(sent)), sizeof(sent));
	read_link(received, sizeof(received));
	ck_assert_mem_eq(sent, received, sizeof(sent));
}
END_TEST

START_TEST(a_read_without_bytes_ends_after_its_timeout)
{
	uint64_t start_ms = monotonic_get_ms();
	char byte;

	ck_assert_int_eq(link_read(link_under_test, &byte, 1, 0), 0);
	ck_assert_int_eq(link_read(link_under_test, &byte, 1, 60), 0);
	ck_assert_uint_ge(monotonic_get_ms() - start_ms, 59);
}
END_TEST

START_TEST(a_write_lasts_as_long_as_the_line_needs)
{
	const char text[48] = "";
	uint64_t start_us;

	ck_assert_int_eq(link_set_baud(link_under_test, 9600), 0);
	start_us = monotonic_get_us();
	ck_assert_int_eq(link_write(link_under_test, text, sizeof(text)), 0);
	ck_assert_uint_ge(monotonic_get_us() - start_us, 50000);
}
END_TEST

START_TEST(a_hang_up_is_no_timeout)
{
	char text[8];

	close(master_fd);
	master_fd = -1;
	ck_assert_int_eq(link_read(link_under_test, text, sizeof(text), 2000), -ENODEV);
	ck_assert_ptr_nonnull(strstr(link_error(link_under_test), slave_path));
	ck_assert_int_eq(link_write(link_under_test, "x", 1), -ENODEV);
}
END_TEST

START_TEST(a_port_has_one_owner)
{
	const struct link_config config = {.driver = "pty", .path = slave_path};
	struct link *second;

	ck_assert_int_eq(link_open(&second, &config), -EBUSY);
	ck_assert_ptr_nonnull(strstr(link_error(second), "held by another"));
	link_close(second);
	link_close(link_under_test);
	ck_assert_int_eq(link_open(&link_under_test, &config), 0);
}
END_TEST

START_TEST(rates_reach_the_line_also_uneven_ones)
{
	static const uint32_t rates[] = {9600, 115200, 115384, 1500000};
	struct termios2 term;

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		ck_assert_int_eq(link_set_baud(link_under_test, rates[i]), 0);
		ck_assert_uint_eq(link_get_baud(link_under_test), rates[i]);
		ck_assert_int_eq(ioctl(master_fd, TCGETS2, &term), 0);
		ck_assert_uint_eq(term.c_ospeed, rates[i]);
		ck_assert_uint_eq(term.c_ispeed, rates[i]);
	}
	ck_assert_int_eq(link_set_baud(link_under_test, 0), -EINVAL);
}
END_TEST

START_TEST(the_line_is_raw_and_does_not_hang_up_on_close)
{
	struct termios2 term;

	ck_assert_int_eq(ioctl(master_fd, TCGETS2, &term), 0);
	ck_assert_uint_eq(term.c_cflag & (HUPCL | CRTSCTS | PARENB | CSTOPB), 0);
	ck_assert_uint_eq(term.c_cflag & CSIZE, CS8);
	ck_assert_uint_eq(term.c_lflag, 0);
	ck_assert_uint_eq(term.c_iflag, 0);
	ck_assert_uint_eq(term.c_oflag, 0);
}
END_TEST

struct record {
	char text[64];
	size_t used;
	uint64_t last_us;
	bool is_ordered;
};

static void see(
	void *ctx, enum link_direction direction, uint64_t time_us, const void *data, size_t size)
{
	struct record *record = ctx;

	record->is_ordered = record->is_ordered && time_us >= record->last_us;
	record->last_us = time_us;
	record->text[record->used++] = direction == LINK_DIRECTION_TX ? '>' : '<';
	memcpy(record->text + record->used, data, size);
	record->used += size;
}

START_TEST(the_tap_sees_every_chunk_in_order)
{
	struct record record = {.is_ordered = true, .last_us = monotonic_get_us()};
	const struct link_tap tap = {.see = see, .ctx = &record};
	char text[8];

	link_set_tap(link_under_test, &tap);
	ck_assert_int_eq(link_write(link_under_test, "ask", 3), 0);
	ck_assert_int_eq(write(master_fd, "answer", 6), 6);
	read_link(text, 6);
	link_set_tap(link_under_test, NULL);
	ck_assert_int_eq(link_write(link_under_test, "unseen", 6), 0);
	ck_assert_str_eq(record.text, ">ask<answer");
	ck_assert(record.is_ordered);
	ck_assert_uint_le(record.last_us, monotonic_get_us());
}
END_TEST

START_TEST(flush_throws_away_what_was_not_read)
{
	char text[8] = "";

	ck_assert_int_eq(write(master_fd, "old", 3), 3);
	read_link(text, 1);
	ck_assert_int_eq(link_flush(link_under_test), 0);
	ck_assert_int_eq(write(master_fd, "new", 3), 3);
	read_link(text, 3);
	ck_assert_str_eq(text, "new");
}
END_TEST

START_TEST(a_pty_cannot_hold_a_break)
{
	ck_assert_int_eq(link_break(link_under_test, true), -ENOTSUP);
	ck_assert_ptr_nonnull(strstr(link_error(link_under_test), "break"));
}
END_TEST

START_TEST(a_write_that_nobody_reads_ends)
{
	static const char much[256 * 1024];

	ck_assert_int_eq(link_set_baud(link_under_test, 4000000), 0);
	ck_assert_int_eq(link_write(link_under_test, much, sizeof(much)), -ETIMEDOUT);
}
END_TEST

START_TEST(a_port_that_comes_back_is_opened_by_its_name)
{
	char dir[] = "/tmp/check_link.XXXXXX", name[64], text[4] = "";
	struct link_config config = {.driver = "pty", .path = name, .baud = 9600};
	struct link *link;
	struct termios2 term;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(name, sizeof(name), "%s/uart", dir);
	ck_assert_int_eq(symlink(slave_path, name), 0);
	link_close(link_under_test);
	link_under_test = NULL;
	ck_assert_int_eq(link_open(&link, &config), 0);
	ck_assert_str_eq(link_path(link), slave_path);
	ck_assert_int_eq(link_set_baud(link, 57600), 0);
	close(master_fd);
	ck_assert_int_eq(link_read(link, text, 1, 2000), -ENODEV);
	ck_assert_int_eq(unlink(name), 0);
	ck_assert_int_eq(link_reopen(link, 50), -ENOENT);
	ck_assert_int_eq(link_read(link, text, 1, 0), -ENODEV);
	open_master();
	ck_assert_int_eq(symlink(slave_path, name), 0);
	ck_assert_int_eq(link_reopen(link, 2000), 0);
	ck_assert_int_eq(ioctl(master_fd, TCGETS2, &term), 0);
	ck_assert_uint_eq(term.c_ospeed, 57600);
	ck_assert_int_eq(write(master_fd, "k", 1), 1);
	ck_assert_int_eq(link_read(link, text, 1, 2000), 1);
	link_close(link);
	unlink(name);
	rmdir(dir);
}
END_TEST

START_TEST(two_names_of_one_port_resolve_to_the_same_path)
{
	char dir[] = "/tmp/check_link.XXXXXX", name[64], one[128], two[128], error[128];
	struct link_config config = {.driver = "pty", .path = slave_path};

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(name, sizeof(name), "%s/uart", dir);
	ck_assert_int_eq(symlink(slave_path, name), 0);
	ck_assert_int_eq(link_resolve(&config, one, sizeof(one), error, sizeof(error)), 0);
	config.path = name;
	ck_assert_int_eq(link_resolve(&config, two, sizeof(two), error, sizeof(error)), 0);
	ck_assert_str_eq(one, two);
	config.driver = "none";
	ck_assert_int_eq(link_resolve(&config, two, sizeof(two), error, sizeof(error)), -EINVAL);
	ck_assert_str_eq(two, "");
	unlink(name);
	rmdir(dir);
}
END_TEST

/* ---------------------------------------------------------------- matching */

static const struct portmatch_candidate candidates[] = {
	{.path = "/dev/ttyS0"},
	{.path = "/dev/ttyUSB0",
		.is_usb = true,
		.vendor = 0x1a86,
		.product = 0x7523,
		.usb_path = "pci-0000:00:14.0-usb-0:3:1.0"},
	{.path = "/dev/ttyUSB1",
		.is_usb = true,
		.vendor = 0x1a86,
		.product = 0x7523,
		.usb_path = "pci-0000:00:14.0-usb-0:13:1.0"},
	{.path = "/dev/ttyUSB2",
		.is_usb = true,
		.vendor = 0x0403,
		.product = 0x6001,
		.serial = "A5",
		.usb_path = "pci-0000:00:14.0-usb-0:4.1:1.0"},
	{.path = "/dev/ttyUSB3",
		.is_usb = true,
		.vendor = 0x0403,
		.product = 0x6001,
		.serial = "A50",
		.usb_path = "pci-0000:00:14.0-usb-0:4.2:1.0"},
};

static int choose(const char *usb, const char *serial, const char *usb_path, char error[512])
{
	const struct link_config config = {
		.driver = "serial", .usb = usb, .usb_serial = serial, .usb_path = usb_path};

	error[0] = '\0';
	return portmatch_choose(
		&config, candidates, sizeof(candidates) / sizeof(candidates[0]), error, 512);
}

START_TEST(one_port_is_chosen_by_what_identifies_it)
{
	char error[512];

	ck_assert_int_eq(choose("0403:6001", "A5", NULL, error), 3);
	ck_assert_int_eq(choose(NULL, "A50", NULL, error), 4);
	ck_assert_int_eq(choose(NULL, NULL, "usb-0:3:1.0", error), 1);
	ck_assert_int_eq(choose("1a86:7523", NULL, "pci-0000:00:14.0-usb-0:13:1.0", error), 2);
	ck_assert_int_eq(choose("1A86:7523", NULL, "usb-0:13:1.0", error), 2);
}
END_TEST

START_TEST(two_candidates_are_refused_and_named)
{
	char error[512];

	ck_assert_int_eq(choose("1a86:7523", NULL, NULL, error), -ENOTUNIQ);
	ck_assert_ptr_nonnull(strstr(error, "/dev/ttyUSB0"));
	ck_assert_ptr_nonnull(strstr(error, "/dev/ttyUSB1"));
}
END_TEST

START_TEST(no_candidate_is_told_with_the_ports_present)
{
	char error[512];

	ck_assert_int_eq(choose("0403:6001", "B7", NULL, error), -ENOENT);
	ck_assert_ptr_nonnull(strstr(error, "B7"));
	ck_assert_ptr_nonnull(strstr(error, "/dev/ttyUSB2 (0403:6001 A5"));
	ck_assert_int_eq(choose(NULL, NULL, "3:1.0", error), -ENOENT);
	ck_assert_int_eq(choose("0403-6001", NULL, NULL, error), -EINVAL);
	ck_assert_int_eq(choose("0403:6001x", NULL, NULL, error), -EINVAL);
}
END_TEST

START_TEST(a_usb_path_is_named_as_udev_names_it)
{
	char path[128];

	portmatch_usb_path("/sys/devices/pci0000:00/0000:00:14.0/usb1/1-3/1-3:1.0/ttyUSB0", path,
		sizeof(path));
	ck_assert_str_eq(path, "pci-0000:00:14.0-usb-0:3:1.0");
	portmatch_usb_path("/sys/devices/pci0000:00/0000:00:14.0/usb2/2-4/2-4.1/2-4.1:1.2/ttyUSB1",
		path, sizeof(path));
	ck_assert_str_eq(path, "pci-0000:00:14.0-usb-0:4.1:1.2");
	portmatch_usb_path("/sys/devices/platform/soc/4200000.usb/usb1/1-1/1-1:1.0/tty/ttyACM0",
		path, sizeof(path));
	ck_assert_str_eq(path, "platform-4200000.usb-usb-0:1:1.0");
	portmatch_usb_path("/sys/devices/platform/serial8250/tty/ttyS0", path, sizeof(path));
	ck_assert_str_eq(path, "");
	portmatch_usb_path(
		"/sys/devices/pci0000:00/0000:00:14.0/usb1/1-3/1-3:1.0/ttyUSB0", path, 8);
	ck_assert_str_eq(path, "");
}
END_TEST

/* ---------------------------------------------------------------- libserialport */

/*
 * libserialport refuses a pty: it wants an entry below /sys/class/tty and modem
 * lines. These definitions come before libc's for its calls, so that all the
 * rest is the real library on a real tty.
 */
static bool modem_lines_are_faked;
static int modem_lines = TIOCM_DTR | TIOCM_RTS;
static int breaks;

int ioctl(int fd, unsigned long request, ...)
{
	static int (*real)(int, unsigned long, ...);
	va_list args;
	void *argument;

	va_start(args, request);
	argument = va_arg(args, void *);
	va_end(args);
	if (!real)
		real = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
	if (modem_lines_are_faked) {
		switch (request) {
		case TIOCMGET:
			*(int *)argument = modem_lines;
			return 0;
		case TIOCMBIS:
			modem_lines |= *(int *)argument;
			return 0;
		case TIOCMBIC:
			modem_lines &= ~*(int *)argument;
			return 0;
		case TIOCMSET:
			modem_lines = *(int *)argument;
			return 0;
		case TIOCSBRK:
			breaks++;
			return 0;
		case TIOCCBRK:
			breaks--;
			return 0;
		default:
			break;
		}
	}
	return real(fd, request, argument);
}

/* What lstat() was to a library built against an older libc. */
int __lxstat(int version, const char *path, struct stat *result);
int __lxstat(int version, const char *path, struct stat *result)
{
	if (modem_lines_are_faked && !strncmp(path, "/sys/class/tty/pts/", 19))
		path = "/sys/class/tty";
	ck_assert_int_ge(version, 0);
	return lstat(path, result);
}

int lstat(const char *restrict path, struct stat *restrict result)
{
	if (modem_lines_are_faked && !strncmp(path, "/sys/class/tty/pts/", 19))
		path = "/sys/class/tty";
	return fstatat(AT_FDCWD, path, result, AT_SYMLINK_NOFOLLOW);
}

ssize_t readlink(const char *restrict path, char *restrict target, size_t size)
{
	static const char native[] = "../../serial8250";

	if (!modem_lines_are_faked || strncmp(path, "/sys/class/tty/pts/", 19) != 0)
		return readlinkat(AT_FDCWD, path, target, size);
	ck_assert_uint_gt(size, sizeof(native));
	memcpy(target, native, sizeof(native));
	return sizeof(native) - 1;
}

START_TEST(the_serial_driver_needs_a_match)
{
	struct link_config config = {.driver = "serial"};
	struct link *link;

	ck_assert_int_eq(link_open(&link, &config), -EINVAL);
	ck_assert_ptr_nonnull(strstr(link_error(link), "match"));
	link_close(link);
	config.usb = "dead:beef";
	config.usb_serial = "none such";
	ck_assert_int_eq(link_open(&link, &config), -ENOENT);
	ck_assert_ptr_nonnull(strstr(link_error(link), "dead:beef"));
	link_close(link);
}
END_TEST

START_TEST(the_serial_driver_works_through_libserialport)
{
	const struct link_config config = {.driver = "serial", .path = slave_path, .baud = 57600};
	struct termios2 term;
	struct link *link;
	char text[8] = "";

	link_close(link_under_test);
	modem_lines_are_faked = true;
	ck_assert_msg(!link_open(&link, &config), "%s", link_error(link));
	link_under_test = link;
	ck_assert_int_eq(modem_lines & (TIOCM_DTR | TIOCM_RTS), 0);
	ck_assert_int_eq(ioctl(master_fd, TCGETS2, &term), 0);
	ck_assert_uint_eq(term.c_ospeed, 57600);
	ck_assert_uint_eq(term.c_cflag & HUPCL, 0);
	ck_assert_uint_eq(term.c_lflag, 0);
	ck_assert_int_eq(link_write(link, "a\r\n\x03", 4), 0);
	read_master(text, 4);
	ck_assert_mem_eq(text, "a\r\n\x03", 4);
	ck_assert_int_eq(write(master_fd, "b\r\n", 3), 3);
	read_link(text, 3);
	ck_assert_mem_eq(text, "b\r\n", 3);
	ck_assert_int_eq(link_set_baud(link, 115384), 0);
	ck_assert_int_eq(link_break(link, true), 0);
	ck_assert_int_eq(breaks, 1);
	ck_assert_int_eq(link_break(link, false), 0);
	ck_assert_int_eq(breaks, 0);
	close(master_fd);
	master_fd = -1;
	ck_assert_int_eq(link_read(link, text, 1, 2000), -ENODEV);
	ck_assert_int_eq(link_write(link, "x", 1), -ENODEV);
}
END_TEST

/* ---------------------------------------------------------------- tables */

START_TEST(every_driver_is_complete)
{
	for (size_t i = 0; drivers_link[i]; i++) {
		const struct link_driver *d = drivers_link[i];

		ck_assert(d->name && d->resolve && d->open && d->close && d->read && d->write &&
			  d->drain && d->set_baud && d->flush);
		ck_assert_uint_ge(d->instance_size, sizeof(struct link));
	}
	for (size_t i = 0; drivers_power[i]; i++) {
		const struct power_driver *d = drivers_power[i];

		ck_assert(d->name && d->set && d->channels);
		ck_assert((d->needs & POWER_NEED_PORT) ? d->baud != 0 : !d->baud);
		ck_assert(d->prove || !d->get);
		ck_assert_uint_ge(d->instance_size, sizeof(struct power));
	}
	for (size_t i = 0; drivers_sdmux[i]; i++) {
		const struct sdmux_driver *d = drivers_sdmux[i];

		ck_assert(d->name && d->set);
		ck_assert_uint_ge(d->instance_size, sizeof(struct sdmux));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("link");
	TCase *plain = tcase_create("plain"), *pty = tcase_create("pty");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(plain, an_unknown_driver_is_refused_with_the_known_ones_named);
	tcase_add_test(plain, a_path_that_is_missing_or_no_tty_is_refused);
	tcase_add_test(plain, one_port_is_chosen_by_what_identifies_it);
	tcase_add_test(plain, two_candidates_are_refused_and_named);
	tcase_add_test(plain, no_candidate_is_told_with_the_ports_present);
	tcase_add_test(plain, a_usb_path_is_named_as_udev_names_it);
	tcase_add_test(plain, the_serial_driver_needs_a_match);
	tcase_add_test(plain, every_driver_is_complete);
	suite_add_tcase(suite, plain);
	tcase_add_checked_fixture(pty, set_up, tear_down);
	tcase_set_timeout(pty, 20);
	tcase_add_test(pty, all_byte_values_pass_unchanged_both_ways);
	tcase_add_test(pty, a_read_without_bytes_ends_after_its_timeout);
	tcase_add_test(pty, a_write_lasts_as_long_as_the_line_needs);
	tcase_add_test(pty, a_hang_up_is_no_timeout);
	tcase_add_test(pty, a_port_has_one_owner);
	tcase_add_test(pty, rates_reach_the_line_also_uneven_ones);
	tcase_add_test(pty, the_line_is_raw_and_does_not_hang_up_on_close);
	tcase_add_test(pty, the_tap_sees_every_chunk_in_order);
	tcase_add_test(pty, flush_throws_away_what_was_not_read);
	tcase_add_test(pty, a_pty_cannot_hold_a_break);
	tcase_add_test(pty, a_write_that_nobody_reads_ends);
	tcase_add_test(pty, a_port_that_comes_back_is_opened_by_its_name);
	tcase_add_test(pty, two_names_of_one_port_resolve_to_the_same_path);
	tcase_add_test(pty, the_serial_driver_works_through_libserialport);
	suite_add_tcase(suite, pty);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
