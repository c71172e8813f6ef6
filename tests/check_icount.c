/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Repeatable time: the same card gives the same run to the bit, and one
 * instruction more on a handoff's way is seen.
 */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/query.h"
#include "tests/daemon_rig.h"

#define RUNS 5

/* A long text does not fit into a message. */
static const char *end_of(const char *text)
{
	size_t size = strlen(text);

	return size > 1500 ? text + size - 1500 : text;
}

static struct store *open_store(struct lab_rig *rig)
{
	struct store *store;

	ck_assert_int_eq(store_open(&store, rig->db, STORE_READ_ONLY), 0);
	return store;
}

/* Everything that was measured, stamps of the counter included; instructions must always agree. */
static bool has_same_samples(struct store *store, int64_t first, int64_t second)
{
	struct query_window *a = NULL, *b = NULL;
	int count = query_windows(store, first, &a);
	unsigned compared = 0, equal = 0;

	ck_assert_int_gt(count, 0);
	ck_assert_int_eq(query_windows(store, second, &b), count);
	for (int w = 0; w < count; w++) {
		struct query_series *in_a = NULL, *in_b = NULL;
		int series = query_series(store, a[w].id, &in_a);

		ck_assert_int_gt(series, 0);
		ck_assert_int_eq(query_series(store, b[w].id, &in_b), series);
		for (int s = 0; s < series; s++) {
			bool is_equal = in_a[s].crc32c == in_b[s].crc32c;

			ck_assert_str_eq(in_a[s].name, in_b[s].name);
			ck_assert_int_eq(in_a[s].count, in_b[s].count);
			ck_assert_msg(is_equal || !strstr(in_a[s].name, "instret"),
				"%s of %s differs", in_a[s].name, a[w].name);
			equal += is_equal;
			compared++;
		}
		free(in_a);
		free(in_b);
	}
	ck_assert_uint_gt(compared, 20);
	free(a);
	free(b);
	return equal == compared;
}

/* The console up to the host's first byte; the caller frees it. */
static char *read_console(struct store *store, int64_t run_id, size_t *size)
{
	struct store_mark *marks = NULL;
	size_t count = 0;
	char *data = NULL;

	ck_assert_int_eq(query_console(store, run_id, &data, size, &marks, &count), 0);
	for (size_t i = 0; i < count; i++) {
		if (!marks[i].sent)
			continue;
		*size = marks[i].offset;
		break;
	}
	free(marks);
	ck_assert_uint_gt(*size, 2000);
	return data;
}

static bool has_same_console(struct store *store, int64_t first, int64_t second)
{
	size_t size_a, size_b;
	char *a = read_console(store, first, &size_a);
	char *b = read_console(store, second, &size_b);

	bool is_equal = size_a == size_b && memcmp(a, b, size_a) == 0;

	free(a);
	free(b);
	return is_equal;
}

/* How many runs are equal to the bit with the one that most are equal to. */
static unsigned count_equal_runs(struct store *store)
{
	unsigned most = 0;

	for (int64_t first = 1; first <= RUNS; first++) {
		unsigned equal = 0;

		for (int64_t run = 1; run <= RUNS; run++)
			equal += has_same_samples(store, first, run) &&
				 has_same_console(store, first, run);
		most = equal > most ? equal : most;
	}
	return most;
}

static void check_gates(struct lab_rig *rig)
{
	static const char *const not_applicable[] = {"soak", "clock-host", "reference"};
	cJSON *show = lab_rig_show(rig);

	ck_assert_str_eq(cJSON_GetStringValue(cJSON_GetObjectItem(show, "verdict")), "pass");
	for (size_t i = 0; i < sizeof(not_applicable) / sizeof(not_applicable[0]); i++)
		ck_assert_msg(lab_rig_find_gate(show, not_applicable[i], "not-applicable") != NULL,
			"%s", not_applicable[i]);
	ck_assert_ptr_nonnull(lab_rig_find_gate(show, "image-identity", "pass"));
	ck_assert_ptr_nonnull(lab_rig_find_gate(show, "silence", "pass"));
	cJSON_Delete(show);
}

static void check_rows(struct lab_rig *rig, const char *verdict, size_t count, double change)
{
	cJSON *json = lab_rig_json(rig);
	const cJSON *exact = cJSON_GetObjectItem(json, "exact"), *row;

	ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(exact, "rows")), (int)count);
	cJSON_ArrayForEach(row, cJSON_GetObjectItem(exact, "rows"))
	{
		double before = cJSON_GetObjectItem(row, "before_instructions")->valuedouble;
		double after = cJSON_GetObjectItem(row, "after_instructions")->valuedouble;

		ck_assert_double_gt(before, 50);
		ck_assert_double_eq(after - before, change);
		ck_assert_str_eq(
			cJSON_GetStringValue(cJSON_GetObjectItem(row, "verdict")), verdict);
	}
	cJSON_Delete(json);
}

/* The image with two instructions more, under the system's own name. */
static void plant_instructions(struct lab_rig *rig)
{
	cJSON *manifest = lab_rig_read_manifest(rig, "baremetal-long-handoff");

	cJSON_ReplaceItemInObject(manifest, "system", cJSON_CreateString("baremetal"));
	lab_rig_write_manifest(rig, "baremetal-long-handoff", manifest);
}

/* The daemon's job is judged as the one without it was. */
static void plant_through_daemon(struct lab_rig *rig)
{
	struct daemon_rig daemon = {.lab = *rig};
	struct lab_rig *lab = &daemon.lab;

	daemon_rig_prepare(&daemon);
	daemon_rig_begin(&daemon);
	lab_rig_expect(lab, 2, (const char *[]){"submit", "regress-icount", "--baseline=99", NULL});
	ck_assert_ptr_nonnull(strstr(lab->err, "baseline: "));
	lab_rig_expect(
		lab, 1, (const char *[]){"run", "regress-icount", "--baseline=1", "--json", NULL});
	ck_assert_msg(strstr(lab->err, "of the daemon") != NULL, "%s", end_of(lab->err));
	ck_assert_msg(strstr(lab->err, ": pass: all gates hold") != NULL, "%s", end_of(lab->err));
	check_rows(lab, "REGRESSION", 2, 2);
	/* And as a person sees it, afterwards. */
	lab_rig_expect(lab, 1, (const char *[]){"watch", "3", NULL});
	ck_assert_msg(strstr(lab->out, "+2  REGRESSION") != NULL, "%s", end_of(lab->out));
	ck_assert_int_eq(daemon_rig_kill(&daemon, SIGTERM), 0);
	*rig = daemon.lab;
}

START_TEST(test_unchanged_runs_repeat_and_two_instructions_are_a_regression)
{
	struct lab_rig rig;
	struct store *store;
	unsigned equal;

	lab_rig_start_icount(&rig, 16);
	lab_rig_expect(&rig, 0, (const char *[]){"run", "regress-icount", "--repeat=5", NULL});
	check_gates(&rig);
	store = open_store(&rig);
	equal = count_equal_runs(store);
	printf("%u of %d runs equal to the bit\n", equal, RUNS);
	/* An overloaded machine moves one now and then by a few instructions of idle time. */
	ck_assert_uint_ge(equal, 2);
	store_close(store);
	lab_rig_expect(&rig, 0,
		(const char *[]){"compare", "--baseline=1", "2", "3", "4", "5", "--json", NULL});
	check_rows(&rig, "equal", 2 * (RUNS - 1), 0);

	plant_instructions(&rig);
	lab_rig_expect(
		&rig, 1, (const char *[]){"run", "regress-icount", "--baseline=1", "--json", NULL});
	ck_assert_msg(strstr(rig.err, ": pass: all gates hold") != NULL, "%s", end_of(rig.err));
	check_rows(&rig, "REGRESSION", 2, 2);
	ck_assert(!lab_rig_has_power(&rig));
	ck_assert_int_eq(
		lab_rig_run(&rig, (const char *[]){"compare", "--baseline=1", "LAST", NULL}), 1);
	ck_assert_ptr_nonnull(strstr(rig.out, "+2  REGRESSION"));
	plant_through_daemon(&rig);
	lab_rig_stop(&rig);
}
END_TEST

START_TEST(test_five_us_in_the_tick_handler_show_against_a_clean_system)
{
	struct lab_rig rig;

	lab_rig_start_icount(&rig, 16);
	lab_rig_expect(&rig, 0, (const char *[]){"run", "traps-icount", NULL});
	ck_assert_msg(
		strstr(rig.err, "wake.idle aligned p50 of baremetal-tick-spin is caught") != NULL,
		"%s", end_of(rig.err));
	lab_rig_stop(&rig);
}
END_TEST

START_TEST(test_suites_and_images_for_another_clock_are_refused)
{
	struct lab_rig rig;
	cJSON *manifest;

	lab_rig_start_icount(&rig, 16);
	ck_assert_int_eq(lab_rig_run(&rig, (const char *[]){"run", "smoke", NULL}), 2);
	ck_assert_msg(strstr(rig.err, "\"icount\"") != NULL, "%s", rig.err);
	ck_assert_int_eq(
		lab_rig_run(&rig, (const char *[]){"run", "regress-icount", "--baseline=1", NULL}),
		2);
	manifest = lab_rig_read_manifest(&rig, "baremetal");
	cJSON_DeleteItemFromObject(manifest, "plan");
	lab_rig_write_manifest(&rig, "baremetal", manifest);
	ck_assert_int_eq(lab_rig_run(&rig, (const char *[]){"run", "regress-icount", NULL}), 2);
	ck_assert_msg(strstr(rig.err, "no place for a plan") != NULL, "%s", rig.err);
	ck_assert(!lab_rig_has_power(&rig));
	lab_rig_stop(&rig);
	lab_rig_start(&rig, NULL, 16);
	ck_assert_int_eq(lab_rig_run(&rig, (const char *[]){"run", "regress-icount", NULL}), 2);
	ck_assert_msg(strstr(rig.err, "\"real\"") != NULL, "%s", rig.err);
	lab_rig_stop(&rig);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("icount");
	TCase *refused = tcase_create("refused");
	TCase *exact = tcase_create("exact");
	TCase *traps = tcase_create("traps");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(refused, test_suites_and_images_for_another_clock_are_refused);
	tcase_set_timeout(refused, 60);
	tcase_add_test(exact, test_unchanged_runs_repeat_and_two_instructions_are_a_regression);
	tcase_add_test(traps, test_five_us_in_the_tick_handler_show_against_a_clean_system);
	tcase_set_timeout(exact, 900);
	tcase_set_timeout(traps, 300);
	suite_add_tcase(suite, refused);
	suite_add_tcase(suite, exact);
	suite_add_tcase(suite, traps);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
