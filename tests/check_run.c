/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole chain as a person drives it: sameboard against vboard with real
 * firmware, loader, kernel and agents.
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

static const cJSON *find_row(const cJSON *comparison, const char *name)
{
	const cJSON *row;

	cJSON_ArrayForEach(row, cJSON_GetObjectItem(comparison, "rows"))
	{
		if (strcmp(text_of(row, "row"), name) == 0)
			return row;
	}
	ck_abort_msg("no row \"%s\"", name);
	return NULL;
}

static const cJSON *find_cell(const cJSON *comparison, const char *row, const char *system)
{
	const cJSON *cell;

	cJSON_ArrayForEach(cell, cJSON_GetObjectItem(find_row(comparison, row), "cells"))
	{
		if (strcmp(text_of(cell, "system"), system) == 0)
			return cell;
	}
	ck_abort_msg("no system \"%s\"", system);
	return NULL;
}

/* -------------------------------------------------------------- the main job */

static void check_cell(const cJSON *comparison, const char *row, const char *system, double n)
{
	const cJSON *cell = find_cell(comparison, row, system);

	ck_assert_msg(number_of(cell, "boots") == 1, "%s of %s has no boot", row, system);
	ck_assert_double_eq(number_of(cell, "n"), n);
	ck_assert_double_gt(number_of(cell, "floor_us"), 0);
	ck_assert_double_le(number_of(cell, "p50_us"), number_of(cell, "p99_us"));
	ck_assert_double_le(number_of(cell, "p99_us"), number_of(cell, "max_us"));
}

/* Every gate has a verdict and says on what evidence. */
static void check_gates(struct lab_rig *rig, const cJSON *show)
{
	cJSON *described;
	const cJSON *gate;

	ck_assert_int_eq(lab_rig_run(rig, (const char *[]){"gates", "--json", NULL}), 0);
	described = lab_rig_json(rig);
	ck_assert_int_ge(cJSON_GetArraySize(described), 14);
	cJSON_ArrayForEach(gate, described)
	{
		const char *id = text_of(gate, "id");
		const cJSON *judged = lab_rig_find_gate(show, id, "pass");

		if (!judged)
			judged = lab_rig_find_gate(show, id, "not-applicable");
		ck_assert_msg(judged != NULL, "gate %s neither holds nor is not-applicable", id);
		ck_assert_uint_gt(strlen(text_of(judged, "evidence")), 5);
	}
	cJSON_Delete(described);
}

START_TEST(test_a_job_on_two_systems_ends_in_one_table)
{
	struct lab_rig rig;
	cJSON *json, *show;
	const cJSON *comparison, *cell;

	lab_rig_start(&rig, NULL, 64);
	lab_rig_expect(&rig, 0, (const char *[]){"run", "demo", "--json", NULL});
	ck_assert(!lab_rig_has_power(&rig));
	json = lab_rig_json(&rig);
	comparison = cJSON_GetObjectItem(json, "comparison");
	check_cell(comparison, "wake.idle aligned", "linux", 500);
	check_cell(comparison, "wake.idle aligned", "baremetal", 500);
	check_cell(comparison, "mutex.handoff pi", "linux", 500);
	check_cell(comparison, "irq.split aligned isr", "baremetal", 500);
	cell = find_cell(comparison, "mutex.handoff pi", "baremetal");
	ck_assert_str_eq(text_of(cell, "unsupported"), "no threads");
	ck_assert(cJSON_IsTrue(cJSON_GetObjectItem(comparison, "emulated")));
	ck_assert(cJSON_IsFalse(cJSON_GetObjectItem(comparison, "enough_boots_for_verdict")));
	show = lab_rig_show(&rig);
	ck_assert_str_eq(text_of(show, "verdict"), "pass");
	check_gates(&rig, show);
	cJSON_Delete(show);
	cJSON_Delete(json);

	/* The same for people. */
	lab_rig_expect(&rig, 0, (const char *[]){"compare", NULL});
	ck_assert_ptr_nonnull(strstr(rig.out, "EMULATED"));
	ck_assert_ptr_nonnull(strstr(rig.out, "give"));
	ck_assert_ptr_nonnull(strstr(rig.out, "unsupported: no threads"));
	lab_rig_expect(&rig, 0, (const char *[]){"list", NULL});
	lab_rig_check_db(&rig);
	lab_rig_stop(&rig);
}
END_TEST

/* ---------------------------------------------------------------- a bad line */

START_TEST(test_noise_and_loss_cost_time_and_no_sample)
{
	struct lab_rig rig;
	const cJSON *event;
	unsigned damaged = 0, retries = 0;
	const char *suite;
	cJSON *show;

	lab_rig_start(&rig, "noise=1e-5@frame,drop=1e-4@frame", 64);
	suite = lab_rig_write_suite(
		&rig, "\"linux\"", "{ \"bench\": \"wake.idle\", \"n\": 5000 }", 20);
	lab_rig_expect(&rig, 0, (const char *[]){"run", suite, NULL});
	show = lab_rig_show(&rig);
	ck_assert_str_eq(text_of(show, "verdict"), "pass");
	cJSON_ArrayForEach(event, cJSON_GetObjectItem(show, "events"))
	{
		if (strcmp(text_of(event, "kind"), "line") == 0)
			ck_assert_int_eq(sscanf(text_of(event, "text"),
						 "%*u frames, %u damaged, %*u requests, %u retries",
						 &damaged, &retries),
				2);
	}
	/* Each series fitted the CRC of the target; here the line must have earned it. */
	ck_assert_uint_gt(damaged, 0);
	ck_assert_uint_gt(retries, 0);
	cJSON_Delete(show);
	lab_rig_stop(&rig);
}
END_TEST

START_TEST(test_an_adapter_that_holds_bytes_back_costs_no_sample)
{
	struct lab_rig rig;

	lab_rig_start(&rig, "usb-latency=16,chunk=62", 64);
	lab_rig_expect(&rig, 0, (const char *[]){"run", "demo", NULL});
	ck_assert(!lab_rig_has_power(&rig));
	lab_rig_stop(&rig);
}
END_TEST

START_TEST(test_a_serial_port_is_driven_like_a_pty)
{
	struct lab_rig rig;
	const char *suite;
	cJSON *show;

	/* With what a real lab also has: contacts that bounce. */
	lab_rig_start(&rig, "bounce", 64);
	lab_rig_use_serial(&rig);
	suite = lab_rig_write_suite(&rig, "\"baremetal\"", WAKE, 1);
	lab_rig_expect(&rig, 0, (const char *[]){"run", suite, NULL});
	ck_assert(!lab_rig_has_power(&rig));
	show = lab_rig_show(&rig);
	ck_assert_str_eq(text_of(show, "verdict"), "pass");
	cJSON_Delete(show);
	lab_rig_stop(&rig);
}
END_TEST

/* ------------------------------------------------------- wrong configuration */

START_TEST(test_wrong_usage_and_configuration_move_nothing)
{
	static const struct {
		const char *arguments[5];
		const char *says;
	} rows[] = {
		{{"run", "no-such-suite"}, "no suite \"no-such-suite\""},
		{{"run", "smoke", "--os=beos"}, "beos"},
		{{"run", "smoke", "--board=panel9"}, "panel9"},
		{{"run", "smoke", "--repeat=0"}, "--repeat"},
		{{"run", "smoke", "--os=linux,,"}, "--os"},
		{{"run", "smoke", "--colour=red"}, "unknown option --colour=red"},
		{{"run"}, "usage: sameboard run"},
		{{"fly", "me"}, "unknown command \"fly\""},
		{{"power", "vpanel", "up"}, "none of on, off, cycle, status"},
		{{"power", "panel9", "on"}, "panel9"},
		{{"sd", "vpanel", "write"}, "needs an IMAGE"},
		{{"sd", "vpanel", "write", "/no/image.json"}, "/no/image.json"},
		{{"show", "77"}, "no runs"},
		{{"compare", "--job=LAST"}, "job"},
	};
	struct lab_rig rig;
	const char *suite;

	lab_rig_start(&rig, NULL, 64);
	suite = lab_rig_write_suite(&rig, "\"baremetal\"", "", 1);
	lab_rig_expect(&rig, 2, (const char *[]){"run", suite, NULL});
	for (size_t i = 0; i < COUNT(rows); i++) {
		int exit_code = lab_rig_run(&rig, rows[i].arguments);

		ck_assert_msg(exit_code == 2, "%s %s ended with %d: %s", rows[i].arguments[0],
			rows[i].arguments[1], exit_code, rig.err);
		ck_assert_msg(strstr(rig.err, rows[i].says) != NULL, "\"%s\" is not in: %s",
			rows[i].says, rig.err);
	}
	ck_assert(!lab_rig_has_power(&rig));
	lab_rig_stop(&rig);
}
END_TEST

START_TEST(test_a_wrong_hash_and_a_small_card_are_refused_before_power)
{
	struct lab_rig rig;
	cJSON *manifest;
	const char *suite;

	lab_rig_start(&rig, NULL, 8);
	suite = lab_rig_write_suite(&rig, "\"baremetal\"", WAKE, 1);
	lab_rig_expect(&rig, 2, (const char *[]){"run", suite, NULL});
	ck_assert_msg(strstr(rig.err, "card too small") != NULL, "%s", rig.err);
	manifest = lab_rig_read_manifest(&rig, "baremetal");
	cJSON_ReplaceItemInObject(manifest, "sha256",
		cJSON_CreateString(
			"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"));
	lab_rig_write_manifest(&rig, "baremetal", manifest);
	lab_rig_expect(&rig, 2, (const char *[]){"run", suite, NULL});
	ck_assert_msg(strstr(rig.err, "wrong hash") != NULL, "%s", rig.err);
	lab_rig_stop(&rig);
}
END_TEST

/* ------------------------------------------------------------------ by hand */

START_TEST(test_power_and_card_can_be_moved_by_hand)
{
	static const struct {
		const char *arguments[5];
		const char *says;
		bool has_power;
	} rows[] = {
		{{"power", "vpanel", "status"}, "off\n", false},
		{{"power", "vpanel", "on"}, "on\n", true},
		{{"power", "vpanel", "cycle"}, "on\n", true},
		{{"power", "vpanel", "off"}, "off\n", false},
		{{"sd", "vpanel", "host"}, "host\n", false},
		{{"sd", "vpanel", "status"}, "host\n", false},
		{{"sd", "vpanel", "write", "build/images/baremetal.json"}, "", false},
		{{"sd", "vpanel", "status"}, "dut\n", false},
		{{"boards"}, "vpanel", false},
	};
	struct lab_rig rig;

	lab_rig_start(&rig, NULL, 64);
	for (size_t i = 0; i < COUNT(rows); i++) {
		ck_assert_msg(lab_rig_run(&rig, rows[i].arguments) == 0, "%s", rig.err);
		ck_assert_msg(strstr(rig.out, rows[i].says) != NULL, "%s", rig.out);
		ck_assert(lab_rig_has_power(&rig) == rows[i].has_power);
	}
	lab_rig_stop(&rig);
}
END_TEST

int main(void)
{
	const struct case_row rows[] = {
		{"usage", test_wrong_usage_and_configuration_move_nothing, 60},
		{"refused", test_a_wrong_hash_and_a_small_card_are_refused_before_power, 60},
		{"by hand", test_power_and_card_can_be_moved_by_hand, 60},
		{"noise", test_noise_and_loss_cost_time_and_no_sample, 400},
		{"serial", test_a_serial_port_is_driven_like_a_pty, 180},
		{"adapter", test_an_adapter_that_holds_bytes_back_costs_no_sample, 600},
		{"main job", test_a_job_on_two_systems_ends_in_one_table, 600},
	};

	return case_table_run("run", rows, COUNT(rows));
}
