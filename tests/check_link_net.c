/* SPDX-License-Identifier: Apache-2.0 */
/* Consoles over a network: telnet's bytes, a real ser2net, and servers that go wrong. */
#include <check.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "boardctl/link.h"
#include "boardctl/monotonic.h"
#include "boardctl/telnet.h"
#include "tests/server_rig.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PATIENCE_MS  10000

/* ----------------------------------------------------------------- telnet */

static const uint8_t opening[] = {255, 251, 44, 255, 251, 0, 255, 253, 0, 255, 251, 3, 255, 253, 3};

START_TEST(telnet_asks_for_the_com_port_and_eight_bits)
{
	struct telnet telnet;

	telnet_init(&telnet);
	ck_assert_uint_eq(telnet.reply_size, sizeof(opening));
	ck_assert_mem_eq(telnet.reply, opening, sizeof(opening));
}
END_TEST

START_TEST(telnet_finds_data_answers_and_questions_cut_anywhere)
{
	static const uint8_t line[] = {'a', 255, 255, 'b', 255, 253, 44, 255, 250, 44, 101, 0, 1,
		194, 0, 255, 240, 'c', 255, 253, 24, 255, 251, 1, 255, 250, 44, 101, 0, 0, 255, 255,
		1, 255, 240, 0, 255, 254, 99, 255, 241, 'd'};
	/* 24 (terminal type) is refused, 1 (the server echoes) is fine. */
	static const uint8_t replies[] = {255, 252, 24, 255, 253, 1};
	static const uint8_t data[] = {'a', 255, 'b', 'c', 0, 'd'};

	for (size_t piece = 1; piece <= sizeof(line); piece++) {
		struct telnet telnet;
		uint8_t got[sizeof(line)];
		size_t used = 0;

		telnet_init(&telnet);
		telnet.reply_size = 0;
		for (size_t at = 0; at < sizeof(line); at += piece)
			used += telnet_feed(&telnet, line + at,
				piece < sizeof(line) - at ? piece : sizeof(line) - at, got + used);
		ck_assert_uint_eq(used, sizeof(data));
		ck_assert_mem_eq(got, data, sizeof(data));
		ck_assert_uint_eq(telnet.reply_size, sizeof(replies));
		ck_assert_mem_eq(telnet.reply, replies, sizeof(replies));
		ck_assert_uint_eq(telnet.will[TELNET_COM_PORT], TELNET_SIDE_YES);
		ck_assert_uint_eq(telnet.answer_count[TELNET_SET_BAUDRATE], 2);
		ck_assert_uint_eq(telnet.answers[TELNET_SET_BAUDRATE], 0xff01);
	}
}
END_TEST

START_TEST(telnet_writes_what_rfc_2217_says)
{
	static const uint8_t rate[] = {255, 250, 44, 1, 0, 1, 194, 0, 255, 240};
	static const uint8_t marked[] = {255, 250, 44, 1, 0, 0, 255, 255, 1, 255, 240};
	static const uint8_t data[] = {0, 255, 13, 255};
	static const uint8_t escaped[] = {0, 255, 255, 13, 255, 255};
	uint8_t out[16];

	ck_assert_uint_eq(telnet_com_port(TELNET_SET_BAUDRATE, 115200, 4, out), sizeof(rate));
	ck_assert_mem_eq(out, rate, sizeof(rate));
	ck_assert_uint_eq(telnet_com_port(TELNET_SET_BAUDRATE, 0xff01, 4, out), sizeof(marked));
	ck_assert_mem_eq(out, marked, sizeof(marked));
	ck_assert_uint_eq(telnet_escape(data, sizeof(data), out), sizeof(escaped));
	ck_assert_mem_eq(out, escaped, sizeof(escaped));
}
END_TEST

START_TEST(telnet_bears_any_bytes_and_questions_without_end)
{
	struct telnet telnet;
	uint32_t seed = 7;
	uint8_t bytes[256];

	telnet_init(&telnet);
	for (unsigned i = 0; i < 4000; i++) {
		for (size_t k = 0; k < sizeof(bytes); k++) {
			seed = seed * 1664525u + 1013904223u;
			bytes[k] = seed >> 31 ? 255 : (uint8_t)(240 + (seed >> 24) % 16);
		}
		ck_assert_uint_le(telnet_feed(&telnet, bytes, sizeof(bytes), bytes), sizeof(bytes));
		ck_assert_uint_le(telnet.reply_size, sizeof(telnet.reply));
	}
}
END_TEST

/* ---------------------------------------------------------------- ser2net */

static struct scratch scratch;
static struct server_rig server;
static int master_fd;
static char slave_path[64];

static void set_up(void)
{
	struct termios term;
	int slave;

	scratch_init(&scratch);
	master_fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_ge(master_fd, 0);
	ck_assert_int_eq(grantpt(master_fd) || unlockpt(master_fd), 0);
	ck_assert_int_eq(ptsname_r(master_fd, slave_path, sizeof(slave_path)), 0);
	slave = open(slave_path, O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_eq(tcgetattr(slave, &term), 0);
	cfmakeraw(&term);
	ck_assert_int_eq(tcsetattr(slave, TCSANOW, &term), 0);
	/* Kept open: a master without a slave only hangs up. */
}

static void tear_down(void)
{
	server_rig_stop(&server);
	close(master_fd);
	scratch_fini(&scratch);
}

static const char *const protocols[][2] = {{"tcp", "tcp"}, {"rfc2217", "telnet(rfc2217),tcp"}};

static struct link *open_link(size_t i, uint32_t baud)
{
	struct link_config config = {
		.driver = protocols[i][0], .address = server.address, .baud = baud};
	struct link *link;

	ck_assert_msg(link_open(&link, &config) == 0, "%s", link_error(link));
	return link;
}

static void read_all(struct link *link, uint8_t *bytes, size_t size)
{
	for (size_t used = 0; used < size;) {
		ssize_t got = link_read(link, bytes + used, size - used, PATIENCE_MS);

		ck_assert_msg(got > 0, "%zd after %zu: %s", got, used, link_error(link));
		used += (size_t)got;
	}
}

static void read_master(uint8_t *bytes, size_t size)
{
	for (size_t used = 0; used < size;) {
		struct pollfd entry = {.fd = master_fd, .events = POLLIN};
		ssize_t got;

		ck_assert_int_eq(poll(&entry, 1, PATIENCE_MS), 1);
		got = read(master_fd, bytes + used, size - used);
		ck_assert_int_gt(got, 0);
		used += (size_t)got;
	}
}

START_TEST(all_byte_values_pass_ser2net_both_ways)
{
	uint8_t bytes[1024], back[1024];
	struct link *link;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7 + i / 256);
	server_rig_start_ser2net(&server, &scratch, slave_path, protocols[_i][1]);
	link = open_link((size_t)_i, 115200);
	ck_assert_int_eq(link_write(link, bytes, sizeof(bytes)), 0);
	read_master(back, sizeof(back));
	ck_assert_mem_eq(back, bytes, sizeof(bytes));
	ck_assert_int_eq(write(master_fd, bytes, sizeof(bytes)), sizeof(bytes));
	memset(back, 0, sizeof(back));
	read_all(link, back, sizeof(back));
	ck_assert_mem_eq(back, bytes, sizeof(bytes));
	ck_assert_int_eq(link_read(link, back, 1, 20), 0);
	link_close(link);
}
END_TEST

START_TEST(a_server_that_ends_is_a_port_that_is_gone_and_comes_back)
{
	struct link *link;
	uint8_t byte;

	server_rig_start_ser2net(&server, &scratch, slave_path, protocols[_i][1]);
	link = open_link((size_t)_i, 115200);
	server_rig_stop(&server);
	ck_assert_int_eq(link_read(link, &byte, 1, PATIENCE_MS), -ENODEV);
	ck_assert_ptr_nonnull(strstr(link_error(link), server.address));
	ck_assert_int_lt(link_reopen(link, 50), 0);
	link_close(link);
	ck_assert_uint_eq(link_count_reopens(NULL), 0);
}
END_TEST

static speed_t get_rate(void)
{
	struct termios term;

	ck_assert_int_eq(tcgetattr(master_fd, &term), 0);
	return cfgetospeed(&term);
}

START_TEST(rates_reach_the_port_behind_the_server)
{
	struct link *link;

	server_rig_start_ser2net(&server, &scratch, slave_path, protocols[1][1]);
	link = open_link(1, 57600);
	ck_assert_uint_eq(get_rate(), B57600);
	ck_assert_msg(link_set_baud(link, 9600) == 0, "%s", link_error(link));
	ck_assert_uint_eq(get_rate(), B9600);
	ck_assert_msg(link_set_baud(link, 1500000) == 0, "%s", link_error(link));
	ck_assert_uint_eq(get_rate(), B1500000);
	ck_assert_uint_eq(link_get_baud(link), 1500000);
	ck_assert_int_eq(write(master_fd, "old", 3), 3);
	ck_assert_msg(link_flush(link) == 0, "%s", link_error(link));
	link_close(link);
	link = open_link(0, 1500000); /* the tcp driver speaks to it as well, and sees telnet */
	ck_assert_int_eq(link_set_baud(link, 9600), -ENOTSUP);
	ck_assert_ptr_nonnull(strstr(link_error(link), "rfc2217"));
	link_close(link);
}
END_TEST

START_TEST(a_server_without_the_com_port_is_told)
{
	struct link_config config = {.driver = "rfc2217", .address = server.address};
	struct link *link;

	server_rig_start_ser2net(&server, &scratch, slave_path, "telnet,tcp");
	ck_assert_int_eq(link_open(&link, &config), -EPROTO);
	ck_assert_ptr_nonnull(strstr(link_error(link), "RFC 2217"));
	ck_assert_ptr_nonnull(strstr(link_error(link), "tcp driver"));
	link_close(link);
}
END_TEST

/* ------------------------------------------------------- servers of the test */

/* What a server sends to one client before it ends the connection or says no more. */
struct script {
	const uint8_t *bytes;
	size_t size;
	bool hangs_up;
	int listener;
	pthread_t thread;
	char address[32];
};

static void *play(void *context)
{
	struct script *script = context;
	int fd = accept(script->listener, NULL, NULL);
	char rest[256];

	if (script->size)
		send(fd, script->bytes, script->size, MSG_NOSIGNAL);
	if (script->hangs_up)
		shutdown(fd, SHUT_WR);
	while (recv(fd, rest, sizeof(rest), 0) > 0)
		;
	close(fd);
	return NULL;
}

static void start_script(struct script *script)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);

	script->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(script->listener, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(script->listener, 1), 0);
	ck_assert_int_eq(getsockname(script->listener, (struct sockaddr *)&address, &size), 0);
	snprintf(script->address, sizeof(script->address), "127.0.0.1:%u",
		(unsigned)ntohs(address.sin_port));
	ck_assert_int_eq(pthread_create(&script->thread, NULL, play, script), 0);
}

static void stop_script(struct script *script)
{
	pthread_join(script->thread, NULL);
	close(script->listener);
}

#define AGREES 255, 253, 44, 255, 253, 0, 255, 251, 0

static const uint8_t silent[] = {0};
static const uint8_t login[] = "\r\nUser Access Verification\r\nPassword: ";
static const uint8_t no_answer[] = {AGREES};
static const uint8_t half_answer[] = {AGREES, 255, 250, 44, 101, 0, 1};
static const uint8_t wrong_rate[] = {AGREES, 255, 250, 44, 101, 0, 0, 37, 128, 255, 240};
static const uint8_t seven_bits[] = {255, 253, 44, 255, 254, 0, 255, 252, 0};
static const uint8_t wrong_size[] = {
	AGREES, 255, 250, 44, 101, 0, 1, 194, 0, 255, 240, 255, 250, 44, 102, 7, 255, 240};

static const struct {
	const uint8_t *bytes;
	size_t size;
	bool hangs_up;
	int error;
	const char *says;
} wrong[] = {
	{silent, 0, false, -EPROTO, "does not answer to"},
	{login, sizeof(login) - 1, false, -EPROTO, "does not answer to"},
	{login, sizeof(login) - 1, true, -ENODEV, "connection is gone"},
	{no_answer, sizeof(no_answer), false, -ETIMEDOUT, "change of the rate"},
	{no_answer, sizeof(no_answer), true, -ENODEV, "connection is gone"},
	{half_answer, sizeof(half_answer), false, -ETIMEDOUT, "change of the rate"},
	{half_answer, sizeof(half_answer), true, -ENODEV, "connection is gone"},
	{seven_bits, sizeof(seven_bits), false, -EPROTO, "refuses 8-bit"},
};

START_TEST(a_server_that_is_silent_wrong_or_half_is_told)
{
	struct script script = {
		.bytes = wrong[_i].bytes, .size = wrong[_i].size, .hangs_up = wrong[_i].hangs_up};
	struct link_config config = {.driver = "rfc2217", .address = script.address};
	struct link *link;
	int ret;

	start_script(&script);
	ret = link_open(&link, &config);
	ck_assert_msg(ret == wrong[_i].error, "%d: %s", ret, link_error(link));
	ck_assert_msg(strstr(link_error(link), wrong[_i].says), "%s", link_error(link));
	ck_assert_ptr_nonnull(strstr(link_error(link), script.address));
	link_close(link);
	stop_script(&script);
}
END_TEST

/* Says its answers only once it was asked, as a real one. */
static void *play_late(void *context)
{
	struct script *script = context;
	int fd = accept(script->listener, NULL, NULL);
	static const uint8_t mark[] = {44, 1}; /* SET-BAUDRATE */
	uint8_t seen[4096];
	size_t used = 0;
	ssize_t got;

	send(fd, no_answer, sizeof(no_answer), MSG_NOSIGNAL);
	while ((got = recv(fd, seen + used, sizeof(seen) - used, 0)) > 0) {
		used += (size_t)got;
		if (memmem(seen, used, mark, sizeof(mark))) {
			send(fd, script->bytes, script->size, MSG_NOSIGNAL);
			break;
		}
	}
	while (recv(fd, seen, sizeof(seen), 0) > 0)
		;
	close(fd);
	return NULL;
}

START_TEST(a_port_that_is_not_as_it_was_told_is_refused)
{
	static const struct {
		const uint8_t *bytes;
		size_t size;
		const char *says;
	} rows[] = {
		{wrong_rate + 9, sizeof(wrong_rate) - 9, "rate of 115200 and has 9600"},
		{wrong_size + 9, sizeof(wrong_size) - 9, "data size of 8 and has 7"},
	};
	struct script script = {.bytes = rows[_i].bytes, .size = rows[_i].size};
	struct link_config config = {.driver = "rfc2217", .address = script.address};
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	struct link *link;
	int ret;

	script.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(script.listener, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(script.listener, 1), 0);
	ck_assert_int_eq(getsockname(script.listener, (struct sockaddr *)&address, &size), 0);
	snprintf(script.address, sizeof(script.address), "127.0.0.1:%u",
		(unsigned)ntohs(address.sin_port));
	ck_assert_int_eq(pthread_create(&script.thread, NULL, play_late, &script), 0);
	ret = link_open(&link, &config);
	/* The wrong size comes before it is asked for, so it counts for nothing. */
	ck_assert_int_eq(ret, _i == 0 ? -EINVAL : -ETIMEDOUT);
	if (_i == 0)
		ck_assert_msg(strstr(link_error(link), rows[_i].says), "%s", link_error(link));
	link_close(link);
	stop_script(&script);
}
END_TEST

START_TEST(an_address_that_is_none_or_nobody_is_at_is_told)
{
	static const char *const bad[] = {NULL, "", "host", "host:", ":1", "::1:22", "h:1x"};
	struct link_config config = {.driver = "tcp"};
	char address[32];
	struct link *link;

	for (size_t i = 0; i < COUNT(bad); i++) {
		config.address = bad[i];
		ck_assert_int_eq(link_open(&link, &config), -EINVAL);
		ck_assert_ptr_nonnull(strstr(link_error(link), "HOST:PORT"));
		link_close(link);
	}
	snprintf(address, sizeof(address), "[::1]:%u", server_rig_find_port());
	config.address = address;
	ck_assert_int_lt(link_open(&link, &config), 0);
	ck_assert_ptr_nonnull(strstr(link_error(link), address));
	link_close(link);
	snprintf(address, sizeof(address), "127.0.0.1:%u", server_rig_find_port());
	ck_assert_int_eq(link_open(&link, &config), -ECONNREFUSED);
	link_close(link);
}
END_TEST

/* ------------------------------------------------------------------ reopen */

START_TEST(a_link_that_may_reopen_itself_does_and_counts)
{
	struct link_config config = {.driver = "pty", .reopen_ms = PATIENCE_MS};
	char name[256];
	struct link *link;
	uint8_t byte = 0;
	int second, ret;
	char second_path[64];

	snprintf(name, sizeof(name), "%s", scratch_path(&scratch, "uart"));
	ck_assert_int_eq(symlink(slave_path, name), 0);
	config.path = name;
	ck_assert_int_eq(link_open(&link, &config), 0);
	second = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_eq(grantpt(second) || unlockpt(second), 0);
	ck_assert_int_eq(ptsname_r(second, second_path, sizeof(second_path)), 0);
	/* The adapter goes, and comes back under the same name as another device. */
	ck_assert_int_eq(unlink(name), 0);
	ck_assert_int_eq(symlink(second_path, name), 0);
	close(master_fd);
	master_fd = second;
	ret = (int)link_read(link, &byte, 1, 50);
	ck_assert_msg(ret == 0, "%d: %s", ret, link_error(link));
	ck_assert_uint_eq(link_count_reopens(link), 1);
	ck_assert_int_eq(write(master_fd, "x", 1), 1);
	read_all(link, &byte, 1);
	ck_assert_uint_eq(byte, 'x');
	link_close(link);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("link_net");
	TCase *telnet = tcase_create("telnet"), *net = tcase_create("net");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(telnet, telnet_asks_for_the_com_port_and_eight_bits);
	tcase_add_test(telnet, telnet_finds_data_answers_and_questions_cut_anywhere);
	tcase_add_test(telnet, telnet_writes_what_rfc_2217_says);
	tcase_add_test(telnet, telnet_bears_any_bytes_and_questions_without_end);
	suite_add_tcase(suite, telnet);
	tcase_add_checked_fixture(net, set_up, tear_down);
	tcase_set_timeout(net, 60);
	tcase_add_loop_test(net, all_byte_values_pass_ser2net_both_ways, 0, 2);
	tcase_add_loop_test(net, a_server_that_ends_is_a_port_that_is_gone_and_comes_back, 0, 2);
	tcase_add_test(net, rates_reach_the_port_behind_the_server);
	tcase_add_test(net, a_server_without_the_com_port_is_told);
	tcase_add_loop_test(
		net, a_server_that_is_silent_wrong_or_half_is_told, 0, (int)COUNT(wrong));
	tcase_add_loop_test(net, a_port_that_is_not_as_it_was_told_is_refused, 0, 2);
	tcase_add_test(net, an_address_that_is_none_or_nobody_is_at_is_told);
	tcase_add_test(net, a_link_that_may_reopen_itself_does_and_counts);
	suite_add_tcase(suite, net);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
