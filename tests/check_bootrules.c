/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/bootrules.h"
#include "harness/lab.h"
#include "tests/scratch.h"

static struct bootrules *parse(const char *text)
{
	struct bootrules *rules;
	int result = bootrules_parse(&rules, "own.json", text, strlen(text));

	ck_assert_msg(result == 0, "%s", bootrules_error(rules));
	return rules;
}

static const char *judge(const struct bootrules *rules, const char *text)
{
	const struct watcher_config config = {.rules = bootrules_get(rules)};
	static struct watcher watcher;

	ck_assert_int_eq(watcher_init(&watcher, &config), 0);
	watcher_feed(&watcher, 0, text, strlen(text));
	watcher_finish(&watcher);
	return watcher_cause_name(watcher_conclude(&watcher)->cause);
}

START_TEST(built_in_rules_are_the_file_of_the_tree)
{
	struct bootrules *built_in, *file;
	const struct watcher_rules *a, *b;

	ck_assert_msg(bootrules_open(&built_in, NULL) == 0, "%s", bootrules_error(built_in));
	ck_assert_int_eq(bootrules_open(&file, "harness/rules/boot.json"), 0);
	a = bootrules_get(built_in);
	b = bootrules_get(file);
	ck_assert_uint_gt(a->rule_count, 100);
	ck_assert_uint_eq(b->rule_count, 2 * a->rule_count);
	for (size_t i = 0; i < a->rule_count; i++)
		ck_assert_str_eq(a->rules[i].texts[0], b->rules[i].texts[0]);
	ck_assert_uint_eq(a->limit_ms[WATCHER_STATE_HANDOFF], 30000);
	bootrules_close(built_in);
	bootrules_close(file);
}
END_TEST

/* A rule that stands behind a wider one never counts. */
START_TEST(no_built_in_rule_hides_another)
{
	struct bootrules *built_in;
	const struct watcher_rules *all;

	ck_assert_int_eq(bootrules_open(&built_in, NULL), 0);
	all = bootrules_get(built_in);
	for (size_t i = 0; i < all->rule_count; i++) {
		const struct watcher_rule *wide = &all->rules[i];

		if (wide->texts[1] || wide->without || wide->is_printk)
			continue;
		for (size_t k = i + 1; k < all->rule_count; k++) {
			const struct watcher_rule *rule = &all->rules[k];
			bool is_within =
				!wide->states || (rule->states && !(rule->states & ~wide->states));

			ck_assert_msg(!is_within || !strstr(rule->texts[0], wide->texts[0]),
				"\"%s\" hides \"%s\"", wide->texts[0], rule->texts[0]);
		}
	}
	bootrules_close(built_in);
}
END_TEST

START_TEST(own_rules_come_first_and_all_keys_are_taken)
{
	struct bootrules *rules = parse(
		"{\"description\": \"\", // a comment\n\"rules\": ["
		"{\"text\": \"Kernel panic\", \"without\": \"!\", \"ignore\": true},"
		"{\"text\": \"a\", \"then\": [\"b\", \"c\"], \"from\": [\"none\", \"loader\"],"
		" \"verdict\": \"oom\", \"state\": \"uboot\", \"printk\": true}],"
		"\"prompts\": [{\"text\": \"os> \", \"state\": \"shell\", \"system\": \"other-os\","
		" \"from\": [\"system\"], \"anywhere\": true, \"weak\": true}],"
		"\"loader_failures\": [\"no luck\"], \"replays\": [\"history\"],"
		"\"silence_ms\": {\"linux\": 5, \"handoff\": 0}}");
	const struct watcher_rules *all = bootrules_get(rules);

	ck_assert_str_eq(all->rules[1].texts[2], "c");
	ck_assert(all->rules[1].is_printk);
	ck_assert_uint_eq(all->rules[1].states, WATCHER_BIT(WATCHER_STATE_NONE) |
							WATCHER_BIT(WATCHER_STATE_UBOOT) |
							WATCHER_BIT(WATCHER_STATE_UBOOT_PROMPT) |
							WATCHER_BIT(WATCHER_STATE_HANDOFF));
	ck_assert_int_eq(all->rules[1].cause, WATCHER_CAUSE_OOM);
	ck_assert_int_eq(all->rules[1].state, WATCHER_STATE_UBOOT);
	ck_assert_int_eq(all->prompts[0].system, WATCHER_STATE_OTHER_OS);
	ck_assert(all->prompts[0].is_weak && all->prompts[0].is_anywhere);
	ck_assert_str_eq(all->loader_failures[0], "no luck");
	ck_assert_str_eq(all->replays[0], "history");
	ck_assert_uint_eq(all->limit_ms[WATCHER_STATE_LINUX], 5);
	ck_assert_uint_eq(all->limit_ms[WATCHER_STATE_HANDOFF], 0);
	ck_assert_uint_eq(all->limit_ms[WATCHER_STATE_UBOOT], 30000);
	ck_assert_str_eq(judge(rules, "Kernel panic - not syncing: x\n"), "booting");
	ck_assert_str_eq(judge(rules, "Kernel panic - not syncing: x!\n"), "panic");
	ck_assert_str_eq(judge(rules, "[    1.000000] a b c\n"), "oom");
	ck_assert_str_eq(judge(rules, "[    1.000000] a c b\n"), "booting");
	ck_assert_str_eq(judge(rules, "a b c\n"), "booting");
	bootrules_close(rules);
}
END_TEST

START_TEST(a_file_can_do_without_the_built_in_rules)
{
	struct bootrules *rules = parse("{\"replace\": true, \"rules\": ["
					"{\"text\": \"dead\", \"verdict\": \"hang\"}]}");

	ck_assert_uint_eq(bootrules_get(rules)->rule_count, 1);
	ck_assert_uint_eq(bootrules_get(rules)->prompt_count, 0);
	ck_assert_str_eq(judge(rules, "Kernel panic - not syncing\nroot@a:~# "), "booting");
	ck_assert_str_eq(judge(rules, "it is dead\n"), "hang");
	bootrules_close(rules);
}
END_TEST

#define RULE(text) "{\n\"rules\": [\n" text "]}"
#define LONG64	   "0123456789012345678901234567890123456789012345678901234567890123"

static const struct {
	const char *text, *error;
} bad[] = {
	{"{\"rule\": []}", "own.json:1: rule: unknown key; did you mean \"rules\"?"},
	{RULE("{\"text\": \"x\"}"),
		"own.json:3: rules[0]: says nothing of its line; expected one of \"banner\""},
	{RULE("{\"text\": \"x\", \"ignore\": true,\n\"verdict\": \"oom\"}"),
		"own.json:3: rules[0]: says two things of one line; expected one of"},
	{RULE("{\"text\": \"x\",\n\"banner\": \"spl\", \"state\": \"spl\"}"),
		"own.json:4: rules[0].state: has no meaning here; expected it without \"banner\""},
	{RULE("{\"text\": \"x\",\n\"verdict\": \"shell\"}"),
		"own.json:4: rules[0].verdict: \"shell\" is unknown; expected \"panic\""},
	{RULE("{\"text\": \"x\", \"state\": \"uboot\",\n\"from\": [\"spl\", \"bios\"]}"),
		"own.json:4: rules[0].from: \"bios\" is unknown; expected a state"},
	{RULE("{\"text\": \"x\", \"ignore\": true, \"then\": [\"1\", \"2\", \"3\"]}"),
		"own.json:3: rules[0].then: has 3 texts; expected 1 to 2"},
	{RULE("{\"text\": \"" LONG64 LONG64 "\", \"ignore\": true}"),
		"own.json:3: rules[0].text: is 128 bytes long; expected at most 127"},
	{RULE("{\"verdict\": \"oom\"}"), "own.json:3: rules[0]: key \"text\" is missing"},
	{"{\"prompts\": [{\"text\": \"*> \", \"state\": \"shell\", \"anywhere\": true}]}",
		"own.json:1: prompts[0].anywhere: a prompt with '*' stands at the start of a line"},
	{"{\"silence_ms\": {\n\"bios\": 5}}",
		"own.json:2: silence_ms.bios: is no state; expected \"none\""},
	{"{\"silence_ms\": {\"linux\": -1}}",
		"own.json:1: silence_ms.linux: -1 is out of range; expected an integer"},
	{"[]", "own.json:1: "},
};

START_TEST(mistakes_are_told_with_their_line)
{
	struct bootrules *rules;
	int result = bootrules_parse(&rules, "own.json", bad[_i].text, strlen(bad[_i].text));

	ck_assert_int_eq(result, -EINVAL);
	ck_assert_ptr_null(bootrules_get(rules));
	ck_assert_msg(!strncmp(bootrules_error(rules), bad[_i].error, strlen(bad[_i].error)), "%s",
		bootrules_error(rules));
	bootrules_close(rules);
}
END_TEST

#define LAB                                                                                        \
	"{\"boards\": {\"b\": {\"model\": \"m\",\n"                                                \
	"\"console\": {\"driver\": \"pty\", \"path\": \"/dev/null\"},\n"                           \
	"\"power\": {\"driver\": \"lcus\", \"port\": {\"driver\": \"pty\", \"path\": "             \
	"\"/dev/zero\"}},\n"                                                                       \
	"\"rules\": \"%s\"}}}"

START_TEST(a_board_of_the_lab_file_has_its_own_rules)
{
	static const char good[] = "{\"rules\": [{\"text\": \"dead\", \"verdict\": \"hang\"}]}";
	static const char wrong[] = "{\n\"rules\": [{\"text\": \"dead\"}]}";
	char path[256], text[1024];
	struct scratch scratch;
	struct lab *lab;

	scratch_init(&scratch);
	snprintf(path, sizeof(path), "%s", scratch_path(&scratch, "lab.json"));
	snprintf(text, sizeof(text), LAB, "own.json");
	scratch_write(&scratch, "own.json", good, sizeof(good) - 1);
	ck_assert_msg(lab_parse(&lab, path, text, strlen(text)) == 0, "%s", lab_error(lab));
	ck_assert_str_eq(judge(lab->boards[0].rules, "it is dead\n"), "hang");
	ck_assert_str_eq(judge(lab->boards[0].rules, "Kernel panic - not syncing\n"), "panic");
	lab_close(lab);
	scratch_write(&scratch, "own.json", wrong, sizeof(wrong) - 1);
	ck_assert_int_eq(lab_parse(&lab, path, text, strlen(text)), -EINVAL);
	ck_assert_msg(strstr(lab_error(lab), "lab.json:4: boards.b.rules: "), "%s", lab_error(lab));
	ck_assert_msg(
		strstr(lab_error(lab), "own.json:2: rules[0]: says nothing"), "%s", lab_error(lab));
	lab_close(lab);
	snprintf(text, sizeof(text), LAB, "none.json");
	ck_assert_int_ne(lab_parse(&lab, path, text, strlen(text)), 0);
	ck_assert_ptr_nonnull(strstr(lab_error(lab), "none.json"));
	lab_close(lab);
	scratch_fini(&scratch);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bootrules");
	TCase *tcase = tcase_create("bootrules");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tcase, built_in_rules_are_the_file_of_the_tree);
	tcase_add_test(tcase, no_built_in_rule_hides_another);
	tcase_add_test(tcase, own_rules_come_first_and_all_keys_are_taken);
	tcase_add_test(tcase, a_file_can_do_without_the_built_in_rules);
	tcase_add_loop_test(
		tcase, mistakes_are_told_with_their_line, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(tcase, a_board_of_the_lab_file_has_its_own_rules);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
