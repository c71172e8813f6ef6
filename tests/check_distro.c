/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debian with systemd, driven like any other system.  It is only run when asked
 * for: it boots three times, each for a minute.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/json_fields.h"
#include "tests/lab_rig.h"

static bool is_wanted(void)
{
	if (getenv("SAMEBOARD_DISTRO"))
		return true;
	puts("SKIP: linux-distro: make check-distro (some minutes)");
	return false;
}

START_TEST(a_distribution_passes_smoke)
{
	struct lab_rig rig;
	cJSON *show;

	if (!is_wanted())
		return;
	lab_rig_start(&rig, NULL, 256);
	lab_rig_expect(&rig, 0, (const char *[]){"run", "smoke", "--os=linux-distro", NULL});
	ck_assert(!lab_rig_has_power(&rig));
	show = lab_rig_show(&rig);
	ck_assert_str_eq(text_of(show, "verdict"), "pass");
	ck_assert_uint_eq(
		count_events(show, "first-boot", "boot 1 of 2: the system has started"), 1);
	ck_assert_uint_eq(count_events(show, "first-boot", "boot 2 of 2: over"), 1);
	ck_assert_uint_eq(count_events(show, "ready", "is-system-running"), 2);
	ck_assert_uint_eq(count_events(show, "shutdown", "reboot: Power down"), 2);
	cJSON_Delete(show);
	lab_rig_stop(&rig);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("distro");
	TCase *cases = tcase_create("distro");
	SRunner *runner;
	int failed;

	tcase_set_timeout(cases, 3600);
	tcase_add_test(cases, a_distribution_passes_smoke);
	suite_add_tcase(suite, cases);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
