/* SPDX-License-Identifier: Apache-2.0 */
/* The command line's tables agree, and what is typed wrong is refused with the word in it. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli.h"
#include "harness/cli_options.h"
#include "tests/vboard_rig.h"

static bool is_option(const char *name)
{
	for (const struct cli_option *option = cli_options; option->name; option++)
		if (strcmp(option->name, name) == 0)
			return true;
	return false;
}

static void expect_options(const struct cli_command *command)
{
	for (; command->name; command++) {
		char list[512], *rest = list, *name;

		ck_assert_uint_lt(strlen(command->options), sizeof(list));
		strcpy(list, command->options);
		while ((name = strsep(&rest, " ")))
			ck_assert_msg(is_option(name), "%s takes --%s, which is no option",
				command->name, name);
	}
}

START_TEST(every_option_of_a_command_is_in_the_table)
{
	expect_options(cli_commands);
	expect_options(cli_internal_commands);
}
END_TEST

START_TEST(every_option_in_the_table_is_taken_by_a_command)
{
	size_t count = 0;

	for (const struct cli_option *option = cli_options; option->name; option++, count++) {
		bool is_taken = false;

		for (const struct cli_command *command = cli_commands; command->name; command++)
			is_taken |= cli_option_is_of(option, command->options);
		for (const struct cli_command *command = cli_internal_commands; command->name;
			command++)
			is_taken |= cli_option_is_of(option, command->options);
		ck_assert_msg(is_taken, "--%s belongs to no command", option->name);
	}
	ck_assert_uint_lt(count, CLI_OPTIONS_MAX);
}
END_TEST

START_TEST(a_name_within_another_is_not_that_option)
{
	const struct cli_option image = {.name = "image"};

	ck_assert(!cli_option_is_of(&image, "images db"));
	ck_assert(!cli_option_is_of(&image, "db subimage"));
	ck_assert(cli_option_is_of(&image, "images image"));
	ck_assert(cli_option_is_of(&image, "image"));
}
END_TEST

static const struct wrong {
	const char *typed;
	const char *said;
} wrong[] = {
	{"list --colour", "unknown option --colour"},
	{"list --limit", "no value for --limit"},
	{"list --limit=0", "--limit: \"0\" is no number from 1 to 1000000"},
	{"list --limit=9x", "--limit: \"9x\" is no number"},
	{"list --db=", "--db: no value"},
	{"list -o linux", "unknown option -o"},
	{"report --html --csv", "a report has one format"},
	{"run", "usage: sameboard run"},
	{"run smoke core", "usage: sameboard run"},
	{"run smoke --os=linux,linux", "\"linux\" is named twice"},
	{"run smoke --image=linux=a.img", "is not OS=FILE@SHA256"},
	{"measure", "unknown command \"measure\""},
};

START_TEST(what_is_typed_wrong_is_named_and_ends_with_2)
{
	char program[256], command[512], text[1024] = "";
	FILE *out;

	rig_find_program("sameboard", program, sizeof(program));
	snprintf(command, sizeof(command), "'%s' %s 2>&1 >/dev/null", program, wrong[_i].typed);
	out = popen(command, "r");
	ck_assert_ptr_nonnull(out);
	text[fread(text, 1, sizeof(text) - 1, out)] = '\0';
	ck_assert_int_eq(pclose(out), CLI_USAGE << 8);
	ck_assert_msg(strstr(text, wrong[_i].said), "%s: %s", wrong[_i].typed, text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cli");
	SRunner *runner = srunner_create(suite);
	TCase *tcase = tcase_create("cli");
	int failed;

	tcase_add_test(tcase, every_option_of_a_command_is_in_the_table);
	tcase_add_test(tcase, every_option_in_the_table_is_taken_by_a_command);
	tcase_add_test(tcase, a_name_within_another_is_not_that_option);
	tcase_add_loop_test(tcase, what_is_typed_wrong_is_named_and_ends_with_2, 0,
		sizeof(wrong) / sizeof(wrong[0]));
	tcase_set_timeout(tcase, 30);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
