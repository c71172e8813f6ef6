/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <termios.h>
#include <unistd.h>

#include "boardctl/monotonic.h"
#include "boardctl/shell.h"
#include "harness/bootrules.h"

/*
 * A system behind a pty with a shell like NuttX': it echoes each byte, ends its
 * prompt with ESC[K and knows `echo`; any other line is kept as the last one run.
 */
static struct {
	const char *banner; /* said at power-on, before the prompt */
	bool is_unnamed;    /* the watcher knows no prompt of it */
	const char *behind; /* said behind the prompt: it hides it */
	bool has_login;
	bool refuses;	       /* the login */
	bool is_deaf;	       /* prints a prompt and reads nothing */
	unsigned change_every; /* this many bytes, one is received as another */
	unsigned eat_every;    /* this many bytes, one is not received */

	unsigned received, lines, empty_lines;
	char last[128]; /* line that was run, but echo */
	int master_fd, slave_fd, stop_fd;
	char path[64];
	pthread_t thread;
} board;

static struct link *uart;
static struct bootrules *rules;
static struct watcher watcher;
static struct shell *shell;

static void say(const char *text)
{
	ck_assert_int_eq(write(board.master_fd, text, strlen(text)), (ssize_t)strlen(text));
}

/* A byte, or -1: the test ends. */
static int hear(void)
{
	for (;;) {
		struct pollfd entries[] = {{.fd = board.master_fd, .events = POLLIN},
			{.fd = board.stop_fd, .events = POLLIN}};
		unsigned char byte;

		if (poll(entries, 2, -1) < 0 || entries[1].revents ||
			read(board.master_fd, &byte, 1) != 1)
			return -1;
		board.received++;
		if (board.eat_every && board.received % board.eat_every == 0)
			continue;
		return board.change_every && board.received % board.change_every == 0 ? byte ^ 1
										      : byte;
	}
}

static bool read_line(char *line, size_t size, bool has_echo)
{
	size_t used = 0;
	int byte;

	while ((byte = hear()) >= 0 && byte != '\r') {
		char echo[2] = {(char)byte, '\0'};

		if (has_echo)
			say(echo);
		if (used < size - 1)
			line[used++] = (char)byte;
	}
	line[used] = '\0';
	if (byte >= 0)
		say("\r\n");
	return byte >= 0;
}

static bool log_in(void)
{
	char name[32], password[32];

	for (;;) {
		say("panel login: ");
		if (!read_line(name, sizeof(name), true))
			return false;
		say("Password: ");
		if (!read_line(password, sizeof(password), false))
			return false;
		if (!board.refuses && !strcmp(name, "root") && !strcmp(password, "secret"))
			return true;
		say("\r\nLogin incorrect\r\n");
	}
}

static void *run_board(void *context)
{
	char line[128];

	(void)context;
	say(board.banner ? board.banner : "\r\nNuttShell (NSH) NuttX-13.0.1\r\n");
	if (board.has_login && !log_in())
		return NULL;
	for (;;) {
		say("nsh> \x1b[K");
		if (board.behind)
			say(board.behind);
		board.behind = NULL;
		if (board.is_deaf) {
			while (hear() >= 0)
				;
			return NULL;
		}
		if (!read_line(line, sizeof(line), true))
			return NULL;
		board.lines++;
		if (!line[0]) {
			board.empty_lines++;
		} else if (!strncmp(line, "echo ", 5)) {
			say(line + 5);
			say("\r\n");
		} else if (!strcmp(line, "state")) {
			say("booting\r\n2 jobs\r\n");
		} else if (!strcmp(line, "poweroff")) {
			say("stopping\r\n[    9.1] reboot: Power down\r\n");
		} else {
			strcpy(board.last, line);
			say("nsh: command not found\r\n");
		}
	}
}

static void start(const struct shell_config *config)
{
	struct shell_config complete = *config;
	struct termios settings;
	struct watcher_config watched = {
		.rules = bootrules_get(rules), .shell_prompt = board.is_unnamed ? NULL : "nsh> "};
	struct link_config port = {.driver = "pty", .path = board.path};

	board.master_fd = posix_openpt(O_RDWR | O_NOCTTY);
	ck_assert(board.master_fd >= 0 && !grantpt(board.master_fd) && !unlockpt(board.master_fd));
	ck_assert_int_eq(ptsname_r(board.master_fd, board.path, sizeof(board.path)), 0);
	board.slave_fd = open(board.path, O_RDWR | O_NOCTTY);
	tcgetattr(board.slave_fd, &settings);
	cfmakeraw(&settings);
	tcsetattr(board.slave_fd, TCSANOW, &settings);
	board.stop_fd = eventfd(0, 0);
	ck_assert_msg(!link_open(&uart, &port), "%s", link_error(uart));
	ck_assert_int_eq(watcher_init(&watcher, &watched), 0);
	watcher_restart(&watcher, monotonic_get_ms());
	if (!complete.prompt)
		complete.prompt = "nsh> ";
	ck_assert_int_eq(shell_new(&shell, uart, &watcher, &complete), 0);
	ck_assert_int_eq(pthread_create(&board.thread, NULL, run_board, NULL), 0);
}

static void stop(void)
{
	uint64_t one = 1;

	ck_assert_int_eq(write(board.stop_fd, &one, sizeof(one)), sizeof(one));
	pthread_join(board.thread, NULL);
	board.thread = 0;
}

static void set_up(void)
{
	memset(&board, 0, sizeof(board));
	uart = NULL;
	shell = NULL;
	ck_assert_int_eq(bootrules_open(&rules, NULL), 0);
}

static void tear_down(void)
{
	if (board.thread)
		stop();
	shell_free(shell);
	link_close(uart);
	close(board.master_fd);
	close(board.slave_fd);
	close(board.stop_fd);
	bootrules_close(rules);
}

static void reach_prompt(int expected)
{
	int ret = shell_wait_prompt(shell, 20000);

	ck_assert_msg(ret == expected, "%d: %s", ret, shell_error(shell));
}

/* Until the board has read the line; then it says so. */
static void read_answer(void)
{
	char text[512];
	size_t used = 0;

	while (used < sizeof(text) - 1 && !memmem(text, used, "not found", 9)) {
		ssize_t got = link_read(uart, text + used, sizeof(text) - 1 - used, 5000);

		ck_assert_int_gt(got, 0);
		used += (size_t)got;
	}
	stop();
}

static void start_line(const char *line)
{
	int ret = shell_start(shell, line);

	ck_assert_msg(!ret, "%d: %s", ret, shell_error(shell));
	read_answer();
	ck_assert_str_eq(board.last, line);
}

START_TEST(a_line_is_typed_at_a_prompt_that_has_answered)
{
	start(&(struct shell_config){.echo_ms = 0});
	reach_prompt(0);
	ck_assert_int_eq(watcher_state(&watcher), WATCHER_STATE_SHELL);
	start_line("sameboard");
	ck_assert_uint_eq(board.empty_lines, 0);
	ck_assert_uint_eq(board.lines, 2);
}
END_TEST

START_TEST(the_longest_line_of_the_smallest_shell_is_typed)
{
	char line[SHELL_LINE_MAX + 1];

	for (int i = 0; i < SHELL_LINE_MAX; i++)
		line[i] = (char)('a' + i % 26);
	line[SHELL_LINE_MAX] = '\0';
	start(&(struct shell_config){.echo_ms = 0});
	reach_prompt(0);
	start_line(line);
}
END_TEST

START_TEST(a_prompt_behind_which_the_kernel_spoke_is_asked_for)
{
	board.behind = "a message of the kernel";
	start(&(struct shell_config){.quiet_ms = 300});
	reach_prompt(0);
	start_line("sameboard");
	ck_assert_uint_eq(board.empty_lines, 1 + (board.lines - 3));
}
END_TEST

START_TEST(nothing_is_typed_at_what_has_not_shown_itself)
{
	board.banner = "noise without a name\r\n";
	board.behind = "hidden";
	board.is_unnamed = true;
	start(&(struct shell_config){.quiet_ms = 50, .echo_ms = 100});
	ck_assert_int_eq(shell_wait_prompt(shell, 20), -ETIMEDOUT);
	stop();
	ck_assert_uint_eq(board.received, 0);
}
END_TEST

START_TEST(eaten_and_changed_characters_are_typed_again)
{
	board.eat_every = 29;
	board.change_every = 37;
	start(&(struct shell_config){.echo_ms = 300, .retries = 20});
	reach_prompt(0);
	start_line("sameboard");
}
END_TEST

START_TEST(a_login_is_answered_and_the_password_has_no_echo)
{
	board.has_login = true;
	start(&(struct shell_config){.user = "root", .password = "secret"});
	reach_prompt(0);
	start_line("sameboard");
}
END_TEST

START_TEST(a_refused_login_is_told)
{
	board.has_login = true;
	board.refuses = true;
	start(&(struct shell_config){.user = "root", .password = "wrong"});
	reach_prompt(-EACCES);
	ck_assert_ptr_nonnull(strstr(shell_error(shell), "\"root\" was refused"));
}
END_TEST

START_TEST(a_login_without_a_name_to_give_is_told)
{
	board.has_login = true;
	start(&(struct shell_config){.echo_ms = 0});
	reach_prompt(-EACCES);
	ck_assert_ptr_nonnull(strstr(shell_error(shell), "the manifest has none"));
}
END_TEST

START_TEST(a_prompt_that_answers_nothing_is_none)
{
	board.is_deaf = true;
	start(&(struct shell_config){.echo_ms = 50, .command_ms = 50, .retries = 1});
	reach_prompt(-EPROTO);
	ck_assert_ptr_nonnull(strstr(shell_error(shell), "does not answer"));
}
END_TEST

START_TEST(what_cannot_be_typed_is_refused)
{
	char line[SHELL_LINE_MAX + 2];

	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	start(&(struct shell_config){.echo_ms = 0});
	ck_assert_int_eq(shell_start(shell, line), -EINVAL);
	ck_assert_int_eq(shell_start(shell, ""), -EINVAL);
	ck_assert_int_eq(shell_start(shell, "a\tb"), -EINVAL);
}
END_TEST

START_TEST(what_a_command_prints_is_taken_without_echo_and_prompt)
{
	char output[64];

	start(&(struct shell_config){.echo_ms = 0});
	reach_prompt(0);
	ck_assert_int_eq(shell_run(shell, "state", output, sizeof(output), 20000), 0);
	ck_assert_str_eq(output, "booting\n2 jobs\n");
	ck_assert_int_eq(shell_run(shell, "state", output, 5, 20000), 0);
	ck_assert_str_eq(output, "boot");
	ck_assert_int_eq(shell_wait_quiet(shell, 50, 20000), 0);
}
END_TEST

START_TEST(the_end_of_a_system_is_waited_for)
{
	start(&(struct shell_config){.echo_ms = 0});
	reach_prompt(0);
	ck_assert_int_eq(shell_start(shell, "poweroff"), 0);
	ck_assert_int_eq(shell_wait_text(shell, "reboot: Power down", 20000), 0);
	ck_assert_int_eq(shell_wait_text(shell, "reboot: System halted", 100), -ETIMEDOUT);
	ck_assert_ptr_nonnull(strstr(shell_error(shell), "no \"reboot: System halted\""));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("shell");
	TCase *cases = tcase_create("shell");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, a_line_is_typed_at_a_prompt_that_has_answered);
	tcase_add_test(cases, the_longest_line_of_the_smallest_shell_is_typed);
	tcase_add_test(cases, a_prompt_behind_which_the_kernel_spoke_is_asked_for);
	tcase_add_test(cases, nothing_is_typed_at_what_has_not_shown_itself);
	tcase_add_test(cases, eaten_and_changed_characters_are_typed_again);
	tcase_add_test(cases, a_login_is_answered_and_the_password_has_no_echo);
	tcase_add_test(cases, a_refused_login_is_told);
	tcase_add_test(cases, a_login_without_a_name_to_give_is_told);
	tcase_add_test(cases, a_prompt_that_answers_nothing_is_none);
	tcase_add_test(cases, what_cannot_be_typed_is_refused);
	tcase_add_test(cases, what_a_command_prints_is_taken_without_echo_and_prompt);
	tcase_add_test(cases, the_end_of_a_system_is_waited_for);
	suite_add_tcase(suite, cases);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
