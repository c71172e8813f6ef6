/* SPDX-License-Identifier: Apache-2.0 */
/* sameboard doctor on boards whose wires hold, and on ones where one does not. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lab_rig.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The last check that was made, and how it ended. */
static const struct {
	const char *faults;
	int exit_code;
	const char *check, *verdict, *evidence;
} rows[] = {
	{NULL, 0, "line", "ok", "all 256 values"},
	{"usb-latency=16,chunk=62", 0, "latency", "warning", "the lab file allows 1 ms"},
	{"stuck-relay", 3, "power", "fail", "says nothing"},
	{"stuck-relay=on", 3, "power", "fail", "still talks"},
	{"no-card=host", 3, "mux", "fail", "does not appear"},
	{"hang=uboot", 3, "loader", "fail", "prompt"},
};

static const cJSON *find_check(const struct lab_rig *rig, const cJSON *json, const char *id)
{
	const cJSON *check;

	cJSON_ArrayForEach(check, cJSON_GetObjectItem(json, "checks"))
	{
		if (strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(check, "check")), id) == 0)
			return check;
	}
	ck_abort_msg("no check \"%s\" in %.1500s", id, rig->out);
	return NULL;
}

static void expect_check(struct lab_rig *rig, const char *id, const char *verdict,
	const char *evidence, bool has_advice)
{
	cJSON *json = lab_rig_json(rig);
	const cJSON *check = find_check(rig, json, id);
	const char *seen = cJSON_GetStringValue(cJSON_GetObjectItem(check, "evidence"));

	ck_assert_msg(
		strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(check, "verdict")), verdict) == 0,
		"%s: %s", id, seen);
	ck_assert_msg(strstr(seen, evidence) != NULL, "%s: %s", id, seen);
	if (has_advice)
		ck_assert_uint_gt(
			strlen(cJSON_GetStringValue(cJSON_GetObjectItem(check, "advice"))), 10);
	cJSON_Delete(json);
}

static void begin(struct lab_rig *rig, size_t row)
{
	lab_rig_start(rig, rows[row].faults, 64);
	lab_rig_begin(rig, (const char *[]){"doctor", "vpanel", "--json", NULL});
}

static void finish(struct lab_rig *rig, size_t row)
{
	int exit_code = lab_rig_end(rig);

	ck_assert_msg(exit_code == rows[row].exit_code, "%s ended with %d: %.1500s%.300s",
		rows[row].faults ? rows[row].faults : "no fault", exit_code, rig->out, rig->err);
	expect_check(rig, rows[row].check, rows[row].verdict, rows[row].evidence,
		rows[row].exit_code != 0);
	/* A relay that never opens cannot be helped. */
	if (!rows[row].faults || strcmp(rows[row].faults, "stuck-relay=on") != 0)
		ck_assert(!lab_rig_has_power(rig));
	lab_rig_stop(rig);
}

START_TEST(test_each_broken_wire_is_told_from_the_others)
{
	struct lab_rig rigs[COUNT(rows)];

	/* Two at a time: a board that has to wait for a processor is late everywhere. */
	for (size_t i = 0; i < COUNT(rows); i += 2) {
		begin(&rigs[i], i);
		if (i + 1 < COUNT(rows))
			begin(&rigs[i + 1], i + 1);
		finish(&rigs[i], i);
		if (i + 1 < COUNT(rows))
			finish(&rigs[i + 1], i + 1);
	}
}
END_TEST

START_TEST(test_each_rate_that_pulls_may_use_is_proven)
{
	struct lab_rig rig;
	int exit_code;

	lab_rig_start_raised(&rig, NULL, 16);
	/* 1.5 Mbaud is more than a busy machine's emulated board always keeps up with. */
	for (int i = 0; i < 3; i++) {
		exit_code = lab_rig_run(&rig, (const char *[]){"doctor", "vpanel", "--json", NULL});
		if (exit_code == 0)
			break;
	}
	ck_assert_msg(exit_code == 0, "%.1500s", rig.out);
	expect_check(&rig, "rate", "ok", "64 KiB", false);
	ck_assert(!lab_rig_has_power(&rig));
	lab_rig_stop(&rig);
}
END_TEST

START_TEST(test_who_holds_a_port_is_named_and_nothing_moves)
{
	struct lab_rig rig;
	char name[32];
	int port;

	lab_rig_start(&rig, NULL, 16);
	port = open(scratch_path(&rig.scratch, "board/uart"), O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_ge(port, 0);
	ck_assert_int_eq(
		lab_rig_run(&rig, (const char *[]){"doctor", "vpanel", "--json", NULL}), 3);
	snprintf(name, sizeof(name), "(pid %d)", (int)getpid());
	expect_check(&rig, "console-port", "fail", name, true);
	expect_check(&rig, "console-port", "fail", "check_doctor", true);
	expect_check(&rig, "relay-port", "ok", "nobody", false);
	close(port);
	ck_assert(!lab_rig_has_power(&rig));
	ck_assert_int_eq(lab_rig_run(&rig, (const char *[]){"doctor", "panel9", NULL}), 2);
	lab_rig_stop(&rig);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("doctor");
	TCase *tcase = tcase_create("doctor");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tcase, test_who_holds_a_port_is_named_and_nothing_moves);
	tcase_add_test(tcase, test_each_rate_that_pulls_may_use_is_proven);
	tcase_add_test(tcase, test_each_broken_wire_is_told_from_the_others);
	tcase_set_timeout(tcase, 300);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
