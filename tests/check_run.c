/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole chain as a person drives it: sameboard against vboard with real
 * firmware, loader, kernel and agents.  Boards that need not wait for each
 * other run side by side.
 */
#include <check.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lab_rig.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define WAKE	     "{ \"bench\": \"wake.idle\", \"n\": 200 }"

static const char *text_of(const cJSON *json, const char *key)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(json, key));

	ck_assert_msg(text != NULL, "no text \"%s\"", key);
	return text;
}

static double number_of(const cJSON *json, const char *key)
{
	const cJSON *number = cJSON_GetObjectItem(json, key);

	ck_assert_msg(cJSON_IsNumber(number), "no number \"%s\"", key);
	return number->valuedouble;
}

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
	lab_rig_start(&rig, NULL, 64);
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

/* A file system of a few hundred KiB of its own, in a mount namespace. */
START_TEST(test_a_full_disk_ends_the_run_and_keeps_what_is_committed)
{
	struct lab_rig rig;
	const char *suite;
	char small[300], command[700];
	cJSON *show;

	lab_rig_start(&rig, NULL, 64);
	snprintf(small, sizeof(small), "%s", scratch_path(&rig.scratch, "small"));
	snprintf(command, sizeof(command), "mkdir %s && mount -t tmpfs -o size=700k none %s", small,
		small);
	if (unshare(CLONE_NEWNS) != 0 || system(command) != 0) {
		lab_rig_stop(&rig);
		return; /* no right to mount here; CI runs where there is */
	}
	snprintf(rig.db, sizeof(rig.db), "%s/runs.db", small);
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
	snprintf(command, sizeof(command), "umount %s", small);
	ck_assert_int_eq(system(command), 0);
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
	const struct {
		const char *name;
		const TTest *test;
		int timeout_s;
	} rows[] = {
		{"usage", test_wrong_usage_and_configuration_move_nothing, 60},
		{"refused", test_a_wrong_hash_and_a_small_card_are_refused_before_power, 60},
		{"by hand", test_power_and_card_can_be_moved_by_hand, 60},
		{"identity", test_an_image_that_is_loaded_otherwise_than_written_is_not_started,
			120},
		{"in use", test_a_board_in_use_is_refused_and_its_holder_named, 120},
		{"stop", test_a_stop_leaves_the_board_off_and_keeps_what_was_measured, 180},
		{"killed", test_a_killed_run_is_marked_and_its_board_switched_off_by_the_next_one,
			240},
		{"full disk", test_a_full_disk_ends_the_run_and_keeps_what_is_committed, 240},
		{"broken lab", test_a_broken_lab_is_told_from_a_failed_system, 300},
		{"broken system", test_a_panic_and_a_missing_agent_fail_the_system, 300},
		{"wrong", test_what_a_system_does_wrong_is_stored_as_invalid_and_not_compared, 600},
		{"noise", test_noise_and_loss_cost_time_and_no_sample, 400},
		{"serial", test_a_serial_port_is_driven_like_a_pty, 180},
		{"adapter", test_an_adapter_that_holds_bytes_back_costs_no_sample, 600},
		{"main job", test_a_job_on_two_systems_ends_in_one_table, 600},
	};
	Suite *suite = suite_create("run");
	SRunner *runner = srunner_create(suite);
	int failed;

	for (size_t i = 0; i < COUNT(rows); i++) {
		TCase *tcase = tcase_create(rows[i].name);

		tcase_add_test(tcase, rows[i].test);
		tcase_set_timeout(tcase, rows[i].timeout_s);
		suite_add_tcase(suite, tcase);
	}
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
