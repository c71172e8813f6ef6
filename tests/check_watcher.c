/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boardctl/watcher.h"
#include "boardctl/watcher_rules.h"

/* Texts in the shapes that firmware, loader and systems print, with their CR,
 * ESC and backspaces; the words are ours. */
#define SPL "\r\nU-Boot SPL 2022.10 (Jan 01 2024 - 10:00:00 +0000)\r\nDRAM: ok\r\n"
#define OPENSBI                                                                                    \
	"\r\nOpenSBI v1.1\r\n   ____  _____\r\n\r\nPlatform Name             : some board\r\n"
#define UBOOT                                                                                      \
	"\r\n\r\nU-Boot 2023.01 (Jan 02 2024 - 10:00:00 +0000)\r\n\r\n"                            \
	"CPU:   rv64imafdc\r\nModel: some board\r\nDRAM:  512 MiB\r\n"                             \
	"Loading Environment from nowhere... OK\r\nIn:    serial@2500000\r\nNet:   none\r\n"
#define COUNTDOWN "Hit any key to stop autoboot:  2 \b\b\b 1 \b\b\b 0 \r\n"
#define PROMPT	  "=> "
#define HANDOFF	  "booti 80200000 - 88000000\r\n## Loading\r\n\r\nStarting kernel ...\r\n\r\n"
#define LINUX                                                                                      \
	"[    0.000000] Linux version 6.12.0 (a@b) #1 SMP\r\n"                                     \
	"[    0.000000] Machine model: some board\r\n[    1.250000] console [ttyS0] enabled\r\n"
#define USERSPACE "[    3.500000] Run /init as init process\r\n"

static struct watcher w;

static void start(const char *first_banner)
{
	const struct watcher_config config = {.first_banner = first_banner};

	ck_assert_int_eq(watcher_init(&w, &config), 0);
	watcher_restart(&w, 1000);
}

static void feed(const char *text)
{
	watcher_feed(&w, 1000, text, strlen(text));
}

static void check_state(enum watcher_state expected)
{
	ck_assert_str_eq(watcher_state_name(watcher_state(&w)), watcher_state_name(expected));
}

static void check_cause(enum watcher_cause expected)
{
	ck_assert_str_eq(
		watcher_cause_name(watcher_verdict(&w)->cause), watcher_cause_name(expected));
}

START_TEST(a_boot_is_followed_from_state_to_state)
{
	start("Linux version");
	check_state(WATCHER_STATE_NONE);
	ck_assert(!watcher_has_any_banner(&w));
	feed(SPL);
	check_state(WATCHER_STATE_SPL);
	ck_assert(watcher_has_any_banner(&w));
	feed(OPENSBI);
	check_state(WATCHER_STATE_OPENSBI);
	ck_assert(!watcher_has_loader_banner(&w));
	feed(UBOOT);
	check_state(WATCHER_STATE_UBOOT);
	ck_assert(watcher_has_loader_banner(&w));
	feed(COUNTDOWN PROMPT);
	check_state(WATCHER_STATE_UBOOT_PROMPT);
	ck_assert(!watcher_has_first_banner(&w));
	feed(HANDOFF);
	check_state(WATCHER_STATE_HANDOFF);
	feed(LINUX);
	check_state(WATCHER_STATE_LINUX);
	ck_assert(watcher_has_first_banner(&w));
	feed(USERSPACE);
	check_state(WATCHER_STATE_USERSPACE);
	feed("\x1b[1;32mroot\x1b[0m@board:~# \x1b[6n");
	check_state(WATCHER_STATE_SHELL);
	check_cause(WATCHER_CAUSE_NONE);
}
END_TEST

START_TEST(bare_metal_is_known_by_its_first_banner)
{
	start("sameboard-agent");
	feed(OPENSBI UBOOT PROMPT "go 80200000\r\n## Starting application at 0x80200000 ...\r\n");
	check_state(WATCHER_STATE_HANDOFF);
	feed("\x1b[0m  sameboard-agent 1 bare metal\r\n");
	check_state(WATCHER_STATE_BAREMETAL);
	ck_assert(watcher_has_first_banner(&w));
	check_cause(WATCHER_CAUSE_NONE);
	feed(OPENSBI);
	check_cause(WATCHER_CAUSE_RESET);
	ck_assert_int_eq(watcher_verdict(&w)->state, WATCHER_STATE_BAREMETAL);
	ck_assert(!watcher_has_first_banner(&w));
}
END_TEST

static const char *const whole_logs[] = {
	SPL OPENSBI UBOOT COUNTDOWN PROMPT HANDOFF LINUX USERSPACE "/ # ",
	OPENSBI UBOOT PROMPT HANDOFF LINUX
	"[    2.0] Kernel panic - not syncing: VFS: no root\r\n[    2.1] Rebooting\r\n" OPENSBI,
	OPENSBI UBOOT PROMPT "load mmc 0:1 80200000 x\r\n** File not found x **\r\n" PROMPT,
	OPENSBI UBOOT HANDOFF OPENSBI UBOOT HANDOFF OPENSBI,
	"\x80\xff\x13garbage\r\n" OPENSBI UBOOT
	"Card did not respond to voltage select! : -110\r\n",
	SPL SPL "\x1b]0;title\a\x1b[31mU-Boot\x1b[0m 2023.01\r\n",
};

START_TEST(cuts_make_no_difference)
{
	const char *log = whole_logs[_i];
	size_t size = strlen(log);
	struct watcher whole;

	start("Linux version");
	watcher_feed(&w, 1000, log, size);
	whole = w;
	for (size_t piece = 1; piece < 8; piece++) {
		start("Linux version");
		for (size_t at = 0; at < size; at += piece)
			watcher_feed(&w, 1000, log + at, size - at < piece ? size - at : piece);
		ck_assert_mem_eq(&w, &whole, sizeof(w));
	}
}
END_TEST

START_TEST(escape_sequences_within_words_do_no_harm)
{
	start(NULL);
	feed("U-\x1b[1;31mBo\x1b]0;title\aot\x1b[0m 20\x1b"
	     "c23.01\r\n");
	check_state(WATCHER_STATE_UBOOT);
	feed("  \x1b[0m=\x1b[K> ");
	check_state(WATCHER_STATE_UBOOT_PROMPT);
}
END_TEST

START_TEST(a_panic_carries_its_line)
{
	const struct watcher_verdict *verdict;

	start(NULL);
	feed(OPENSBI UBOOT PROMPT HANDOFF LINUX);
	watcher_feed(&w, 5555, "# [    2.1] Kernel panic - not syncing: no init\r\n", 50);
	feed("[    2.2] Kernel panic - not syncing: no init\r\n");
	check_cause(WATCHER_CAUSE_PANIC);
	verdict = watcher_verdict(&w);
	ck_assert_str_eq(verdict->text, "# [    2.1] Kernel panic - not syncing: no init");
	ck_assert_uint_eq(verdict->time_ms, 5555);
	ck_assert_int_eq(verdict->state, WATCHER_STATE_LINUX);
	ck_assert_uint_eq(verdict->line, 24);
	ck_assert_uint_eq(verdict->later, 1);
}
END_TEST

struct sample {
	const char *text;
	enum watcher_cause cause;
};

static const struct sample in_linux[] = {
	{"[ 2.0] VFS: Unable to mount root fs on unknown-block(0,0)\r\n", WATCHER_CAUSE_PANIC},
	{"Starting netw[ 5.9] Unable to handle kernel paging request\r\n", WATCHER_CAUSE_OOPS},
	{"[ 9.0] Oops [#1]\r\n", WATCHER_CAUSE_OOPS},
	{"status: 00 badaddr: ff cause: 0d\r\n", WATCHER_CAUSE_OOPS},
	{"[ 9.0] watchdog: BUG: soft lockup - CPU#0 stuck for 22s!\r\n", WATCHER_CAUSE_STALL},
	{"[ 9.0] agent invoked oom-killer: gfp_mask=0\r\n", WATCHER_CAUSE_OOM},
	{"[ 9.0] I/O error, dev mmcblk0, sector 8\r\n", WATCHER_CAUSE_STORAGE_ERROR},
	{"badaddr: 00 cause: 0000000000000003\r\n", WATCHER_CAUSE_NONE},
	{"[ 9.0] Oops [#1]\r\n[ 9.1] Kernel panic - not syncing: fatal\r\n", WATCHER_CAUSE_PANIC},
	{"[ 9.0] WARNING: CPU: 0 PID: 1 at drivers/x.c:1\r\n", WATCHER_CAUSE_NONE},
	{"[ 9.0] BUG: sleeping function called from invalid context\r\n", WATCHER_CAUSE_NONE},
	{"[E/panel] soft reset failed\r\n", WATCHER_CAUSE_NONE},
};

START_TEST(serious_lines_of_linux_are_known)
{
	start(NULL);
	feed(OPENSBI UBOOT PROMPT HANDOFF LINUX);
	feed(in_linux[_i].text);
	check_cause(in_linux[_i].cause);
}
END_TEST

static const struct sample at_prompt[] = {
	{"Bad Linux RISCV Image magic!\r\n", WATCHER_CAUSE_LOADER_FAILED},
	{"** File not found linux.img **\r\n", WATCHER_CAUSE_LOADER_FAILED},
	{"MMC: no card present\r\n", WATCHER_CAUSE_LOADER_FAILED},
	{"no mmc device at slot 0\r\n", WATCHER_CAUSE_LOADER_FAILED},
	{"Unhandled exception: Load access fault\r\n", WATCHER_CAUSE_LOADER_CRASH},
	{"### ERROR ### Please RESET the board ###\r\n", WATCHER_CAUSE_LOADER_HALTED},
	{"*** Warning - bad CRC, using default environment\r\n", WATCHER_CAUSE_NONE},
	{"=> echo Kernel panic - not syncing\r\n", WATCHER_CAUSE_NONE},
	{"=> load mmc 0:1 80000000 File not found\r\n", WATCHER_CAUSE_NONE},
};

START_TEST(serious_lines_at_the_loaders_prompt_are_known)
{
	start(NULL);
	feed(OPENSBI UBOOT PROMPT "\r\n");
	feed(at_prompt[_i].text);
	check_cause(at_prompt[_i].cause);
}
END_TEST

START_TEST(a_missing_card_counts_only_when_nothing_comes_after_it)
{
	start(NULL);
	feed(OPENSBI UBOOT "Card did not respond to voltage select! : -110\r\n" COUNTDOWN PROMPT);
	check_cause(WATCHER_CAUSE_NONE);
	start(NULL);
	feed(OPENSBI UBOOT "Card did not respond to voltage select! : -110\r\n");
	watcher_tick(&w, 1000 + 29999);
	check_cause(WATCHER_CAUSE_NONE);
	watcher_tick(&w, 1000 + 30000);
	check_cause(WATCHER_CAUSE_LOADER_FAILED);
	ck_assert_str_eq(
		watcher_verdict(&w)->text, "Card did not respond to voltage select! : -110");
}
END_TEST

START_TEST(a_boot_command_that_comes_back_has_failed)
{
	start(NULL);
	feed(OPENSBI UBOOT PROMPT "go 80200000\r\n## Starting application at 0x80200000 ...\r\n"
				  "## Application terminated, rc = 0x0\r\n" PROMPT);
	check_cause(WATCHER_CAUSE_LOADER_FAILED);
	check_state(WATCHER_STATE_UBOOT_PROMPT);
}
END_TEST

START_TEST(a_first_banner_after_a_later_state_is_a_reset)
{
	start(NULL);
	feed(SPL OPENSBI UBOOT PROMPT HANDOFF LINUX SPL);
	check_cause(WATCHER_CAUSE_RESET);
	check_state(WATCHER_STATE_SPL);
	ck_assert_int_eq(watcher_verdict(&w)->state, WATCHER_STATE_LINUX);
	ck_assert_ptr_nonnull(strstr(watcher_verdict(&w)->text, "U-Boot SPL"));
	feed(OPENSBI UBOOT PROMPT HANDOFF LINUX SPL);
	check_cause(WATCHER_CAUSE_RESET_LOOP);
	ck_assert_uint_eq(w.resets, 2);
}
END_TEST

START_TEST(resets_from_different_states_are_no_loop)
{
	start(NULL);
	feed(OPENSBI UBOOT PROMPT HANDOFF OPENSBI UBOOT PROMPT HANDOFF LINUX OPENSBI);
	check_cause(WATCHER_CAUSE_RESET);
	ck_assert_int_eq(watcher_verdict(&w)->state, WATCHER_STATE_HANDOFF);
	ck_assert_uint_eq(w.resets, 2);
}
END_TEST

START_TEST(a_reset_from_within_linux_shows_also_without_firmware)
{
	start(NULL);
	feed(LINUX USERSPACE "Linux version 6.12.0 is what cat prints\r\n");
	check_cause(WATCHER_CAUSE_NONE);
	check_state(WATCHER_STATE_USERSPACE);
	feed(LINUX);
	check_cause(WATCHER_CAUSE_RESET);
}
END_TEST

START_TEST(the_version_command_is_no_reset)
{
	start(NULL);
	feed(OPENSBI UBOOT PROMPT
		"version\r\nU-Boot 2023.01 (Jan 02 2024)\r\n\r\ngcc 12\r\n" PROMPT);
	check_cause(WATCHER_CAUSE_NONE);
	check_state(WATCHER_STATE_UBOOT_PROMPT);
	feed("\r\n" UBOOT);
	check_cause(WATCHER_CAUSE_RESET);
}
END_TEST

START_TEST(doubled_lines_are_no_reset)
{
	start(NULL);
	feed("OpenSBI v1.1\r\nOpenSBI v1.1\r\n");
	check_cause(WATCHER_CAUSE_NONE);
	feed("other\r\nOpenSBI v1.1\r\n");
	check_cause(WATCHER_CAUSE_RESET);
}
END_TEST

START_TEST(silence_beyond_the_limit_of_the_state_is_a_hang)
{
	struct watcher_config config = {.limit_ms = {[WATCHER_STATE_HANDOFF] = 500}};

	ck_assert_int_eq(watcher_init(&w, &config), 0);
	watcher_tick(&w, 999999);
	check_cause(WATCHER_CAUSE_NONE);
	watcher_restart(&w, 1000);
	feed(OPENSBI UBOOT PROMPT);
	watcher_tick(&w, 10000000);
	check_cause(WATCHER_CAUSE_NONE);
	watcher_feed(&w, 20000, HANDOFF, strlen(HANDOFF));
	watcher_tick(&w, 20499);
	check_cause(WATCHER_CAUSE_NONE);
	watcher_tick(&w, 20500);
	check_cause(WATCHER_CAUSE_HANG);
	ck_assert_int_eq(watcher_verdict(&w)->state, WATCHER_STATE_HANDOFF);
	ck_assert_uint_eq(watcher_verdict(&w)->time_ms, 20500);
	ck_assert_str_eq(watcher_verdict(&w)->text, "Starting kernel ...");
}
END_TEST

START_TEST(no_byte_after_power_on_is_a_hang_without_banner)
{
	start(NULL);
	watcher_tick(&w, 1000 + 10000);
	check_cause(WATCHER_CAUSE_HANG);
	ck_assert_int_eq(watcher_verdict(&w)->state, WATCHER_STATE_NONE);
	ck_assert(!watcher_has_any_banner(&w));
}
END_TEST

START_TEST(a_last_line_without_an_end_is_judged_before_the_silence)
{
	start(NULL);
	feed(OPENSBI UBOOT PROMPT HANDOFF LINUX "[ 9.0] Kernel panic - not syncing: cut h");
	check_cause(WATCHER_CAUSE_NONE);
	watcher_tick(&w, 1000 + 90000);
	check_cause(WATCHER_CAUSE_PANIC);
}
END_TEST

START_TEST(a_burst_of_garbage_at_power_on_is_normal)
{
	start(NULL);
	for (int i = 0; i < 20; i++)
		feed("\xf8\x80\x03");
	feed("\r\n" OPENSBI);
	for (int i = 0; i < 200; i++)
		feed("plain text ");
	check_cause(WATCHER_CAUSE_NONE);
	check_state(WATCHER_STATE_OPENSBI);
}
END_TEST

START_TEST(nothing_but_garbage_is_a_wrong_rate)
{
	start(NULL);
	for (int i = 0; i < 67; i++)
		feed("\xf8\x80x");
	check_cause(WATCHER_CAUSE_NONE);
	watcher_tick(&w, 1000 + 10000);
	check_cause(WATCHER_CAUSE_WRONG_BAUD);
	start(NULL);
	for (int i = 0; i < 1400; i++)
		feed("\xf8\x80x");
	check_cause(WATCHER_CAUSE_WRONG_BAUD);
}
END_TEST

START_TEST(endless_output_is_told)
{
	start(NULL);
	feed(OPENSBI);
	for (int i = 0; i < 99; i++)
		feed("xcause = 2\r\n");
	check_cause(WATCHER_CAUSE_NONE);
	start(NULL);
	feed(OPENSBI);
	for (int i = 0; i < 120; i++)
		feed("xcause = 2\r\n---- registers\r\n\r\nra: 0\r\n");
	check_cause(WATCHER_CAUSE_ENDLESS_OUTPUT);
}
END_TEST

START_TEST(the_loaders_strings_are_configurable)
{
	const struct watcher_config config = {
		.loader_banner = "Vendor loader", .prompt = "Board 16G# ", .shell_prompt = "os> "};

	ck_assert_int_eq(watcher_init(&w, &config), 0);
	watcher_restart(&w, 0);
	feed("Vendor loader 3\r\n=> ");
	check_state(WATCHER_STATE_UBOOT);
	feed("\r\nBoard 16G# ");
	check_state(WATCHER_STATE_UBOOT_PROMPT);
	feed("boot\r\nStarting kernel ...\r\n" LINUX "os> ");
	check_state(WATCHER_STATE_SHELL);
}
END_TEST

START_TEST(a_string_too_long_is_refused)
{
	char text[WATCHER_STRING_SIZE + 1];
	struct watcher_config config = {.prompt = text};

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ck_assert_int_eq(watcher_init(&w, &config), -EINVAL);
	text[sizeof(text) - 2] = '\0';
	ck_assert_int_eq(watcher_init(&w, &config), 0);
}
END_TEST

START_TEST(a_foreseen_verdict_can_be_forgotten)
{
	start(NULL);
	feed(OPENSBI UBOOT PROMPT "load\r\n** File not found a **\r\n" PROMPT);
	check_cause(WATCHER_CAUSE_LOADER_FAILED);
	watcher_clear_verdict(&w);
	check_cause(WATCHER_CAUSE_NONE);
	check_state(WATCHER_STATE_UBOOT_PROMPT);
	feed("x\r\n" OPENSBI);
	check_cause(WATCHER_CAUSE_RESET);
	watcher_restart(&w, 0);
	check_cause(WATCHER_CAUSE_NONE);
	check_state(WATCHER_STATE_NONE);
}
END_TEST

START_TEST(any_bytes_are_survived)
{
	uint32_t seed = 7;

	start("x");
	for (int i = 0; i < 300000; i++) {
		unsigned char byte;

		seed = seed * 1664525u + 1013904223u;
		byte = (unsigned char)(seed >> 24);
		if (i < 100000 && byte == '\n')
			continue;
		watcher_feed(&w, (uint64_t)i, &byte, 1);
	}
	ck_assert_uint_lt(w.line_size, WATCHER_LINE_SIZE);
}
END_TEST

START_TEST(every_state_and_cause_has_a_word)
{
	for (size_t i = 0; i < WATCHER_STATES; i++) {
		ck_assert_ptr_nonnull(watcher_state_name((enum watcher_state)i));
		ck_assert_uint_gt(watcher_limits_ms[i], 0);
	}
	for (size_t i = 0; i < WATCHER_CAUSES; i++)
		ck_assert_ptr_nonnull(watcher_cause_name((enum watcher_cause)i));
	ck_assert_str_eq(watcher_match_loader_failure("** File not found x **"), "File not found");
	ck_assert_ptr_null(watcher_match_loader_failure("1234 bytes read in 5 ms"));
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

int main(void)
{
	Suite *suite = suite_create("watcher");
	TCase *watcher = tcase_create("watcher");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(watcher, a_boot_is_followed_from_state_to_state);
	tcase_add_test(watcher, bare_metal_is_known_by_its_first_banner);
	tcase_add_loop_test(watcher, cuts_make_no_difference, 0, COUNT(whole_logs));
	tcase_add_test(watcher, escape_sequences_within_words_do_no_harm);
	tcase_add_test(watcher, a_panic_carries_its_line);
	tcase_add_loop_test(watcher, serious_lines_of_linux_are_known, 0, COUNT(in_linux));
	tcase_add_loop_test(
		watcher, serious_lines_at_the_loaders_prompt_are_known, 0, COUNT(at_prompt));
	tcase_add_test(watcher, a_missing_card_counts_only_when_nothing_comes_after_it);
	tcase_add_test(watcher, a_boot_command_that_comes_back_has_failed);
	tcase_add_test(watcher, a_first_banner_after_a_later_state_is_a_reset);
	tcase_add_test(watcher, resets_from_different_states_are_no_loop);
	tcase_add_test(watcher, a_reset_from_within_linux_shows_also_without_firmware);
	tcase_add_test(watcher, the_version_command_is_no_reset);
	tcase_add_test(watcher, doubled_lines_are_no_reset);
	tcase_add_test(watcher, silence_beyond_the_limit_of_the_state_is_a_hang);
	tcase_add_test(watcher, no_byte_after_power_on_is_a_hang_without_banner);
	tcase_add_test(watcher, a_last_line_without_an_end_is_judged_before_the_silence);
	tcase_add_test(watcher, a_burst_of_garbage_at_power_on_is_normal);
	tcase_add_test(watcher, nothing_but_garbage_is_a_wrong_rate);
	tcase_add_test(watcher, endless_output_is_told);
	tcase_add_test(watcher, the_loaders_strings_are_configurable);
	tcase_add_test(watcher, a_string_too_long_is_refused);
	tcase_add_test(watcher, a_foreseen_verdict_can_be_forgotten);
	tcase_add_test(watcher, any_bytes_are_survived);
	tcase_add_test(watcher, every_state_and_cause_has_a_word);
	suite_add_tcase(suite, watcher);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
