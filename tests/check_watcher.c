/* SPDX-License-Identifier: Apache-2.0 */
#include <cjson/cJSON.h>
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "boardctl/watcher.h"
#include "harness/bootrules.h"

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

#define POWER_ON 1000
#define NOW	 9000 /* contacts are at rest */

static struct bootrules *bootrules;
static const struct watcher_rules *rules;
static struct watcher w;

static void set_up(void)
{
	ck_assert_msg(bootrules_open(&bootrules, NULL) == 0, "%s", bootrules_error(bootrules));
	rules = bootrules_get(bootrules);
}

static void tear_down(void)
{
	bootrules_close(bootrules);
}

static void start(const char *first_banner)
{
	const struct watcher_config config = {
		.rules = rules, .first_banner = first_banner, .prompt = "=> "};

	ck_assert_int_eq(watcher_init(&w, &config), 0);
	watcher_restart(&w, POWER_ON);
}

static void feed(const char *text)
{
	watcher_feed(&w, NOW, text, strlen(text));
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

static const struct watcher_warning *find_warning(const char *word)
{
	const struct watcher_warning *warnings;
	size_t count = watcher_get_warnings(&w, &warnings);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(warnings[i].word, word))
			return &warnings[i];
	return NULL;
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
	ck_assert(!w.first_banner_seen);
	feed(HANDOFF);
	check_state(WATCHER_STATE_HANDOFF);
	feed(LINUX);
	check_state(WATCHER_STATE_LINUX);
	ck_assert(w.first_banner_seen);
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
	ck_assert(w.first_banner_seen);
	check_cause(WATCHER_CAUSE_NONE);
	feed(OPENSBI);
	check_cause(WATCHER_CAUSE_RESET);
	ck_assert_int_eq(watcher_verdict(&w)->state, WATCHER_STATE_BAREMETAL);
	ck_assert(!w.first_banner_seen);
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
	watcher_feed(&w, NOW, log, size);
	whole = w;
	for (size_t piece = 1; piece < 8; piece++) {
		start("Linux version");
		for (size_t at = 0; at < size; at += piece)
			watcher_feed(&w, NOW, log + at, size - at < piece ? size - at : piece);
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
	watcher_tick(&w, NOW + 29999);
	check_cause(WATCHER_CAUSE_NONE);
	watcher_tick(&w, NOW + 30000);
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

START_TEST(a_second_first_banner_right_after_power_on_is_a_bounce)
{
	start(NULL);
	watcher_feed(&w, POWER_ON + 300, SPL OPENSBI, strlen(SPL OPENSBI));
	watcher_feed(&w, POWER_ON + 999, SPL, strlen(SPL));
	check_cause(WATCHER_CAUSE_NONE);
	check_state(WATCHER_STATE_SPL);
	ck_assert_uint_eq(w.resets, 0);
	ck_assert_uint_eq(w.bounces, 1);
	ck_assert_ptr_nonnull(find_warning("relay-bounce"));
	watcher_feed(&w, POWER_ON + 1000, SPL, strlen(SPL));
	check_cause(WATCHER_CAUSE_RESET);
	ck_assert_uint_eq(w.resets, 1);
	/* Whoever is at the prompt so soon has typed there. */
	start(NULL);
	watcher_feed(&w, POWER_ON + 100, UBOOT PROMPT, strlen(UBOOT PROMPT));
	watcher_feed(&w, POWER_ON + 200, UBOOT, strlen(UBOOT));
	check_cause(WATCHER_CAUSE_RESET);
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
	struct watcher_config config = {
		.rules = rules, .prompt = "=> ", .limit_ms = {[WATCHER_STATE_HANDOFF] = 500}};

	ck_assert_int_eq(watcher_init(&w, &config), 0);
	watcher_tick(&w, 999999);
	check_cause(WATCHER_CAUSE_NONE);
	watcher_restart(&w, POWER_ON);
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
	watcher_tick(&w, NOW + 10000);
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
	watcher_tick(&w, NOW + 90000);
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
	watcher_tick(&w, NOW + 10000);
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
	check_cause(WATCHER_CAUSE_HANG);
	ck_assert_ptr_nonnull(find_warning("endless-output"));
	start(NULL);
	feed("/ # ");
	for (int i = 0; i < 120; i++)
		feed("y\r\n");
	check_cause(WATCHER_CAUSE_NONE);
}
END_TEST

START_TEST(the_loaders_strings_are_configurable)
{
	const struct watcher_config config = {.rules = rules,
		.loader_banner = "Vendor loader",
		.prompt = "Board 16G# ",
		.shell_prompt = "os> "};

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
	struct watcher_config config = {.rules = rules, .prompt = text};

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ck_assert_int_eq(watcher_init(&w, &config), -EINVAL);
	text[sizeof(text) - 2] = '\0';
	ck_assert_int_eq(watcher_init(&w, &config), 0);
	config.rules = NULL;
	ck_assert_int_eq(watcher_init(&w, &config), -EINVAL);
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

START_TEST(a_text_is_found_where_pieces_of_a_long_line_meet)
{
	char line[1400];

	for (size_t at = 300; at < 1300; at++) {
		memset(line, 'x', sizeof(line));
		memcpy(line + at, "Kernel panic - not syncing", 26);
		line[sizeof(line) - 1] = '\n';
		start(NULL);
		feed(LINUX);
		watcher_feed(&w, NOW, line, sizeof(line));
		check_cause(WATCHER_CAUSE_PANIC);
		ck_assert_uint_eq(watcher_verdict(&w)->line, 4);
		ck_assert_uint_eq(watcher_verdict(&w)->later, 0);
		/* A banner counts once as well. */
		memcpy(line + at, "U-Boot 2024.07            ", 26);
		start(NULL);
		watcher_feed(&w, NOW, line, sizeof(line));
		check_state(WATCHER_STATE_UBOOT);
		check_cause(WATCHER_CAUSE_NONE);
	}
}
END_TEST

START_TEST(a_short_prompt_is_believed_in_silence_or_with_a_command)
{
	start(NULL);
	feed(LINUX USERSPACE "# ");
	check_state(WATCHER_STATE_USERSPACE);
	watcher_tick(&w, NOW + 299);
	check_state(WATCHER_STATE_USERSPACE);
	watcher_tick(&w, NOW + 300);
	check_state(WATCHER_STATE_SHELL);
	start(NULL);
	feed(LINUX USERSPACE "# ## # some art\r\n");
	check_state(WATCHER_STATE_USERSPACE);
	feed("# uname\r\n");
	check_state(WATCHER_STATE_SHELL);
	start(NULL);
	feed(LINUX USERSPACE "# \r\nmore\r\n");
	watcher_finish(&w);
	check_state(WATCHER_STATE_USERSPACE);
	start(NULL);
	feed(LINUX USERSPACE "#\r\n");
	watcher_finish(&w);
	check_state(WATCHER_STATE_SHELL);
}
END_TEST

START_TEST(what_went_well_in_the_end_is_a_warning)
{
	start(NULL);
	feed(OPENSBI UBOOT "Bad Linux RISCV Image magic!\r\n");
	check_cause(WATCHER_CAUSE_LOADER_FAILED);
	feed(LINUX);
	check_cause(WATCHER_CAUSE_NONE);
	ck_assert_uint_eq(find_warning("loader-failed")->line, 16);
}
END_TEST

START_TEST(an_oops_in_a_shell_that_works_is_a_taint)
{
	start(NULL);
	feed(LINUX "/ # \r\n[   99.000000] Oops [#1]\r\n/ # ");
	ck_assert_int_eq(watcher_conclude(&w)->cause, WATCHER_CAUSE_OOPS);
	ck_assert_str_eq(find_warning("tainted")->text, "[   99.000000] Oops [#1]");
	check_state(WATCHER_STATE_SHELL);
}
END_TEST

START_TEST(warnings_and_steps_are_bounded)
{
	const struct watcher_warning *warnings;
	const struct watcher_step *steps;

	start(NULL);
	for (int i = 0; i < 100; i++) {
		char line[96];

		snprintf(line, sizeof(line), "[ %3d.000000] WARNING: CPU: 0 at x.c:%d\r\n", i, i);
		feed(OPENSBI LINUX);
		feed(line);
	}
	ck_assert_uint_eq(watcher_get_warnings(&w, &warnings), WATCHER_WARNINGS_MAX);
	ck_assert_uint_ge(w.warning_count, 100);
	ck_assert_uint_eq(watcher_get_steps(&w, &steps), WATCHER_STEPS_MAX);
	ck_assert_int_eq(steps[WATCHER_STEPS_MAX - 1].state, WATCHER_STATE_LINUX);
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
	for (size_t i = 0; i < WATCHER_STATES; i++)
		ck_assert_ptr_nonnull(watcher_state_name((enum watcher_state)i));
	for (size_t i = 0; i < WATCHER_CAUSES; i++)
		ck_assert_ptr_nonnull(watcher_cause_name((enum watcher_cause)i));
	ck_assert_str_eq(watcher_state_name(WATCHER_STATES), "?");
	ck_assert_str_eq(watcher_cause_name(WATCHER_CAUSES), "?");
	ck_assert_str_eq(
		watcher_match_loader_failure(rules, "** File not found x **"), "File not found");
	ck_assert_ptr_null(watcher_match_loader_failure(rules, "1234 bytes read in 5 ms"));
}
END_TEST

/* ---------------------------------------------------------------- captures */

#define LOGS "tests/data/boot-logs"

struct capture {
	char file[96], verdict[32], state[32];
	char *text;
	size_t size;
};

static bool read_row(FILE *index, struct capture *capture)
{
	char line[256];

	while (fgets(line, sizeof(line), index)) {
		char path[160];
		FILE *file;

		if (line[0] == '#')
			continue;
		ck_assert_int_eq(sscanf(line, "%95[^\t]\t%31[^\t]\t%31s", capture->file,
					 capture->verdict, capture->state),
			3);
		snprintf(path, sizeof(path), LOGS "/%s", capture->file);
		file = fopen(path, "rb");
		ck_assert_msg(file != NULL, "%s", path);
		capture->text = malloc(65536);
		ck_assert_ptr_nonnull(capture->text);
		capture->size = fread(capture->text, 1, 65536, file);
		fclose(file);
		return true;
	}
	return false;
}

static void judge_capture(const struct capture *capture, size_t piece)
{
	const struct watcher_config config = {.rules = rules, .medium = "sd"};

	ck_assert_int_eq(watcher_init(&w, &config), 0);
	for (size_t at = 0; at < capture->size; at += piece)
		watcher_feed(&w, 0, capture->text + at,
			capture->size - at < piece ? capture->size - at : piece);
	watcher_finish(&w);
	ck_assert_msg(!strcmp(watcher_cause_name(watcher_conclude(&w)->cause), capture->verdict),
		"%s in pieces of %zu: verdict %s, line %u: %s", capture->file, piece,
		watcher_cause_name(watcher_conclude(&w)->cause), watcher_conclude(&w)->line,
		watcher_conclude(&w)->text);
	ck_assert_msg(!strcmp(watcher_state_name(watcher_state(&w)), capture->state),
		"%s in pieces of %zu: state %s", capture->file, piece,
		watcher_state_name(watcher_state(&w)));
}

START_TEST(captures_are_judged_right_whole_and_in_any_pieces)
{
	static const size_t pieces[] = {65536, 1, 2, 7, 64, 509};
	FILE *index = fopen(LOGS "/INDEX.tsv", "r");
	struct capture capture;
	unsigned count = 0;

	ck_assert_msg(index != NULL, "run from the root of the tree");
	for (; read_row(index, &capture); count++) {
		struct watcher whole;

		judge_capture(&capture, pieces[0]);
		whole = w;
		for (size_t i = 1; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
			judge_capture(&capture, pieces[i]);
			ck_assert_mem_eq(&w, &whole, sizeof(w));
		}
		free(capture.text);
	}
	ck_assert_uint_ge(count, 60);
	fclose(index);
}
END_TEST

/* The verdict that is no capture's: nothing but a clock tells it. */
START_TEST(every_verdict_has_a_capture)
{
	for (size_t i = WATCHER_CAUSE_NONE + 1; i < WATCHER_CAUSES; i++) {
		FILE *index = fopen(LOGS "/INDEX.tsv", "r");
		struct capture capture;
		bool is_there = i == WATCHER_CAUSE_HANG;

		ck_assert_ptr_nonnull(index);
		while (read_row(index, &capture)) {
			is_there |=
				!strcmp(capture.verdict, watcher_cause_name((enum watcher_cause)i));
			free(capture.text);
		}
		fclose(index);
		ck_assert_msg(is_there, "%s", watcher_cause_name((enum watcher_cause)i));
	}
}
END_TEST

START_TEST(bytes_of_no_meaning_change_nothing)
{
	FILE *index = fopen(LOGS "/INDEX.tsv", "r");
	static char text[1 << 20];
	struct capture capture;

	ck_assert_ptr_nonnull(index);
	while (read_row(index, &capture)) {
		struct capture changed = capture;

		changed.text = text;
		changed.size = 0;
		for (size_t i = 0; i < capture.size; i++) {
			if (capture.text[i] == '\n') /* a colour, a NUL, and CR CR LF */
				changed.size += (size_t)sprintf(
					text + changed.size, "\x1b[0;32m\x1b[K\r\r");
			text[changed.size++] = capture.text[i];
			if (i % 3 == 0)
				text[changed.size++] = '\0';
		}
		judge_capture(&changed, 65536);
		free(capture.text);
	}
	fclose(index);
}
END_TEST

/* What `sameboard log classify` prints for a fixture; *code is its exit code. */
static char *classify(const char *arguments, int *code)
{
	const char *build = getenv("BUILD");
	char command[512];
	char *text = calloc(1, 65536);
	FILE *pipe;

	snprintf(command, sizeof(command), "%s/sameboard log classify %s 2>&1",
		build ? build : "build", arguments);
	pipe = popen(command, "r");
	ck_assert_ptr_nonnull(pipe);
	ck_assert_ptr_nonnull(text);
	ck_assert_uint_lt(fread(text, 1, 65535, pipe), 65535);
	*code = pclose(pipe);
	*code = WIFEXITED(*code) ? WEXITSTATUS(*code) : -1;
	return text;
}

static const char *get_text(const cJSON *json, const char *name)
{
	return cJSON_GetStringValue(cJSON_GetObjectItem(json, name));
}

START_TEST(the_command_prints_verdict_states_evidence_and_warnings)
{
	int code;
	char *text = classify("--json " LOGS "/13-oops-behind-a-prompt.log", &code);
	cJSON *json = cJSON_Parse(text);
	const cJSON *evidence = cJSON_GetObjectItem(json, "evidence");
	const cJSON *warning = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "warnings"), 0);

	ck_assert_msg(json != NULL, "%s", text);
	ck_assert_int_eq(code, 1);
	ck_assert_str_eq(get_text(json, "verdict"), "oops");
	ck_assert_str_eq(get_text(json, "state"), "shell");
	ck_assert_str_eq(
		cJSON_GetStringValue(cJSON_GetArrayItem(cJSON_GetObjectItem(json, "states"), 0)),
		"shell");
	ck_assert_int_eq(cJSON_GetObjectItem(evidence, "line")->valueint, 1);
	ck_assert_str_eq(get_text(evidence, "time"), "7201.500100");
	ck_assert_str_eq(get_text(warning, "kind"), "tainted");
	cJSON_Delete(json);
	free(text);
}
END_TEST

static const struct {
	const char *arguments;
	int code;
	const char *says;
} commands[] = {
	{LOGS "/06-login.log", 0, ": login, last state login\n"},
	{"- <" LOGS "/05-silent-at-handoff.log", 1, "standard input: hang, last state handoff"},
	{LOGS "/37-from-nand.log", 1, ": wrong-medium, last state spl\n"},
	{"--expect-medium=nand " LOGS "/37-from-nand.log", 0, ": booting"},
	{"--expect-medium=any " LOGS "/37-from-nand.log", 0, ": booting"},
	{"--expect-medium=nand " LOGS "/01-spl-to-autoboot.log", 1, ": wrong-medium"},
	{LOGS "/none.log", 2, "cannot open " LOGS "/none.log: No such file"},
	{LOGS, 2, "cannot read " LOGS ": Is a directory"},
	{"", 2, "usage: sameboard log"},
	{"--rules=" LOGS "/INDEX.tsv " LOGS "/06-login.log", 2, "INDEX.tsv:1: "},
	{"- </dev/null", 2, "- is empty"},
	{"--expect-medium=floppy " LOGS "/06-login.log", 2,
		"\"floppy\" is unknown; expected \"sd\""},
	/* As `ts -s` stamps them, from within the loader on. */
	{"- <<'END'\n1.000137 => booti 80200000\n1.204411 Starting kernel ...\n"
	 "2.1 [    0.000000] Linux version 6.1.0\n5.000959 # uname\nEND",
		0,
		"states: uboot-prompt (line 1), handoff (line 2), linux (line 3), shell (line 4)"},
};

START_TEST(exit_codes_tell_good_bad_and_usage)
{
	int code;
	char *text = classify(commands[_i].arguments, &code);

	ck_assert_msg(strstr(text, commands[_i].says), "%s", text);
	ck_assert_msg(code == commands[_i].code, "%d: %s", code, text);
	free(text);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

int main(void)
{
	Suite *suite = suite_create("watcher");
	TCase *watcher = tcase_create("watcher");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(watcher, set_up, tear_down);
	tcase_set_timeout(watcher, 30);
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
	tcase_add_test(watcher, a_second_first_banner_right_after_power_on_is_a_bounce);
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
	tcase_add_test(watcher, a_text_is_found_where_pieces_of_a_long_line_meet);
	tcase_add_test(watcher, a_short_prompt_is_believed_in_silence_or_with_a_command);
	tcase_add_test(watcher, what_went_well_in_the_end_is_a_warning);
	tcase_add_test(watcher, an_oops_in_a_shell_that_works_is_a_taint);
	tcase_add_test(watcher, warnings_and_steps_are_bounded);
	tcase_add_test(watcher, any_bytes_are_survived);
	tcase_add_test(watcher, every_state_and_cause_has_a_word);
	tcase_add_test(watcher, captures_are_judged_right_whole_and_in_any_pieces);
	tcase_add_test(watcher, every_verdict_has_a_capture);
	tcase_add_test(watcher, bytes_of_no_meaning_change_nothing);
	tcase_add_test(watcher, the_command_prints_verdict_states_evidence_and_warnings);
	tcase_add_loop_test(watcher, exit_codes_tell_good_bad_and_usage, 0, COUNT(commands));
	suite_add_tcase(suite, watcher);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
