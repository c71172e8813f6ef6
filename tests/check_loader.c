/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boardctl/loader.h"
#include "boardctl/monotonic.h"
#include "harness/bootrules.h"
#include "tests/uboot_imitation.h"
#include "tests/vboard_rig.h"

static struct imitation board;
static struct link *uart;
static struct bootrules *rules;
static struct watcher watcher;
static struct loader *loader;

static void open_loader(const char *path, const struct loader_config *config)
{
	const struct link_config port = {.driver = "pty", .path = path};
	const struct watcher_config standard = {
		.rules = bootrules_get(rules), .prompt = config->prompt ? config->prompt : "=> "};

	ck_assert_msg(!link_open(&uart, &port), "%s", link_error(uart));
	ck_assert_int_eq(watcher_init(&watcher, &standard), 0);
	ck_assert_int_eq(loader_new(&loader, uart, &watcher, config), 0);
	watcher_restart(&watcher, monotonic_get_ms());
}

static void start(const struct loader_config *config)
{
	static const struct loader_config standard = {.echo_ms = 0};

	imitation_start(&board);
	open_loader(board.path, config ? config : &standard);
}

static void set_up(void)
{
	board = (struct imitation){.stop_fd = -1};
	uart = NULL;
	loader = NULL;
}

static void tear_down(void)
{
	loader_free(loader);
	link_close(uart);
	imitation_stop(&board);
}

static void open_rules(void)
{
	ck_assert_int_eq(bootrules_open(&rules, NULL), 0);
}

static void close_rules(void)
{
	bootrules_close(rules);
}

static void reach_prompt(void)
{
	int ret = loader_wait_prompt(loader, 20000);

	ck_assert_msg(!ret, "%d: %s", ret, loader_error(loader));
}

static void run(const char *command, int expected, char *output, size_t size)
{
	int ret = loader_run(loader, command, output, size, 0);

	ck_assert_msg(ret == expected, "%s: %d: %s", command, ret, loader_error(loader));
}

static bool says(const char *text)
{
	return strstr(loader_error(loader), text) != NULL;
}

START_TEST(nothing_is_sent_before_the_banner_and_never_a_bare_return)
{
	board.delay_ms = 300;
	start(NULL);
	reach_prompt();
	ck_assert_int_eq(watcher_state(&watcher), WATCHER_STATE_UBOOT_PROMPT);
	run("true", 0, NULL, 0);
	imitation_stop(&board);
	ck_assert_uint_eq(board.early_bytes, 0);
	ck_assert_uint_eq(board.bare_returns, 0);
	ck_assert_uint_eq(board.commands, 1);
	ck_assert_str_eq(board.booted, "");
}
END_TEST

START_TEST(the_configured_key_stops_autoboot)
{
	const struct loader_config config = {.interrupt = {'x', 's'}, .interrupt_size = 2};

	board.key = 's';
	start(&config);
	reach_prompt();
	imitation_stop(&board);
	ck_assert_str_eq(board.booted, "");
}
END_TEST

START_TEST(a_command_gives_its_output_alone)
{
	char output[4096];

	start(NULL);
	reach_prompt();
	run("true", 0, output, sizeof(output));
	ck_assert_str_eq(output, "");
	run("lines 3", 0, output, sizeof(output));
	ck_assert_str_eq(output, "line 0\nline 1\nline 2\n");
	run("lines 3", 0, output, 10);
	ck_assert_str_eq(output, "line 0\nli");
	run("echo => x", 0, output, sizeof(output));
	ck_assert_str_eq(output, "=> x\n");
	run("echo a long line of one hundred characters or so, which takes many pieces to type, "
	    "each with an echo of its own; true",
		0, output, sizeof(output));
	ck_assert_uint_gt(strlen(output), 80);
}
END_TEST

START_TEST(a_failed_command_carries_the_line_that_tells_why)
{
	char output[256];

	start(NULL);
	reach_prompt();
	run("fail", -EIO, output, sizeof(output));
	ck_assert(says("\"fail\""));
	ck_assert(says("** File not found x **"));
	ck_assert_str_eq(output, "looking\n** File not found x **\nso be it\n");
	run("fail; true", 0, NULL, 0);
	ck_assert_int_eq(watcher_verdict(&watcher)->cause, WATCHER_CAUSE_NONE);
}
END_TEST

START_TEST(a_loader_without_status_is_judged_by_its_words)
{
	char output[256];

	board.is_plain = true;
	start(NULL);
	reach_prompt();
	run("lines 2", 0, output, sizeof(output));
	ck_assert_str_eq(output, "line 0\nline 1\n");
	run("fail", -EIO, output, sizeof(output));
	ck_assert(says("** File not found x **"));
	run("true", 0, output, sizeof(output));
	ck_assert_str_eq(output, "");
}
END_TEST

START_TEST(the_sum_is_read_from_the_answer)
{
	uint32_t crc = 0;

	start(NULL);
	reach_prompt();
	ck_assert_int_eq(loader_crc32(loader, "80200000", 1024, &crc), 0);
	ck_assert_uint_eq(crc, 0x0badcafe);
	ck_assert_int_eq(loader_check_crc32(loader, "80200000", 1024, 0x0badcafe), 0);
	ck_assert_int_eq(loader_check_crc32(loader, "80200000", 1024, 0x0badcaff), -EBADMSG);
	ck_assert(says("0badcafe") && says("0badcaff"));
}
END_TEST

START_TEST(eaten_characters_are_typed_again)
{
	const struct loader_config config = {.echo_ms = 200};
	char output[4096];

	board.eat_every = 97;
	start(&config);
	reach_prompt();
	for (int i = 0; i < 12; i++) {
		run("lines 2", 0, output, sizeof(output));
		ck_assert_str_eq(output, "line 0\nline 1\n");
	}
	imitation_stop(&board);
	ck_assert_uint_ge(board.commands, 12);
	ck_assert_str_eq(board.booted, "");
}
END_TEST

START_TEST(changed_characters_are_never_run)
{
	const struct loader_config config = {.echo_ms = 200, .command_ms = 2000};

	board.change_every = 61;
	start(&config);
	reach_prompt();
	for (int i = 0; i < 12; i++)
		run("true", 0, NULL, 0);
	imitation_stop(&board);
	ck_assert_str_eq(board.booted, "");
}
END_TEST

START_TEST(damaged_echoes_are_noticed)
{
	const struct loader_config config = {.echo_ms = 200, .command_ms = 2000};

	board.garble_every = 149;
	start(&config);
	reach_prompt();
	for (int i = 0; i < 12; i++)
		run("true", 0, NULL, 0);
	imitation_stop(&board);
	ck_assert_str_eq(board.booted, "");
}
END_TEST

START_TEST(no_banner_is_told_with_what_to_check)
{
	board.banner = "";
	start(NULL);
	ck_assert_int_eq(loader_wait_prompt(loader, 300), -ENODATA);
	ck_assert(says("no banner"));
	ck_assert(says("check the board's power"));
}
END_TEST

START_TEST(a_banner_without_a_prompt_is_told_with_the_place)
{
	board.has_no_countdown = true;
	start(NULL);
	ck_assert_int_eq(loader_wait_prompt(loader, 400), -ETIMEDOUT);
	ck_assert(says("it got as far as uboot"));
	ck_assert(says("U-Boot 2023.01"));
}
END_TEST

START_TEST(a_prompt_that_answers_nothing_is_no_prompt)
{
	const struct loader_config config = {.echo_ms = 50};

	board.is_deaf = true;
	start(&config);
	ck_assert_int_eq(loader_wait_prompt(loader, 5000), -ETIMEDOUT);
	ck_assert(says("does not come back to its prompt"));
}
END_TEST

START_TEST(a_command_that_never_ends_is_given_up)
{
	start(NULL);
	reach_prompt();
	ck_assert_int_eq(loader_run(loader, "stuck", NULL, 0, 300), -ETIMEDOUT);
	ck_assert(says("no end within 300 ms"));
	ck_assert(says("working"));
	run("true", 0, NULL, 0);
}
END_TEST

START_TEST(an_incomplete_command_is_given_up)
{
	start(NULL);
	reach_prompt();
	run("if true", -EINVAL, NULL, 0);
	ck_assert(says("incomplete"));
	run("true", 0, NULL, 0);
}
END_TEST

START_TEST(a_reset_in_the_dialogue_is_told)
{
	start(NULL);
	reach_prompt();
	run("reset", -ECONNRESET, NULL, 0);
	ck_assert(says("OpenSBI v1.1"));
}
END_TEST

START_TEST(booting_leaves_what_follows_to_the_caller)
{
	char text[256] = "";
	size_t used = 0;

	start(NULL);
	reach_prompt();
	ck_assert_int_eq(loader_boot(loader, "booti 80200000 - 88000000"), 0);
	while (!strstr(text, "hello from the system\r\n")) {
		ssize_t got = link_read(uart, text + used, sizeof(text) - 1 - used, 5000);

		ck_assert_int_gt(got, 0);
		used += (size_t)got;
	}
	ck_assert_str_eq(text, "\r\nStarting kernel ...\r\n\r\nhello from the system\r\n");
	imitation_stop(&board);
	ck_assert_str_eq(board.booted, "booti 80200000 - 88000000");
}
END_TEST

START_TEST(a_pulled_adapter_is_told)
{
	start(NULL);
	reach_prompt();
	imitation_stop(&board);
	run("true", -ENODEV, NULL, 0);
}
END_TEST

START_TEST(what_cannot_be_typed_is_refused)
{
	const struct loader_config no_prompt = {.prompt = ""};
	char text[2000];

	start(NULL);
	reach_prompt();
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	run("", -EINVAL, NULL, 0);
	run("two\rlines", -EINVAL, NULL, 0);
	run("tab\t", -EINVAL, NULL, 0);
	run(text, -EINVAL, NULL, 0);
	ck_assert_int_eq(loader_boot(loader, "caf\xc3\xa9"), -EINVAL);
	run("true", 0, NULL, 0);
	imitation_stop(&board);
	ck_assert_uint_eq(board.commands, 1);
	loader_free(loader);
	ck_assert_int_eq(loader_new(&loader, uart, &watcher, &no_prompt), -EINVAL);
}
END_TEST

/* ---------------------------------------------------------------- the real one */

static struct rig rig;

static void power_on_real(const char *faults, const char *seed)
{
	const struct loader_config config = {.echo_ms = 0};
	char path[96];

	rig_start(&rig, faults, seed);
	snprintf(path, sizeof(path), "%s/uart", rig.dir);
	open_loader(path, &config);
	rig_set_power(&rig, true);
}

static void stop_real(void)
{
	loader_free(loader);
	link_close(uart);
	loader = NULL;
	uart = NULL;
	rig_stop(&rig);
}

/* CRC-32 of 1024 zeros, as zlib has it. */
#define CRC_OF_1024_ZEROS 0xefb5af2eu

START_TEST(the_real_loader_is_spoken_to)
{
	char output[1024];
	uint32_t crc = 0;

	power_on_real(NULL, "1");
	reach_prompt();
	run("version", 0, output, sizeof(output));
	ck_assert_ptr_nonnull(strstr(output, "U-Boot 20"));
	ck_assert_ptr_nonnull(strstr(output, "gcc"));
	run("setenv answer 42; printenv answer", 0, output, sizeof(output));
	ck_assert_str_eq(output, "answer=42\n");
	run("mw.l 80200000 0 100", 0, output, sizeof(output));
	ck_assert_int_eq(loader_crc32(loader, "80200000", 1024, &crc), 0);
	ck_assert_uint_eq(crc, CRC_OF_1024_ZEROS);
	run("load mmc 0:1 80200000 missing", -EIO, NULL, 0);
	run("nonsense", -EIO, NULL, 0);
	ck_assert(says("Unknown command 'nonsense'"));
	run("if true", -EINVAL, NULL, 0);
	run("true", 0, NULL, 0);
	ck_assert_int_eq(loader_boot(loader, "reset"), 0);
	while (watcher_verdict(&watcher)->cause != WATCHER_CAUSE_RESET) {
		ssize_t got = link_read(uart, output, sizeof(output), 20000);

		ck_assert_int_gt(got, 0);
		watcher_feed(&watcher, monotonic_get_ms(), output, (size_t)got);
	}
	stop_real();
}
END_TEST

START_TEST(the_real_loader_is_spoken_to_through_noise)
{
	power_on_real("noise=2e-4,drop=2e-4", "5");
	reach_prompt();
	run("mw.l 80200000 0 100", 0, NULL, 0);
	for (int i = 0; i < 20; i++)
		run("test x = x", 0, NULL, 0);
	run("nonsense", -EIO, NULL, 0);
	ck_assert_int_eq(loader_check_crc32(loader, "80200000", 1024, CRC_OF_1024_ZEROS), 0);
	stop_real();
}
END_TEST

START_TEST(a_real_loader_that_hangs_is_told)
{
	power_on_real("hang=uboot", "1");
	ck_assert_int_eq(loader_wait_prompt(loader, 6000), -ETIMEDOUT);
	ck_assert(says("it got as far as"));
	stop_real();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("loader");
	TCase *imitated = tcase_create("imitated"), *real = tcase_create("real");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(imitated, open_rules, close_rules);
	tcase_add_checked_fixture(imitated, set_up, tear_down);
	tcase_add_checked_fixture(real, open_rules, close_rules);
	tcase_set_timeout(imitated, 60);
	tcase_add_test(imitated, nothing_is_sent_before_the_banner_and_never_a_bare_return);
	tcase_add_test(imitated, the_configured_key_stops_autoboot);
	tcase_add_test(imitated, a_command_gives_its_output_alone);
	tcase_add_test(imitated, a_failed_command_carries_the_line_that_tells_why);
	tcase_add_test(imitated, a_loader_without_status_is_judged_by_its_words);
	tcase_add_test(imitated, the_sum_is_read_from_the_answer);
	tcase_add_test(imitated, eaten_characters_are_typed_again);
	tcase_add_test(imitated, changed_characters_are_never_run);
	tcase_add_test(imitated, damaged_echoes_are_noticed);
	tcase_add_test(imitated, no_banner_is_told_with_what_to_check);
	tcase_add_test(imitated, a_banner_without_a_prompt_is_told_with_the_place);
	tcase_add_test(imitated, a_prompt_that_answers_nothing_is_no_prompt);
	tcase_add_test(imitated, a_command_that_never_ends_is_given_up);
	tcase_add_test(imitated, an_incomplete_command_is_given_up);
	tcase_add_test(imitated, a_reset_in_the_dialogue_is_told);
	tcase_add_test(imitated, booting_leaves_what_follows_to_the_caller);
	tcase_add_test(imitated, a_pulled_adapter_is_told);
	tcase_add_test(imitated, what_cannot_be_typed_is_refused);
	suite_add_tcase(suite, imitated);
	tcase_set_timeout(real, 120);
	tcase_add_test(real, the_real_loader_is_spoken_to);
	tcase_add_test(real, the_real_loader_is_spoken_to_through_noise);
	tcase_add_test(real, a_real_loader_that_hangs_is_told);
	suite_add_tcase(suite, real);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
