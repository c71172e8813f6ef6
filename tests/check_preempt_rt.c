/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PREEMPT_RT and its twin as systems of the virtual panel.  Skipped only where
 * `make images-rt` has never been run: their kernels take long to build.
 * SAMEBOARD_RT=compare also measures how late wake-ups come, in repeatable time.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/json_fields.h"
#include "tests/lab_rig.h"

static bool has_images(void)
{
	if (access("build/images/linux-rt.json", R_OK) == 0 &&
		access("build/images/linux-twin.json", R_OK) == 0)
		return true;
	puts("SKIP: no images of linux-rt and linux-twin: make images-rt (a quarter of an hour)");
	return false;
}

static void check_facts(const cJSON *show, const cJSON *manifest, const char *preemption)
{
	const char *hash = cJSON_GetStringValue(
		cJSON_GetObjectItem(cJSON_GetObjectItem(manifest, "build"), "config_sha256"));

	ck_assert_str_eq(fact_of(show, "preemption"), preemption);
	ck_assert_str_eq(fact_of(show, "config_sha256"), hash);
	ck_assert_str_ne(fact_of(show, "config_crc32"), "");
	ck_assert_str_eq(fact_of(show, "settings.unfair"), "no");
	ck_assert_str_eq(fact_of(show, "tuning.fair_server"), "0");
	ck_assert_str_eq(fact_of(show, "tuning.sched_rt_runtime_us"), "-1");
	ck_assert_str_eq(fact_of(show, "clock_event"), "riscv_timer_clockevent");
	ck_assert_msg(strncmp(fact_of(show, "firmware"), "OpenSBI ", 8) == 0, "%s",
		fact_of(show, "firmware"));
}

/* One of the two in each run of the tests' program, so that a check stays short. */
START_TEST(a_kernel_of_the_two_runs_like_any_other_system)
{
	const char *system = _i ? "linux-twin" : "linux-rt";
	char option[32];
	struct lab_rig rig;
	const char *suite;
	cJSON *show, *manifest;

	if (!has_images())
		return;
	lab_rig_start(&rig, NULL, 64);
	suite = lab_rig_write_suite(&rig, "\"linux-rt\", \"linux-twin\"",
		"{ \"bench\": \"wake.cpu\", \"n\": 200, \"phase\": \"aligned\" }, "
		"{ \"bench\": \"mutex.handoff\", \"n\": 200 }",
		12);
	snprintf(option, sizeof(option), "--os=%s", system);
	lab_rig_expect(&rig, 0, (const char *[]){"run", suite, option, NULL});
	show = lab_rig_show(&rig);
	manifest = lab_rig_read_manifest(&rig, system);
	ck_assert_str_eq(cJSON_GetStringValue(cJSON_GetObjectItem(show, "verdict")), "pass");
	check_facts(show, manifest, _i ? "PREEMPT_VOLUNTARY" : "PREEMPT_RT");
	cJSON_Delete(manifest);
	cJSON_Delete(show);
	lab_rig_stop(&rig);
}
END_TEST

/* The largest of a row of a system, in us. */
static double find_max(const cJSON *json, const char *system, const char *row)
{
	const cJSON *rows = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "comparison"), "rows");
	const cJSON *at, *cell;

	cJSON_ArrayForEach(at, rows)
	{
		const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(at, "row"));

		if (!name || strcmp(name, row) != 0)
			continue;
		cJSON_ArrayForEach(cell, cJSON_GetObjectItem(at, "cells"))
		{
			const char *of = cJSON_GetStringValue(cJSON_GetObjectItem(cell, "system"));

			if (of && strcmp(of, system) == 0)
				return cJSON_GetNumberValue(cJSON_GetObjectItem(cell, "max_us"));
		}
	}
	ck_abort_msg("no %s of %s", row, system);
	return 0;
}

START_TEST(above_a_busy_processor_preempt_rt_is_never_as_late_as_its_twin)
{
	static const char *const rows[] = {"wake.cpu aligned", "wake.cpu arbitrary"};
	double rt = 0, twin = 0;
	struct lab_rig rig;
	cJSON *json;

	if (!getenv("SAMEBOARD_RT")) {
		puts("SKIP: two minutes in repeatable time: make campaign-rt");
		return;
	}
	ck_assert(has_images());
	lab_rig_start_icount(&rig, 64);
	lab_rig_expect(&rig, 0, (const char *[]){"run", "rt-compare", "--json", NULL});
	json = lab_rig_json(&rig);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rt = fmax(rt, find_max(json, "linux-rt", rows[i]));
		twin = fmax(twin, find_max(json, "linux-twin", rows[i]));
	}
	printf("wake.cpu: max %.1f us of linux-rt, %.1f us of linux-twin\n", rt, twin);
	ck_assert_double_lt(rt, twin);
	cJSON_Delete(json);
	lab_rig_stop(&rig);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("preempt_rt");
	TCase *tcase = tcase_create("preempt_rt");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 900);
	tcase_add_loop_test(tcase, a_kernel_of_the_two_runs_like_any_other_system, 0, 2);
	tcase_add_test(tcase, above_a_busy_processor_preempt_rt_is_never_as_late_as_its_twin);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
