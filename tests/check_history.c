/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps in a history: found where they are, not found where there are none, and
 * by the program over stored runs.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/history.h"
#include "harness/stats.h"
#include "tests/json_fields.h"
#include "tests/lab_rig.h"
#include "tests/measured_run.h"

#define DRAWS	   2000
#define RUNS	   60
#define RESOLUTION (1e6 / MEASURED_HZ)
#define SUITE	   "{ \"systems\": [\"linux\"], \"windows\": [{ \"bench\": \"wake.idle\" }] }"

static double p90s[12]; /* us, of twelve real runs of one system */

static void read_runs(void)
{
	for (int i = 0; i < 12; i++) {
		struct stats_summary summary;
		size_t count;
		int32_t *samples = measured_read_series(i + 1, 1, &count);

		ck_assert_int_eq(stats_summarise(samples, count, 0, &summary), 0);
		p90s[i] = summary.quantiles[STATS_P90] * RESOLUTION;
		free(samples);
	}
}

static unsigned next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(*state >> 33);
}

/* Drawn from the real runs, from `step` on `ratio` times as much. */
static void draw(double *values, size_t count, size_t step, double ratio, uint64_t *state)
{
	for (size_t i = 0; i < count; i++)
		values[i] = p90s[next_random(state) % 12] * (i >= step ? ratio : 1);
}

START_TEST(test_one_system_has_no_steps)
{
	unsigned with_steps = 0, suspects = 0;
	uint64_t state = 7;

	read_runs();
	for (unsigned d = 0; d < DRAWS; d++) {
		double values[RUNS];
		struct history history;

		draw(values, RUNS, RUNS, 1, &state);
		ck_assert_int_eq(history_find(&history, values, RUNS, RESOLUTION), 0);
		with_steps += history.step_count > 0;
		suspects += history.newest != HISTORY_WITHIN;
	}
	ck_assert_msg(with_steps <= DRAWS / 20, "%u of %u have a step", with_steps, DRAWS);
	ck_assert_msg(suspects <= DRAWS / 20, "%u of %u newest runs", suspects, DRAWS);
}
END_TEST

START_TEST(test_a_step_is_found_where_it_is)
{
	unsigned found = 0, near = 0;
	uint64_t state = 11;

	read_runs();
	for (unsigned d = 0; d < DRAWS / 10; d++) {
		double values[RUNS];
		struct history history;

		draw(values, RUNS, 35, 1.2, &state);
		ck_assert_int_eq(history_find(&history, values, RUNS, RESOLUTION), 0);
		found += history.step_count == 1;
		near += history.step_count == 1 && history.steps[0] >= 33 && history.steps[0] <= 37;
	}
	ck_assert_msg(found >= DRAWS / 10 * 8 / 10, "%u of %u", found, DRAWS / 10);
	ck_assert_msg(near >= found * 8 / 10, "%u of %u are in place", near, found);
}
END_TEST

START_TEST(test_few_or_equal_or_small_values_make_no_step)
{
	double values[40];
	struct history history;

	for (size_t i = 0; i < 40; i++)
		values[i] = 5;
	ck_assert_int_eq(history_find(&history, values, 40, RESOLUTION), 0);
	ck_assert_uint_eq(history.step_count, 0);
	ck_assert_int_eq(history.newest, HISTORY_WITHIN);
	/* Half as much more, but two counts only. */
	for (size_t i = 0; i < 40; i++)
		values[i] = RESOLUTION * (i < 20 ? 4 : 6);
	ck_assert_int_eq(history_find(&history, values, 40, RESOLUTION), 0);
	ck_assert_uint_eq(history.step_count, 0);
	for (size_t i = 0; i < 40; i++)
		values[i] = i < 37 ? 5 : 50;
	ck_assert_int_eq(history_find(&history, values, 40, RESOLUTION), 0);
	ck_assert_uint_eq(history.step_count, 0); /* four runs are no side */
	ck_assert_int_eq(history_find(&history, values, 3, RESOLUTION), 0);
	ck_assert_int_eq(history.newest, HISTORY_TOO_FEW);
	ck_assert_int_eq(history_find(&history, values, 0, RESOLUTION), 0);
	/* 0 has no logarithm, and breaks nothing. */
	values[5] = 0;
	ck_assert_int_eq(history_find(&history, values, 40, RESOLUTION), 0);
}
END_TEST

START_TEST(test_the_program_names_the_run_of_a_step_and_the_newest)
{
	struct lab_rig rig;
	struct store *store;
	int64_t job, first_slow = 0;
	cJSON *json;
	const cJSON *trend;

	lab_rig_start_unplugged(&rig);
	store = fixture_open(rig.db);
	job = measured_begin_job(store, "one", SUITE);
	for (int i = 0; i < 25; i++) {
		int64_t run = fixture_run(store, job, "linux", i * 1000);

		first_slow = i == 12 ? run : first_slow;
		measured_close_with(store, run, 1 + i % 12,
			i == 24	  ? 9
			: i >= 12 ? 1.5
				  : 1,
			VERDICT_PASS);
	}
	measured_close_with(store, fixture_run(store, job, "linux", 99000), 1, 9, VERDICT_INVALID);
	lab_rig_expect(&rig, 0, (const char *[]){"history", "wake.idle/p90", "--json", NULL});
	json = lab_rig_json(&rig);
	trend = cJSON_GetArrayItem(json, 0);
	ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(trend, "points")), 25);
	ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(trend, "steps")), 1);
	ck_assert_int_eq(
		cJSON_GetArrayItem(cJSON_GetObjectItem(trend, "steps"), 0)->valueint, first_slow);
	ck_assert_str_eq(text_of(trend, "newest"), "suspect: above");
	cJSON_Delete(json);
	lab_rig_expect(&rig, 0, (const char *[]){"history", "wake.idle/p90", NULL});
	ck_assert_ptr_nonnull(strstr(rig.out, "measure it 5 against 5"));
	lab_rig_expect(&rig, 2, (const char *[]){"history", "wake.idle/p42", NULL});
	lab_rig_expect(&rig, 2, (const char *[]){"history", "wake.cpu/p90", NULL});
	lab_rig_expect(&rig, 2, (const char *[]){"history", "wake.idle/p90", "--os=other", NULL});
	store_close(store);
	lab_rig_stop(&rig);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("history");
	TCase *tcase = tcase_create("history");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, test_one_system_has_no_steps);
	tcase_add_test(tcase, test_a_step_is_found_where_it_is);
	tcase_add_test(tcase, test_few_or_equal_or_small_values_make_no_step);
	tcase_add_test(tcase, test_the_program_names_the_run_of_a_step_and_the_newest);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
