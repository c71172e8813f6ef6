/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The small Linux agent, static with musl, as a system of the virtual panel.  No
 * rows that make threads: musl maps memory for each, and its pages fault in the window.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/json_fields.h"
#include "tests/lab_rig.h"

START_TEST(it_measures_like_the_other_under_loads_and_with_priorities)
{
	struct lab_rig rig;
	const char *suite;
	cJSON *show;

	lab_rig_start(&rig, NULL, 64);
	suite = lab_rig_write_suite(&rig, "\"linux-musl\"",
		"{ \"bench\": \"wake.cpu\", \"n\": 200, \"phase\": \"aligned\" }, "
		"{ \"bench\": \"wake.idle\", \"n\": 200, \"phase\": \"aligned\", \"load\": \"io\" }, "
		"{ \"bench\": \"mutex.handoff\", \"n\": 200 }, "
		"{ \"bench\": \"sem.handoff\", \"n\": 200 }",
		12);
	lab_rig_expect(&rig, 0, (const char *[]){"run", suite, NULL});
	show = lab_rig_show(&rig);
	ck_assert_str_eq(cJSON_GetStringValue(cJSON_GetObjectItem(show, "verdict")), "pass");
	ck_assert_str_eq(fact_of(show, "agent_libc"), "musl");
	ck_assert_str_eq(fact_of(show, "tuning.policy"), "SCHED_FIFO");
	ck_assert_str_eq(fact_of(show, "settings.unfair"), "no");
	cJSON_Delete(show);
	lab_rig_stop(&rig);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("musl");
	TCase *job = tcase_create("job");
	SRunner *runner;
	int failed;

	tcase_set_timeout(job, 240);
	tcase_add_test(job, it_measures_like_the_other_under_loads_and_with_priorities);
	suite_add_tcase(suite, job);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
