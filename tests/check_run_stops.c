/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that end before their time: stopped, killed, on a full disk; and boards
 * that are in use.
 */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/case_table.h"
#include "tests/json_fields.h"
#include "tests/lab_rig.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define WAKE	     "{ \"bench\": \"wake.idle\", \"n\": 200 }"

/* ------------------------------------------------------------- interruptions */

/* Wait until progress on stderr has this text. */
static void await_progress(struct lab_rig *rig, const char *text)
{
	char seen[65536];

	for (;;) {
		FILE *file = fopen(scratch_path(&rig->scratch, "err"), "r");
		size_t size = file ? fread(seen, 1, sizeof(seen) - 1, file) : 0;
		int status;

		seen[size] = '\0';
		if (file)
			fclose(file);
		if (strstr(seen, text))
			return;
		ck_assert_msg(waitpid(rig->client, &status, WNOHANG) == 0,
			"ended before \"%s\": %s", text, seen);
		usleep(20000);
	}
}

START_TEST(test_a_stop_leaves_the_board_off_and_keeps_what_was_measured)
{
	struct lab_rig rig;
	const char *suite;
	cJSON *show;

	lab_rig_start(&rig, NULL, 64);
	suite = lab_rig_write_suite(&rig, "\"baremetal\"", WAKE, 20);
	lab_rig_begin(&rig, (const char *[]){"run", suite, NULL});
	await_progress(&rig, "window 3,");
	ck_assert(lab_rig_has_power(&rig));
	ck_assert_int_eq(kill(rig.client, SIGTERM), 0);
	ck_assert_int_eq(lab_rig_end(&rig), 3);
	ck_assert(!lab_rig_has_power(&rig));
	show = lab_rig_show(&rig);
	ck_assert_str_eq(text_of(show, "verdict"), "interrupted");
	ck_assert_ptr_nonnull(strstr(text_of(show, "reason"), "signal 15"));
	ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(show, "windows")), 2);
	cJSON_Delete(show);
	lab_rig_stop(&rig);
}
END_TEST

START_TEST(test_a_killed_run_is_marked_and_its_board_switched_off_by_the_next_one)
{
	struct lab_rig rig;
	const char *suite;
	cJSON *json;
	const cJSON *run;

	lab_rig_start(&rig, NULL, 64);
	suite = lab_rig_write_suite(&rig, "\"baremetal\"", WAKE, 1);
	lab_rig_begin(&rig, (const char *[]){"run", suite, NULL});
	await_progress(&rig, "window 3,");
	ck_assert_int_eq(kill(rig.client, SIGKILL), 0);
	ck_assert_int_eq(lab_rig_end(&rig), 128 + SIGKILL);
	lab_rig_check_db(&rig);
	/* Nothing can be done at the moment of a SIGKILL; the next run begins at rest. */
	lab_rig_expect(&rig, 0, (const char *[]){"run", suite, NULL});
	ck_assert(!lab_rig_has_power(&rig));
	lab_rig_expect(&rig, 0, (const char *[]){"list", "--json", NULL});
	json = lab_rig_json(&rig);
	ck_assert_int_eq(cJSON_GetArraySize(json), 2);
	run = cJSON_GetArrayItem(json, 1);
	ck_assert_str_eq(text_of(run, "verdict"), "interrupted");
	cJSON_Delete(json);
	lab_rig_stop(&rig);
}
END_TEST

START_TEST(test_a_board_in_use_is_refused_and_its_holder_named)
{
	struct lab_rig rig;
	char pid[32];
	const char *suite;

	lab_rig_start(&rig, NULL, 64);
	suite = lab_rig_write_suite(&rig, "\"baremetal\"", WAKE, 20);
	lab_rig_begin(&rig, (const char *[]){"run", suite, NULL});
	await_progress(&rig, "power on");
	{
		struct lab_rig second = rig;

		second.out = second.err = NULL;
		snprintf(second.scratch.path, sizeof(second.scratch.path), "%s", "");
		snprintf(pid, sizeof(pid), "pid %d", (int)rig.client);
		ck_assert_int_eq(
			lab_rig_run(&second, (const char *[]){"power", "vpanel", "off", NULL}), 3);
		ck_assert_msg(strstr(second.err, pid) != NULL, "%s", second.err);
		free(second.out);
		free(second.err);
	}
	ck_assert_int_eq(kill(rig.client, SIGINT), 0);
	ck_assert_int_eq(lab_rig_end(&rig), 3);
	ck_assert(!lab_rig_has_power(&rig));
	lab_rig_stop(&rig);
}
END_TEST

START_TEST(test_a_full_disk_ends_the_run_and_keeps_what_is_committed)
{
	struct lab_rig rig;
	const char *suite;
	cJSON *show;

	lab_rig_start(&rig, NULL, 64);
	if (!scratch_mount(&rig.scratch, "small", "700k")) {
		lab_rig_stop(&rig);
		return;
	}
	snprintf(rig.db, sizeof(rig.db), "%s/runs.db", scratch_path(&rig.scratch, "small"));
	suite = lab_rig_write_suite(&rig, "\"baremetal\"",
		"{ \"bench\": \"wake.idle\", \"n\": 4000, \"phase\": \"both\" }", 1);
	lab_rig_expect(&rig, 3, (const char *[]){"run", suite, NULL});
	ck_assert(!lab_rig_has_power(&rig));
	ck_assert_msg(strstr(rig.err, "full") != NULL, "%s", rig.err);
	lab_rig_check_db(&rig);
	show = lab_rig_show(&rig);
	ck_assert_int_gt(cJSON_GetArraySize(cJSON_GetObjectItem(show, "windows")), 0);
	ck_assert_str_ne(text_of(show, "verdict"), "pass");
	cJSON_Delete(show);
	scratch_unmount(&rig.scratch, "small");
	lab_rig_stop(&rig);
}
END_TEST

int main(void)
{
	const struct case_row rows[] = {
		{"in use", test_a_board_in_use_is_refused_and_its_holder_named, 120},
		{"stop", test_a_stop_leaves_the_board_off_and_keeps_what_was_measured, 180},
		{"killed", test_a_killed_run_is_marked_and_its_board_switched_off_by_the_next_one,
			240},
		{"full disk", test_a_full_disk_ends_the_run_and_keeps_what_is_committed, 240},
	};

	return case_table_run("run_stops", rows, COUNT(rows));
}
