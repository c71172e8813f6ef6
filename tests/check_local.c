/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `--board local`: this machine, its agent a child over a pseudo-terminal, by
 * the same protocol, without a relay and a card.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/lab_rig.h"

static struct lab_rig rig;

static void set_up(void)
{
	lab_rig_start_unplugged(&rig);
}

static void tear_down(void)
{
	lab_rig_stop(&rig);
}

static const char *text_of(const cJSON *json, const char *key)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(json, key));

	return text ? text : "";
}

static const char *write_suite(const char *more)
{
	static char path[300];
	char text[512];

	snprintf(text, sizeof(text),
		"{ \"systems\": [\"linux\", \"baremetal\"], \"soak_s\": 0, %s\n"
		"  \"allow_unknown\": [\"settings\", \"clock-audit\", \"clock-host\"],\n"
		"  \"windows\": [ { \"bench\": \"wake.idle\", \"n\": 200 },\n"
		"    { \"bench\": \"clock.audit\", \"duration_ms\": 10000 } ] }\n",
		more);
	snprintf(path, sizeof(path), "%s",
		scratch_write(&rig.scratch, "local.json", text, strlen(text)));
	return path;
}

/* Whether numbers are good enough is the machine's matter; that they came is ours. */
START_TEST(this_machine_is_measured_as_a_board_is)
{
	static const char *const not_applicable[] = {"image-identity", "soak", "required-facts"};
	static const char *const holds[] = {"one-session", "timed-sleep", "interrupts-advance",
		"samples-complete", "silence", "not-clipped"};
	const char *suite = write_suite("");
	int exit_code = lab_rig_run(&rig, (const char *[]){"run", suite, "--board=local", NULL});
	cJSON *show;

	ck_assert_msg(exit_code == 0 || exit_code == 1, "%s", rig.err);
	show = lab_rig_show(&rig);
	ck_assert_str_eq(text_of(show, "board"), "local");
	ck_assert_str_eq(text_of(show, "system"), "linux");
	for (size_t i = 0; i < sizeof(not_applicable) / sizeof(not_applicable[0]); i++) {
		const cJSON *gate = lab_rig_find_gate(show, not_applicable[i], "not-applicable");

		ck_assert_msg(gate != NULL, "%s is judged", not_applicable[i]);
		ck_assert_uint_gt(strlen(text_of(gate, "evidence")), 10);
	}
	for (size_t i = 0; i < sizeof(holds) / sizeof(holds[0]); i++)
		ck_assert_msg(lab_rig_find_gate(show, holds[i], "pass") != NULL, "%s does not hold",
			holds[i]);
	ck_assert_msg(strstr(rig.err, "card") == NULL || strstr(rig.err, "writing") == NULL, "%s",
		rig.err);
	cJSON_Delete(show);
	lab_rig_check_db(&rig);
}
END_TEST

START_TEST(nothing_is_booted_here)
{
	static const struct {
		const char *more, *option, *says;
	} cases[] = {
		{"", "--os=baremetal", "boots nothing"},
		{"\"golden\": \"baremetal\",", "--os=linux", "before and after"},
		{"\"time\": \"icount\",", "--os=linux", "\"icount\""},
	};
	const char *suite = write_suite(cases[_i].more);

	ck_assert_int_eq(lab_rig_run(&rig, (const char *[]){"run", suite, "--board=local",
						   cases[_i].option, NULL}),
		2);
	ck_assert_msg(strstr(rig.err, cases[_i].says) != NULL, "%s", rig.err);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("local");
	TCase *tcase = tcase_create("local");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 120);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, this_machine_is_measured_as_a_board_is);
	tcase_add_loop_test(tcase, nothing_is_booted_here, 0, 3);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
