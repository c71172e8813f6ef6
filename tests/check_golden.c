/* SPDX-License-Identifier: Apache-2.0 */
/* A night between two golden runs: proven, void, or not to be judged. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/golden.h"
#include "tests/store_fixture.h"

static struct store *store;
static int64_t job;

static void open_night(void)
{
	store = fixture_open(":memory:");
	job = fixture_job(store, "nightly");
}

static void close_night(void)
{
	store_close(store);
}

static void add_metric(int64_t run, const char *series, const char *name, double value)
{
	ck_assert_int_eq(
		store_add_metric(store, run,
			&(struct store_metric){
				.series = series, .name = name, .value = value, .unit = "counts"}),
		0);
}

/* A window with one series of samples and its median, a sum of `batch` operations. */
static void add_window(int64_t run, unsigned number, const char *name, unsigned bench,
	const char *series, double p50, double batch)
{
	static const int32_t values[] = {1, 2};
	struct store_window window = fixture_window(number);

	window.name = name;
	window.bench = bench;
	ck_assert_int_eq(store_begin_window(store, run, &window), 0);
	ck_assert_int_eq(store_add_series(store, &(struct store_series){.id = 1,
							 .name = series,
							 .kind = STORE_SERIES_COUNTS,
							 .data = values,
							 .count = 2}),
		0);
	add_metric(run, series, "p50", p50);
	add_metric(run, series, "batch", batch);
	ck_assert_int_eq(store_commit_window(store), 0);
}

static void close_run(int64_t run, enum verdict verdict, bool is_emulated)
{
	ck_assert_int_eq(store_set_emulated(store, run, is_emulated), 0);
	ck_assert_int_eq(store_end_run(store, run, verdict, "because", FIXTURE_T0 + 9, NULL, 0), 0);
}

/* A golden run whose wake.idle and mutex.pair have these medians. */
static int64_t add_golden(double wake, double pair, bool is_emulated)
{
	int64_t run = fixture_run(store, job, "baremetal", 0);

	/* A gate's own window and an instrument's series are no rows. */
	add_window(run, 1, "reference", 99, "integer", wake * 7, 1);
	add_window(run, 2, "wake.idle", 1, "latency", wake, 1);
	add_window(run, 3, "mutex.pair", 11, "pair.plain", pair, 100);
	add_window(run, 4, "wake.idle", 1, "floor.before", pair * 3, 1);
	close_run(run, VERDICT_PASS, is_emulated);
	return run;
}

static const struct {
	double wake[2], pair[2];
	enum golden_verdict verdict;
	const char *says;
} medians[] = {
	{{200, 200}, {1000, 1000}, GOLDEN_ALIKE, "alike in 2 rows"},
	/* 5 % up and down is no change; a little more is. */
	{{200, 210}, {1000, 1000}, GOLDEN_ALIKE, ""},
	{{200, 190}, {1000, 1000}, GOLDEN_ALIKE, ""},
	{{200, 211}, {1000, 1000}, GOLDEN_VOID, "wake.idle arbitrary was 200 counts, then 211"},
	{{200, 189}, {1000, 1000}, GOLDEN_VOID, "-5.5 %"},
	/* Of few counts two are no change. */
	{{5, 7}, {1000, 1000}, GOLDEN_ALIKE, ""},
	{{5, 7.5}, {1000, 1000}, GOLDEN_VOID, "wake.idle"},
	/* A batch is judged by its one operation: 10 counts, then 11.9 or 12.1. */
	{{200, 200}, {1000, 1190}, GOLDEN_ALIKE, ""},
	{{200, 200}, {1000, 1210}, GOLDEN_VOID, "mutex.pair"},
};

START_TEST(medians_within_no_change_are_alike)
{
	struct golden golden;
	int64_t first, last;

	open_night();
	first = add_golden(medians[_i].wake[0], medians[_i].pair[0], false);
	last = add_golden(medians[_i].wake[1], medians[_i].pair[1], false);
	ck_assert_int_eq(golden_judge(&golden, store, first, last), 0);
	ck_assert_msg(
		golden.verdict == medians[_i].verdict && strstr(golden.reason, medians[_i].says),
		"%d %s", (int)golden.verdict, golden.reason);
	close_night();
}
END_TEST

START_TEST(a_night_without_two_valid_golden_runs_is_void)
{
	struct golden golden;
	int64_t good, failed, short_one;

	open_night();
	good = add_golden(200, 1000, false);
	failed = fixture_run(store, job, "baremetal", 0);
	close_run(failed, VERDICT_LAB_FAILURE, true);
	short_one = fixture_run(store, job, "baremetal", 0);
	add_window(short_one, 2, "wake.idle", 1, "latency", 200, 1);
	close_run(short_one, VERDICT_PASS, false);
	ck_assert_int_eq(golden_judge(&golden, store, good, failed), 0);
	ck_assert_int_eq(golden.verdict, GOLDEN_VOID);
	ck_assert_msg(strstr(golden.reason, "lab-failure: because") != NULL, "%s", golden.reason);
	ck_assert_int_eq(golden_judge(&golden, store, failed, good), 0);
	ck_assert_int_eq(golden.verdict, GOLDEN_VOID);
	ck_assert_int_eq(golden_judge(&golden, store, good, 0), 0);
	ck_assert_int_eq(golden.verdict, GOLDEN_VOID);
	ck_assert_str_eq(golden.reason, "there was no last golden run");
	ck_assert_int_eq(golden_judge(&golden, store, 0, 0), 0);
	ck_assert_int_eq(golden.verdict, GOLDEN_VOID);
	ck_assert_int_eq(golden_judge(&golden, store, good, short_one), 0);
	ck_assert_int_eq(golden.verdict, GOLDEN_VOID);
	ck_assert_msg(strstr(golden.reason, "no row mutex.pair") != NULL, "%s", golden.reason);
	ck_assert_int_eq(golden_judge(&golden, store, good, 99), -ENOENT);
	close_night();
}
END_TEST

START_TEST(an_emulated_night_is_not_judged)
{
	struct golden golden;
	int64_t first, last;

	open_night();
	first = add_golden(200, 1000, true);
	last = add_golden(900, 1000, true);
	ck_assert_int_eq(golden_judge(&golden, store, first, last), 0);
	ck_assert_int_eq(golden.verdict, GOLDEN_NOT_JUDGED);
	close_night();
}
END_TEST

static void expect(int64_t run_id, enum verdict verdict, const char *reason)
{
	struct query_run *run;

	ck_assert_int_eq(query_run(store, run_id, &run), 0);
	ck_assert_str_eq(verdict_name(run->verdict), verdict_name(verdict));
	ck_assert_str_eq(run->reason, reason);
	free(run);
}

START_TEST(a_void_night_keeps_its_runs_and_says_why)
{
	struct query_window *windows = NULL;
	struct query_event *events = NULL;
	int64_t good, failed, other;

	open_night();
	good = add_golden(200, 1000, false);
	failed = fixture_run(store, job, "linux", 0);
	close_run(failed, VERDICT_FAIL, false);
	job = fixture_job(store, "nightly");
	other = add_golden(200, 1000, false);
	ck_assert_int_eq(store_void_runs(store, 1, "void: so it is", FIXTURE_T0), 1);
	expect(good, VERDICT_INVALID, "void: so it is");
	expect(failed, VERDICT_FAIL, "because");
	expect(other, VERDICT_PASS, "because");
	ck_assert_int_eq(query_windows(store, good, &windows), 4);
	ck_assert_int_eq(query_events(store, good, &events), 1);
	ck_assert_str_eq(events[0].kind, "void");
	ck_assert_str_eq(events[0].text, "void: so it is");
	ck_assert_int_eq(store_void_runs(store, 1, "again", FIXTURE_T0), 0);
	free(windows);
	free(events);
	close_night();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("golden");
	SRunner *runner = srunner_create(suite);
	TCase *tcase = tcase_create("golden");
	int failed;

	tcase_add_loop_test(tcase, medians_within_no_change_are_alike, 0,
		(int)(sizeof(medians) / sizeof(medians[0])));
	tcase_add_test(tcase, a_night_without_two_valid_golden_runs_is_void);
	tcase_add_test(tcase, an_emulated_night_is_not_judged);
	tcase_add_test(tcase, a_void_night_keeps_its_runs_and_says_why);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
