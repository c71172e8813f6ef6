/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole runs on the virtual panel whose lab file lets pulls raise the line, with
 * the UART clock of the real board.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/rates.h"
#include "tests/json_fields.h"
#include "tests/lab_rig.h"

static void run_and_count(struct lab_rig *rig, const char *suite, unsigned proofs)
{
	cJSON *show;

	ck_assert_msg(lab_rig_run(rig, (const char *[]){"run", suite, NULL}) == 0, "%s%s", rig->out,
		rig->err);
	show = lab_rig_show(rig);
	ck_assert_str_eq(cJSON_GetStringValue(cJSON_GetObjectItem(show, "verdict")), "pass");
	ck_assert_uint_eq(count_events(show, "rate", "1500000 baud proven"), proofs);
	ck_assert_uint_eq(count_events(show, "rate", "does not work"), 0);
	ck_assert_uint_eq(count_events(show, "rate", "given up"), 0);
	cJSON_Delete(show);
}

START_TEST(pulls_are_raised_on_each_system_and_a_rate_is_proven_once)
{
	struct lab_rig rig;
	const char *suite;

	lab_rig_start_raised(&rig, NULL, 64);
	suite = lab_rig_write_suite(&rig, "\"linux\"",
		"{ \"bench\": \"wake.idle\", \"n\": 16000, \"period_us\": 500 }", 20);
	run_and_count(&rig, suite, 1);
	suite = lab_rig_write_suite(&rig, "\"baremetal\"",
		"{ \"bench\": \"wake.idle\", \"n\": 16000, \"period_us\": 500 }", 20);
	run_and_count(&rig, suite, 0);
	lab_rig_stop(&rig);
}
END_TEST

START_TEST(what_was_proven_is_kept_by_port_and_rate)
{
	struct link_config port = {.driver = "serial", .usb = "0403:6001", .usb_serial = "A5"};
	struct link_config other = {.driver = "serial", .usb = "0403:6001", .usb_serial = "A6"};
	struct scratch scratch;
	int64_t now = 1800000000;

	scratch_init(&scratch);
	setenv("SAMEBOARD_STATE", scratch_path(&scratch, "state"), 1);
	ck_assert_int_eq(rates_get(&port, 1500000, now), RATES_UNKNOWN);
	ck_assert_int_eq(rates_set(&port, 1500000, true, now), 0);
	ck_assert_int_eq(rates_set(&port, 750000, false, now), 0);
	ck_assert_int_eq(rates_get(&port, 1500000, now + 1000000), RATES_GOOD);
	ck_assert_int_eq(rates_get(&port, 750000, now + 10), RATES_BAD);
	ck_assert_int_eq(rates_get(&port, 750000, now + 24 * 3600), RATES_UNKNOWN);
	ck_assert_int_eq(rates_get(&port, 500000, now), RATES_UNKNOWN);
	ck_assert_int_eq(rates_get(&other, 1500000, now), RATES_UNKNOWN);
	/* The last word counts. */
	ck_assert_int_eq(rates_set(&port, 1500000, false, now), 0);
	ck_assert_int_eq(rates_get(&port, 1500000, now), RATES_BAD);
	scratch_fini(&scratch);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("run_raised");
	TCase *memory = tcase_create("memory");
	TCase *run = tcase_create("run");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(memory, what_was_proven_is_kept_by_port_and_rate);
	suite_add_tcase(suite, memory);
	tcase_set_timeout(run, 300);
	tcase_add_test(run, pulls_are_raised_on_each_system_and_a_rate_is_proven_once);
	suite_add_tcase(suite, run);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
