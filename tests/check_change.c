/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs against a baseline, by the program and over stored runs of real series:
 * what is judged, what is refused, and the exit codes that a CI job goes by.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/stats.h"
#include "tests/json_fields.h"
#include "tests/lab_rig.h"
#include "tests/samples.h"
#include "tests/store_fixture.h"

#define HZ 24000000
#define SUITE                                                                                      \
	"{ \"systems\": [\"linux\"], \"boots\": 5, \"primary\": [\"wake.idle/p90\"], "             \
	"\"windows\": [{ \"bench\": \"wake.idle\" }] }"

static struct lab_rig rig;
static struct store *store;

static void begin(void)
{
	lab_rig_start_unplugged(&rig);
	store = fixture_open(rig.db);
}

static int64_t begin_job(const char *suite)
{
	const struct store_job job = {.command = "run regress",
		.suite = suite,
		.suite_json = SUITE,
		.plan = "",
		.version = "0.1.0",
		.started_ms = FIXTURE_T0};
	int64_t id;

	ck_assert_int_eq(store_begin_job(store, &job, &id), 0);
	return id;
}

static void add_metric(int64_t run, const char *series, const char *name, double value)
{
	ck_assert_int_eq(
		store_add_metric(store, run,
			&(struct store_metric){
				.series = series, .name = name, .value = value, .unit = "counts"}),
		0);
}

/* A run of `series`, each of its values `scale` times what was measured. */
static void add_window(int64_t run, int series, double scale)
{
	const struct store_window window = fixture_window(1);
	struct samples samples;
	struct stats_summary s;
	char path[80];

	snprintf(path, sizeof(path), "tests/data/latency/R_idle_run%02d.ns.txt", series);
	ck_assert_msg(samples_read(&samples, path, HZ) == 0, "%s", samples_error(&samples));
	for (size_t i = 0; i < samples.count; i++)
		samples.values[i] = (int32_t)(samples.values[i] * scale);
	ck_assert_int_eq(stats_summarise(samples.values, samples.count, 0, &s), 0);
	ck_assert_int_eq(store_begin_window(store, run, &window), 0);
	ck_assert_int_eq(store_add_series(store, &(struct store_series){.id = 1,
							 .name = "latency",
							 .kind = STORE_SERIES_COUNTS,
							 .data = samples.values,
							 .count = samples.count}),
		0);
	add_metric(run, NULL, "counter_hz", HZ);
	add_metric(run, NULL, "floor", 9);
	add_metric(run, "latency", "n", (double)s.n);
	for (int q = 0; q < STATS_QUANTILES; q++)
		add_metric(run, "latency", stats_quantile_name(q), s.quantiles[q]);
	add_metric(run, "latency", "max", s.max);
	ck_assert_int_eq(store_commit_window(store), 0);
	samples_free(&samples);
}

/* A job of `count` runs from series `first` on. */
static int64_t add_job(const char *suite, int first, int count, double scale, enum verdict verdict)
{
	int64_t job = begin_job(suite);

	for (int i = 0; i < count; i++) {
		int64_t run = fixture_run(store, job, "linux", first * 1000 + i);

		add_window(run, 1 + (first - 1 + i) % 12, scale);
		ck_assert_int_eq(
			store_end_run(store, run, verdict, "as told", FIXTURE_T0 + 1, NULL, 0), 0);
	}
	ck_assert_int_eq(store_end_job(store, job, 0, FIXTURE_T0 + 2), 0);
	return job;
}

static const char *job_option(int64_t job)
{
	static char text[32];

	snprintf(text, sizeof(text), "--job=%lld", (long long)job);
	return text;
}

static void expect_baseline(int64_t job, const char *name)
{
	lab_rig_expect(&rig, 0, (const char *[]){"baseline", name, job_option(job), NULL});
}

/* The row of the primary statistic, as JSON says it. */
static cJSON *compare(int64_t job, const char *name, int exit_code)
{
	char baseline[64];

	snprintf(baseline, sizeof(baseline), "--baseline=%s", name);
	lab_rig_expect(&rig, exit_code,
		(const char *[]){"compare", job_option(job), baseline, "--json", NULL});
	return lab_rig_json(&rig);
}

static const cJSON *find_row(const cJSON *json, const char *name)
{
	const cJSON *row;

	cJSON_ArrayForEach(row, cJSON_GetObjectItem(cJSON_GetObjectItem(json, "change"), "rows"))
	{
		if (strcmp(text_of(row, "row"), name) == 0)
			return row;
	}
	ck_abort_msg("no row \"%s\"", name);
	return NULL;
}

static void end(void)
{
	store_close(store);
	lab_rig_check_db(&rig);
	lab_rig_stop(&rig);
}

/* ------------------------------------------------------------------- verdicts */

START_TEST(test_a_fifth_more_is_a_regression_and_the_same_again_is_not)
{
	int64_t before, same, slower, faster;
	cJSON *json;
	const cJSON *row;

	begin();
	before = add_job("regress", 1, 5, 1, VERDICT_PASS);
	same = add_job("regress", 6, 5, 1, VERDICT_PASS);
	slower = add_job("regress", 6, 5, 1.5, VERDICT_PASS);
	faster = add_job("regress", 6, 5, 0.5, VERDICT_PASS);
	expect_baseline(before, "release-1");

	json = compare(slower, "release-1", 1);
	row = find_row(json, "wake.idle arbitrary p90");
	ck_assert_str_eq(text_of(row, "verdict"), "regression");
	ck_assert(cJSON_IsTrue(cJSON_GetObjectItem(row, "primary")));
	ck_assert_double_gt(number_of(row, "ratio_low"), 1);
	ck_assert_double_eq_tol(number_of(row, "p"), 2 / 252.0, 1e-9);
	/* Another row that shows the same is repeated, and fails nothing. */
	ck_assert_str_eq(text_of(find_row(json, "wake.idle arbitrary p50"), "verdict"), "suspect");
	cJSON_Delete(json);

	json = compare(same, "release-1", 0);
	row = find_row(json, "wake.idle arbitrary p90");
	ck_assert_str_ne(text_of(row, "verdict"), "regression");
	ck_assert_double_gt(number_of(row, "detectable_ratio"), 1.05 - 1e-9);
	cJSON_Delete(json);

	json = compare(faster, "release-1", 0);
	ck_assert_str_eq(
		text_of(find_row(json, "wake.idle arbitrary p90"), "verdict"), "improvement");
	cJSON_Delete(json);

	/* The same for people. */
	lab_rig_expect(&rig, 1,
		(const char *[]){"compare", job_option(slower), "--baseline=release-1", NULL});
	ck_assert_ptr_nonnull(strstr(rig.out, "wake.idle arbitrary p90 *"));
	ck_assert_ptr_nonnull(strstr(rig.out, "REGRESSION"));
	end();
}
END_TEST

START_TEST(test_too_few_runs_give_no_verdict)
{
	int64_t before, after;
	cJSON *json;

	begin();
	before = add_job("regress", 1, 4, 1, VERDICT_PASS);
	after = add_job("regress", 6, 5, 3, VERDICT_PASS);
	expect_baseline(before, "four");
	json = compare(after, "four", 0);
	ck_assert_str_eq(
		text_of(find_row(json, "wake.idle arbitrary p90"), "verdict"), "too few runs");
	cJSON_Delete(json);
	end();
}
END_TEST

START_TEST(test_a_row_that_is_gone_is_not_passed_over)
{
	int64_t before, after, run;
	cJSON *json;

	begin();
	before = add_job("regress", 1, 5, 1, VERDICT_PASS);
	run = fixture_run(store, before, "linux-rt", 98000);
	ck_assert_int_eq(store_end_run(store, run, VERDICT_PASS, "", FIXTURE_T0 + 1, NULL, 0), 0);
	run = fixture_run(store, before, "linux-r", 98001);
	ck_assert_int_eq(store_end_run(store, run, VERDICT_PASS, "", FIXTURE_T0 + 1, NULL, 0), 0);
	after = begin_job("regress");
	run = fixture_run(store, after, "linux", 99000);
	ck_assert_int_eq(store_end_run(store, run, VERDICT_PASS, "", FIXTURE_T0 + 1, NULL, 0), 0);
	expect_baseline(before, "whole");
	json = compare(after, "whole", 1);
	ck_assert_str_eq(text_of(find_row(json, "wake.idle arbitrary p90"), "verdict"), "missing");
	ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(
				 cJSON_GetObjectItem(json, "change"), "not_judged")),
		2);
	cJSON_Delete(json);
	end();
}
END_TEST

/* ------------------------------------------------------------------- refusals */

START_TEST(test_what_does_not_belong_together_is_refused)
{
	int64_t before, other, invalid;

	begin();
	before = add_job("regress", 1, 5, 1, VERDICT_PASS);
	other = add_job("smoke", 6, 5, 1, VERDICT_PASS);
	invalid = add_job("regress", 6, 5, 1, VERDICT_INVALID);
	expect_baseline(before, "good");
	lab_rig_expect(
		&rig, 2, (const char *[]){"compare", job_option(other), "--baseline=good", NULL});
	ck_assert_msg(strstr(rig.err, "suite smoke") != NULL, "%s", rig.err);
	lab_rig_expect(
		&rig, 2, (const char *[]){"compare", job_option(invalid), "--baseline=good", NULL});
	ck_assert_msg(strstr(rig.err, "none of the runs is valid") != NULL, "%s", rig.err);
	lab_rig_expect(&rig, 2, (const char *[]){"compare", "--baseline=bad", NULL});
	ck_assert_msg(strstr(rig.err, "no baseline \"bad\"") != NULL, "%s", rig.err);
	lab_rig_expect(&rig, 2, (const char *[]){"baseline", "new", job_option(invalid), NULL});
	ck_assert_msg(strstr(rig.err, "is not valid") != NULL, "%s", rig.err);
	lab_rig_expect(&rig, 2, (const char *[]){"baseline", "new", "1", "6", NULL});
	ck_assert_msg(strstr(rig.err, "one suite on one board") != NULL, "%s", rig.err);
	lab_rig_expect(&rig, 2, (const char *[]){"baseline", "LAST", "1", NULL});
	lab_rig_expect(&rig, 2, (const char *[]){"baseline", "12", "1", NULL});
	end();
}
END_TEST

START_TEST(test_a_baseline_of_the_same_name_is_replaced)
{
	int64_t before, after;

	begin();
	before = add_job("regress", 1, 5, 1, VERDICT_PASS);
	after = add_job("regress", 6, 2, 1, VERDICT_PASS);
	expect_baseline(before, "main");
	lab_rig_expect(&rig, 0, (const char *[]){"baseline", NULL});
	ck_assert_str_eq(rig.out, "main: runs 1 2 3 4 5\n");
	expect_baseline(after, "main");
	lab_rig_expect(&rig, 0, (const char *[]){"baseline", NULL});
	ck_assert_str_eq(rig.out, "main: runs 6 7\n");
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("change");
	TCase *tcase = tcase_create("change");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, test_a_fifth_more_is_a_regression_and_the_same_again_is_not);
	tcase_add_test(tcase, test_too_few_runs_give_no_verdict);
	tcase_add_test(tcase, test_a_row_that_is_gone_is_not_passed_over);
	tcase_add_test(tcase, test_what_does_not_belong_together_is_refused);
	tcase_add_test(tcase, test_a_baseline_of_the_same_name_is_replaced);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
