/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results of other tools: figures exact, what lies beyond a histogram counted
 * and not guessed, wrong files named; and beside runs only in sections of their own.
 */
#include <check.h>
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/import.h"
#include "harness/results.h"
#include "tests/lab_rig.h"
#include "tests/measured_run.h"

/* 1,000 samples, ten of them beyond the histogram. */
#define THREAD                                                                                     \
	"\"thread\": {\"0\": {\"histogram\": {\"2\": 600, \"3\": 300, \"7\": 90}, "                \
	"\"cycles\": 1000, \"min\": 2, \"max\": 4711, \"avg\": 3.1, \"cpu\": 0, \"node\": 0}}"

static char error[512];

static struct results *convert(const char *text, const char *unit)
{
	const struct import_request request = {
		.path = "file", .name = "set", .citation = "somebody", .unit = unit};
	struct results *results;
	char *json = NULL;
	const char *format;

	ck_assert_msg(import_convert(&request, text, strlen(text), &json, &format, error,
			      sizeof(error)) == 0,
		"%s", error);
	ck_assert_msg(results_parse(&results, "file", json, strlen(json)) == 0, "%s",
		results_error(results));
	free(json);
	return results;
}

static void expect(
	const struct results *results, size_t row, enum report_value value, const char *wanted)
{
	const char *found = results->rows[row].values[value];

	ck_assert_msg(wanted ? found && strcmp(found, wanted) == 0 : !found, "%s is %s, not %s",
		report_value_name(value), found ? found : "none", wanted ? wanted : "none");
}

START_TEST(test_cyclictest_writes_its_keys_with_and_without_a_colon)
{
	static const char *const texts[] = {
		"{\"cmdline:\": \"cyclictest -p 90\", \"rt_test_version:\": \"1.0\", " THREAD "}",
		"{\"cmdline\": \"cyclictest -p 90\", \"rt_test_version\": \"2.5\", " THREAD "}"};

	for (size_t i = 0; i < 2; i++) {
		struct results *results = convert(texts[i], NULL);

		expect(results, 0, REPORT_N, "1000");
		expect(results, 0, REPORT_P50, "2");
		expect(results, 0, REPORT_P90, "3");
		expect(results, 0, REPORT_P95, "7");
		expect(results, 0, REPORT_P99, "7");
		/* It lies beyond, or has too few samples above it. */
		expect(results, 0, REPORT_P999, NULL);
		expect(results, 0, REPORT_MIN, "2");
		expect(results, 0, REPORT_MAX, "4711");
		expect(results, 0, REPORT_MEAN, NULL);
		ck_assert_str_eq(results->origin, "imported");
		ck_assert_ptr_nonnull(strstr(results->text, "cyclictest -p 90"));
		ck_assert_ptr_nonnull(strstr(results->text, "10 samples lie beyond"));
		results_close(results);
	}
}
END_TEST

START_TEST(test_a_histogram_as_text_has_a_column_a_thread)
{
	static const char text[] = "# /dev/cpu_dma_latency set to 0us\n# Histogram\n"
				   "000001 000060\t000000\n000002 000040\t000100\n"
				   "# Total: 000000100 000000100\n# Min Latencies: 00001 00002\n"
				   "# Avg Latencies: 00001 00002\n# Max Latencies: 00002 00009\n"
				   "# Histogram Overflows: 00000 00003\n";
	struct results *results = convert(text, NULL);

	ck_assert_uint_eq(results->row_count, 2);
	expect(results, 0, REPORT_N, "100");
	expect(results, 0, REPORT_P50, "1");
	expect(results, 0, REPORT_P90, "2");
	expect(results, 0, REPORT_MEAN, "1.400");
	expect(results, 1, REPORT_N, "103");
	expect(results, 1, REPORT_MAX, "9");
	expect(results, 1, REPORT_MEAN, NULL);
	results_close(results);
	results = convert("5 1\n6 3\n", "ms");
	ck_assert_str_eq(results->unit, "ms");
	expect(results, 0, REPORT_MAX, "6");
	results_close(results);
}
END_TEST

static const struct {
	const char *text, *says;
} wrong[] = {
	{"", "no samples"},
	{"# Histogram\n", "no samples"},
	{"1 2\nhello\n", "file:2: \"hello\""},
	{"1 2\n3\n", "file:2"},
	{"1 2\n3 4 5\n", "file:2"},
	{"1 x\n", "file:1"},
	{"1 -2\n", "file:1"},
	{"{\"thread\": {}}", "has no threads"},
	{"{\"thread\": {\"0\": {\"histogram\": {}, \"cycles\": 0}}}", "has no samples"},
	{"{\"thread\": {\"0\": {\"histogram\": {\"x\": 3}, \"cycles\": 3}}}", "is no bin"},
	{"{\"thread\": {\"0\": {\"histogram\": {\"1\": -3}, \"cycles\": 3}}}", "is no bin"},
	{"{\"hello\": 1}", "hello"},
	{"{\"name\": \"a\"", "file:1"},
	{"{\"name\": \"a\", \"title\": \"t\", \"citation\": \"c\", \"unit\": \"us\", \"rows\": "
	 "[{\"row\": \"r\", \"system\": \"s\", \"p50\": \"fast\"}]}",
		"\"fast\" is no figure"},
	{"{\"name\": \"a\", \"title\": \"t\", \"citation\": \"c\", \"unit\": \"us\", \"rows\": "
	 "[{\"row\": \"r\", \"system\": \"s\", \"p50\": 3}]}",
		"p50"},
	{"{\"name\": \"a\", \"title\": \"t\", \"citation\": \"c\", \"unit\": \"us\", \"rows\": "
	 "[{\"row\": \"r\", \"system\": \"s\"}]}",
		"has no figure"},
	{"{\"name\": \"a\", \"title\": \"t\", \"unit\": \"us\", \"rows\": "
	 "[{\"row\": \"r\", \"system\": \"s\", \"p50\": \"1\"}]}",
		"citation"},
};

START_TEST(test_what_is_none_of_these_is_named)
{
	const struct import_request request = {.path = "file", .name = "set"};
	char *json = NULL;
	const char *format;

	ck_assert_int_eq(import_convert(&request, wrong[_i].text, strlen(wrong[_i].text), &json,
				 &format, error, sizeof(error)),
		-EINVAL);
	ck_assert_ptr_null(json);
	ck_assert_msg(strstr(error, wrong[_i].says) != NULL, "%s", error);
}
END_TEST

START_TEST(test_imports_stand_beside_runs_and_are_not_compared)
{
	struct lab_rig rig;
	struct store *store;
	int64_t job;
	char path[320];

	lab_rig_start_unplugged(&rig);
	snprintf(path, sizeof(path), "%s",
		scratch_write(
			&rig.scratch, "their result.json", "{" THREAD "}", strlen("{" THREAD "}")));
	lab_rig_expect(&rig, 0,
		(const char *[]){"import", path, "--citation=a colleague, yesterday", NULL});
	store = fixture_open(rig.db);
	job = measured_begin_job(store, "one",
		"{ \"systems\": [\"linux\"], \"windows\": [{ \"bench\": \"wake.idle\" }] }");
	measured_close_with(store, fixture_run(store, job, "linux", 0), 1, 1, VERDICT_PASS);
	store_close(store);
	lab_rig_expect(&rig, 0,
		(const char *[]){"report", "--job=LAST", "--import=their-result", "--md", NULL});
	ck_assert_ptr_nonnull(strstr(rig.out, "a colleague, yesterday"));
	ck_assert_ptr_nonnull(strstr(rig.out, "never tested against them"));
	ck_assert_ptr_nonnull(strstr(rig.out, "wake.idle arbitrary"));
	lab_rig_expect(&rig, 0, (const char *[]){"compare", "--job=LAST", NULL});
	ck_assert_ptr_null(strstr(rig.out, "4711"));
	lab_rig_expect(&rig, 0, (const char *[]){"import", NULL});
	ck_assert_ptr_nonnull(strstr(rig.out, "their-result"));
	lab_rig_expect(&rig, 2, (const char *[]){"import", "/no/such/file", NULL});
	lab_rig_expect(&rig, 2, (const char *[]){"import", path, "--unit=years", NULL});
	lab_rig_stop(&rig);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("import");
	TCase *tcase = tcase_create("import");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, test_cyclictest_writes_its_keys_with_and_without_a_colon);
	tcase_add_test(tcase, test_a_histogram_as_text_has_a_column_a_thread);
	tcase_add_loop_test(tcase, test_what_is_none_of_these_is_named, 0,
		(int)(sizeof(wrong) / sizeof(wrong[0])));
	tcase_add_test(tcase, test_imports_stand_beside_runs_and_are_not_compared);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
