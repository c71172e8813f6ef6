/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Systems that measure wrong or do not start, and labs that are broken: what a
 * run says of them.  Boards that need not wait for each other run side by side.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/case_table.h"
#include "tests/json_fields.h"
#include "tests/lab_rig.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define WAKE	     "{ \"bench\": \"wake.idle\", \"n\": 200 }"

/* ------------------------------------------------- systems that measure wrong */

/* What a system, or the board, does wrong; and the gate that must say so. */
static const struct {
	const char *system, *faults, *gate, *evidence;
} wrong[] = {
	{"baremetal", "reset-after=16", "one-session", "reset "},
	{"baremetal", "reset-in-window=2", "one-session", "reset "},
	{"baremetal-dead-timer", NULL, "timed-sleep", "timer interrupt does not arrive"},
	{"baremetal-chatter", NULL, "silence", "bytes came in the window"},
	{"baremetal-watchdog-left-on", NULL, "one-session", "reset "},
	{"baremetal-long-tick", NULL, "clock-audit", "one count per tick"},
};

static void check_invalid(struct lab_rig *rig, size_t i)
{
	char reason[64];
	cJSON *json = lab_rig_json(rig), *show;
	const cJSON *comparison = cJSON_GetObjectItem(json, "comparison"), *gate;

	ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(comparison, "rows")), 0);
	ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(comparison, "not_compared")), 1);
	show = lab_rig_show(rig);
	ck_assert_str_eq(text_of(show, "verdict"), "invalid");
	snprintf(reason, sizeof(reason), "gate %s", wrong[i].gate);
	ck_assert_msg(strncmp(text_of(show, "reason"), reason, strlen(reason)) == 0,
		"%s: the reason is %s", wrong[i].gate, text_of(show, "reason"));
	gate = lab_rig_find_gate(show, wrong[i].gate, "fail");
	ck_assert_ptr_nonnull(gate);
	ck_assert_msg(strstr(text_of(gate, "evidence"), wrong[i].evidence) != NULL, "%s: %s",
		wrong[i].gate, text_of(gate, "evidence"));
	if (strcmp(wrong[i].gate, "clock-audit") == 0)
		ck_assert_ptr_nonnull(strstr(text_of(gate, "evidence"), " ppm"));
	cJSON_Delete(show);
	cJSON_Delete(json);
}

START_TEST(test_what_a_system_does_wrong_is_stored_as_invalid_and_not_compared)
{
	struct lab_rig rigs[COUNT(wrong)];
	char os[64];

	for (size_t i = 0; i < COUNT(wrong); i++) {
		const char *suite;

		lab_rig_start(&rigs[i], wrong[i].faults, 64);
		snprintf(os, sizeof(os), "--os=%s", wrong[i].system);
		suite = lab_rig_write_suite(&rigs[i], "\"baremetal\"", WAKE, 20);
		lab_rig_begin(&rigs[i], (const char *[]){"run", suite, os, "--json", NULL});
	}
	for (size_t i = 0; i < COUNT(wrong); i++) {
		int exit_code = lab_rig_end(&rigs[i]);

		ck_assert_msg(exit_code == 1, "%s ended with %d: %s", wrong[i].system, exit_code,
			rigs[i].err);
		ck_assert(!lab_rig_has_power(&rigs[i]));
		check_invalid(&rigs[i], i);
		lab_rig_check_db(&rigs[i]);
		lab_rig_stop(&rigs[i]);
	}
}
END_TEST

/* ------------------------------------------------------------- a broken lab */

static const struct {
	const char *faults, *says;
} broken[] = {
	{"no-card", "load mmc"},
	{"stuck-relay", "no first banner"},
	{"hang=uboot", "prompt"},
};

START_TEST(test_a_broken_lab_is_told_from_a_failed_system)
{
	struct lab_rig rigs[COUNT(broken)];

	for (size_t i = 0; i < COUNT(broken); i++) {
		const char *suite;

		lab_rig_start(&rigs[i], broken[i].faults, 64);
		suite = lab_rig_write_suite(&rigs[i], "\"baremetal\"", WAKE, 1);
		lab_rig_begin(&rigs[i], (const char *[]){"run", suite, NULL});
	}
	for (size_t i = 0; i < COUNT(broken); i++) {
		int exit_code = lab_rig_end(&rigs[i]);
		cJSON *show;

		ck_assert_msg(exit_code == 3, "%s ended with %d: %s", broken[i].faults, exit_code,
			rigs[i].err);
		ck_assert(!lab_rig_has_power(&rigs[i]));
		show = lab_rig_show(&rigs[i]);
		ck_assert_str_eq(text_of(show, "verdict"), "lab-failure");
		ck_assert_msg(strstr(text_of(show, "reason"), broken[i].says) != NULL, "%s: %s",
			broken[i].faults, text_of(show, "reason"));
		cJSON_Delete(show);
		lab_rig_stop(&rigs[i]);
	}
}
END_TEST

/* ---------------------------------------------------------- a broken system */

static void change_kernel_arguments(struct lab_rig *rig, const char *arguments)
{
	cJSON *manifest = lab_rig_read_manifest(rig, "linux");
	cJSON *boot = cJSON_GetObjectItem(manifest, "boot");
	char line[256];

	snprintf(line, sizeof(line), "setenv bootargs console=ttyS0,115200 no4lvl %s", arguments);
	for (int i = 0; i < cJSON_GetArraySize(boot); i++)
		if (strncmp(cJSON_GetStringValue(cJSON_GetArrayItem(boot, i)), "setenv bootargs",
			    15) == 0)
			cJSON_ReplaceItemInArray(boot, i, cJSON_CreateString(line));
	cJSON_AddNumberToObject(manifest, "start_timeout", 40);
	lab_rig_write_manifest(rig, "linux", manifest);
}

START_TEST(test_a_panic_and_a_missing_agent_fail_the_system)
{
	static const struct {
		const char *arguments, *says;
	} rows[] = {
		{"rdinit=/nothing root=/dev/nothing panic=0", "panic"},
		{"rdinit=/bin/cat", "no agent"},
	};
	struct lab_rig rigs[COUNT(rows)];

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *suite;

		lab_rig_start(&rigs[i], NULL, 64);
		change_kernel_arguments(&rigs[i], rows[i].arguments);
		suite = lab_rig_write_suite(&rigs[i], "\"linux\"", WAKE, 1);
		lab_rig_begin(&rigs[i], (const char *[]){"run", suite, NULL});
	}
	for (size_t i = 0; i < COUNT(rows); i++) {
		int exit_code = lab_rig_end(&rigs[i]);
		cJSON *show;

		ck_assert_msg(exit_code == 1, "%s ended with %d: %s", rows[i].says, exit_code,
			rigs[i].err);
		ck_assert(!lab_rig_has_power(&rigs[i]));
		show = lab_rig_show(&rigs[i]);
		ck_assert_str_eq(text_of(show, "verdict"), "fail");
		ck_assert_msg(strstr(text_of(show, "reason"), rows[i].says) != NULL, "%s: %s",
			rows[i].says, text_of(show, "reason"));
		cJSON_Delete(show);
		lab_rig_stop(&rigs[i]);
	}
}
END_TEST

START_TEST(test_an_image_that_is_loaded_otherwise_than_written_is_not_started)
{
	struct lab_rig rig;
	cJSON *manifest, *payload, *show;
	const char *suite;

	lab_rig_start(&rig, NULL, 64);
	manifest = lab_rig_read_manifest(&rig, "baremetal");
	payload = cJSON_GetArrayItem(cJSON_GetObjectItem(manifest, "payloads"), 0);
	cJSON_ReplaceItemInObject(payload, "crc32", cJSON_CreateString("12345678"));
	lab_rig_write_manifest(&rig, "baremetal", manifest);
	suite = lab_rig_write_suite(&rig, "\"baremetal\"", WAKE, 1);
	lab_rig_expect(&rig, 1, (const char *[]){"run", suite, NULL});
	show = lab_rig_show(&rig);
	ck_assert_str_eq(text_of(show, "verdict"), "invalid");
	ck_assert_ptr_nonnull(strstr(text_of(show, "reason"), "gate image-identity"));
	ck_assert_ptr_nonnull(strstr(text_of(show, "reason"), "12345678"));
	ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(show, "windows")), 0);
	cJSON_Delete(show);
	lab_rig_stop(&rig);
}
END_TEST

int main(void)
{
	const struct case_row rows[] = {
		{"identity", test_an_image_that_is_loaded_otherwise_than_written_is_not_started,
			120},
		{"broken lab", test_a_broken_lab_is_told_from_a_failed_system, 300},
		{"broken system", test_a_panic_and_a_missing_agent_fail_the_system, 300},
		{"wrong", test_what_a_system_does_wrong_is_stored_as_invalid_and_not_compared, 600},
	};

	return case_table_run("run_faults", rows, COUNT(rows));
}
