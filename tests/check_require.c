/* SPDX-License-Identifier: Apache-2.0 */
/* What a suite requires of a board, and the gate that says it is not there. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "harness/gates.h"
#include "harness/require.h"

#define SUITE(require)                                                                             \
	"{ \"systems\": [\"linux\", \"baremetal\"], \"require\": " require                         \
	", \"windows\": [{\"bench\": \"wake.idle\"}] }"

static const char facts[] = "display=DSI-1\ndisplay.mode=480x480\ntouch=none\nwifi.state=down\n";

static const struct {
	const char *require, *system;
	size_t count;
	const char *note;
} cases[] = {
	{"{}", "linux", 0, ""},
	{"{\"display\": \"*\", \"display.mode\": \"480x480\"}", "linux", 2, ""},
	{"{\"display.mode\": \"1024x600\"}", "linux", 1,
		"display.mode: \"1024x600\" is required, the system reports \"480x480\""},
	{"{\"touch\": \"*\"}", "linux", 1, "touch: \"*\" is required, the system reports \"none\""},
	{"{\"touch\": \"none\"}", "linux", 1, ""},
	{"{\"ip\": \"*\"}", "linux", 1, "ip: \"*\" is required, the system reports nothing"},
	/* The first that is missing is told. */
	{"{\"display\": \"*\", \"wifi.state\": \"up\", \"ip\": \"*\"}", "linux", 3,
		"wifi.state: \"up\" is required, the system reports \"down\""},
	{"{\"linux:touch\": \"*\"}", "baremetal", 0, ""},
	{"{\"linux:touch\": \"*\"}", "linux-rt", 0, ""},
	{"{\"linux:touch\": \"*\"}", "linux", 1,
		"touch: \"*\" is required, the system reports \"none\""},
};

static void open_suite(struct suite **suite, const char *require)
{
	char text[512];

	snprintf(text, sizeof(text), SUITE("%s"), require);
	ck_assert_msg(suite_parse(suite, "f", text, strlen(text)) == 0, "%s", suite_error(*suite));
}

START_TEST(what_is_required_is_looked_for_in_the_facts)
{
	char note[256];
	struct suite *suite;

	open_suite(&suite, cases[_i].require);
	ck_assert_uint_eq(
		require_check(suite, cases[_i].system, facts, note, sizeof(note)), cases[_i].count);
	ck_assert_str_eq(note, cases[_i].note);
	suite_close(suite);
}
END_TEST

static const struct {
	size_t required;
	bool has_facts;
	const char *note;
	enum gate_verdict verdict;
} gates[] = {
	{0, true, NULL, GATE_VERDICT_NOT_APPLICABLE},
	{2, true, NULL, GATE_VERDICT_PASS},
	{2, true, "touch: \"*\" is required, the system reports \"none\"", GATE_VERDICT_FAIL},
	{2, false, NULL, GATE_VERDICT_UNKNOWN},
};

START_TEST(what_is_missing_fails_its_gate_with_the_fact_in_the_text)
{
	struct gate_run run = {.counter_hz = 1000,
		.required = gates[_i].required,
		.has_facts = gates[_i].has_facts,
		.required_note = gates[_i].note};
	struct gate_set set = {0};

	gate_judge_run(&set, &run);
	for (size_t i = 0; i < set.count; i++) {
		if (strcmp(set.gates[i].id, "required-facts") != 0)
			continue;
		ck_assert_int_eq(set.gates[i].verdict, gates[_i].verdict);
		if (gates[_i].note)
			ck_assert_str_eq(set.gates[i].evidence, gates[_i].note);
		gate_set_free(&set);
		return;
	}
	ck_abort_msg("the gate was not judged");
}
END_TEST

START_TEST(a_required_value_is_a_text)
{
	static const char text[] = SUITE("{\"touch\": true}");
	struct suite *suite;

	ck_assert_int_ne(suite_parse(&suite, "f", text, strlen(text)), 0);
	ck_assert_msg(
		strstr(suite_error(suite), "require.touch") != NULL, "%s", suite_error(suite));
	suite_close(suite);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("require");
	TCase *tcase = tcase_create("require");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, what_is_required_is_looked_for_in_the_facts, 0,
		sizeof(cases) / sizeof(cases[0]));
	tcase_add_loop_test(tcase, what_is_missing_fails_its_gate_with_the_fact_in_the_text, 0,
		sizeof(gates) / sizeof(gates[0]));
	tcase_add_test(tcase, a_required_value_is_a_text);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
