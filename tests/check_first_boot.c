/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Systems that need more than power: a first boot after their card was written,
 * and an end before power goes.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/json_fields.h"
#include "tests/lab_rig.h"

/* The Linux of the panel says that it writes its card, and how it ends. */
static void change_linux(struct lab_rig *rig, bool has_first_boot, const char *command)
{
	cJSON *manifest = lab_rig_read_manifest(rig, "linux");
	cJSON *shutdown = cJSON_AddObjectToObject(manifest, "shutdown");

	cJSON_ReplaceItemInObject(manifest, "writes_card", cJSON_CreateTrue());
	cJSON_AddStringToObject(manifest, "prompt", "~ # ");
	cJSON_AddStringToObject(shutdown, "command", command);
	cJSON_AddStringToObject(shutdown, "halted", "reboot: Power down");
	cJSON_AddNumberToObject(shutdown, "timeout", has_first_boot ? 120 : 1);
	if (has_first_boot)
		cJSON_AddNumberToObject(
			cJSON_AddObjectToObject(manifest, "first_boot"), "timeout", 300);
	lab_rig_write_manifest(rig, "linux", manifest);
}

static unsigned count_lines(struct lab_rig *rig, const char *part)
{
	FILE *log = fopen(scratch_path(&rig->scratch, "board/log"), "r");
	unsigned count = 0;
	char line[512];

	ck_assert_ptr_nonnull(log);
	while (fgets(line, sizeof(line), log))
		count += strstr(line, part) != NULL;
	fclose(log);
	return count;
}

static cJSON *show_run(struct lab_rig *rig, const char *run)
{
	lab_rig_expect(rig, 0, (const char *[]){"show", run, "--json", NULL});
	return lab_rig_json(rig);
}

START_TEST(a_written_card_is_booted_once_unmeasured_and_then_kept)
{
	struct lab_rig rig;
	const char *suite;
	cJSON *first, *second;

	lab_rig_start(&rig, NULL, 64);
	change_linux(&rig, true, "busybox poweroff -f");
	suite = lab_rig_write_suite(
		&rig, "\"linux\"", "{ \"bench\": \"wake.idle\", \"n\": 200 }", 1);
	lab_rig_expect(&rig, 0, (const char *[]){"run", suite, "--repeat=2", NULL});
	ck_assert(!lab_rig_has_power(&rig));
	first = show_run(&rig, "1");
	second = show_run(&rig, "2");
	ck_assert_str_eq(text_of(first, "verdict"), "pass");
	ck_assert_str_eq(text_of(second, "verdict"), "pass");
	ck_assert_uint_eq(count_events(first, "first-boot", "boot 1 of 1: over"), 1);
	/* One by the first boot, one by the boot that was measured. */
	ck_assert_uint_eq(count_events(first, "shutdown", "reboot: Power down"), 2);
	/* The card was left in order: neither written nor prepared again. */
	ck_assert_uint_eq(count_events(second, "first-boot", ""), 0);
	ck_assert_uint_eq(count_events(second, "shutdown", "reboot: Power down"), 1);
	ck_assert_uint_eq(count_lines(&rig, "power on "), 3);
	ck_assert_uint_eq(count_lines(&rig, "mux: host"), 1);
	cJSON_Delete(first);
	cJSON_Delete(second);
	lab_rig_stop(&rig);
}
END_TEST

START_TEST(a_system_that_does_not_end_costs_its_card_and_no_verdict)
{
	struct lab_rig rig;
	const char *suite;
	cJSON *first;

	lab_rig_start(&rig, NULL, 64);
	change_linux(&rig, false, "echo stays on");
	suite = lab_rig_write_suite(
		&rig, "\"linux\"", "{ \"bench\": \"wake.idle\", \"n\": 200 }", 1);
	lab_rig_expect(&rig, 0, (const char *[]){"run", suite, "--repeat=2", NULL});
	ck_assert(!lab_rig_has_power(&rig));
	first = show_run(&rig, "1");
	ck_assert_str_eq(text_of(first, "verdict"), "pass");
	ck_assert_uint_eq(count_events(first, "shutdown", ""), 0);
	ck_assert_uint_eq(count_events(first, "warning", "not shut down, so the card"), 1);
	ck_assert_uint_eq(count_lines(&rig, "power on "), 2);
	ck_assert_uint_eq(count_lines(&rig, "mux: host"), 2);
	cJSON_Delete(first);
	lab_rig_stop(&rig);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("first boot");
	TCase *cases = tcase_create("first boot");
	SRunner *runner;
	int failed;

	tcase_set_timeout(cases, 1200);
	tcase_add_test(cases, a_written_card_is_booted_once_unmeasured_and_then_kept);
	tcase_add_test(cases, a_system_that_does_not_end_costs_its_card_and_no_verdict);
	suite_add_tcase(suite, cases);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
