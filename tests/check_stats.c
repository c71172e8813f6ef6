/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "harness/stats.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

START_TEST(test_percentiles_are_nearest_rank)
{
	/* x_(ceil(p n)) by hand: of 1..100 it is 100 p itself. */
	static const int32_t wanted[STATS_QUANTILES] = {50, 90, 95, 99, 100, 100};
	int32_t samples[100];
	struct stats_summary s;

	for (int i = 0; i < 100; i++)
		samples[i] = 100 - i;
	ck_assert_int_eq(stats_summarise(samples, 100, 0, &s), 0);
	for (int q = 0; q < STATS_QUANTILES; q++)
		ck_assert_int_eq(s.quantiles[q], wanted[q]);
	ck_assert_int_eq(s.min, 1);
	ck_assert_int_eq(s.max, 100);
	ck_assert_uint_eq(s.max_index, 0);
	ck_assert_double_eq_tol(s.mean, 50.5, 1e-12);
	ck_assert_double_eq_tol(s.sd, sqrt(100 * 101 / 12.0), 1e-9);
}
END_TEST

START_TEST(test_long_series_of_all_sizes_are_in_order)
{
	/* -2500 to 2499 in odd order, stretched over nearly all of an int32. */
	enum { STRETCH = 800000 };
	static int32_t samples[5000];
	struct stats_summary s;

	for (int i = 0; i < 5000; i++)
		samples[i] = (i * 2741 % 5000 - 2500) * STRETCH;
	ck_assert_int_eq(stats_summarise(samples, 5000, 0, &s), 0);
	ck_assert_int_eq(s.min, -2500 * STRETCH);
	ck_assert_int_eq(s.quantiles[STATS_P50], -STRETCH);
	ck_assert_int_eq(s.quantiles[STATS_P90], 1999 * STRETCH);
	ck_assert_int_eq(s.quantiles[STATS_P999], 2494 * STRETCH);
	ck_assert_int_eq(s.max, 2499 * STRETCH);
	ck_assert_int_eq(s.mad, 1250 * STRETCH);
	ck_assert_int_eq(stats_median_counts(samples, 5000), -STRETCH);
}
END_TEST

START_TEST(test_binary_fractions_move_no_rank)
{
	/* 0.95 * 20 is 19 and not 19.000000000000004. */
	int32_t samples[20];
	struct stats_summary s;

	for (int i = 0; i < 20; i++)
		samples[i] = i + 1;
	ck_assert_int_eq(stats_summarise(samples, 20, 0, &s), 0);
	ck_assert_int_eq(s.quantiles[STATS_P95], 19);
	ck_assert_int_eq(s.quantiles[STATS_P90], 18);
}
END_TEST

START_TEST(test_early_and_missed_releases_are_counted)
{
	static const int32_t samples[] = {-1, 0, 9999, 10000, 25000, INT32_MAX, INT32_MIN};
	struct stats_summary s;

	ck_assert_int_eq(stats_summarise(samples, COUNT(samples), 10000, &s), 0);
	ck_assert_uint_eq(s.early, 2);
	ck_assert_uint_eq(s.missed, 3);
	ck_assert_int_eq(s.min, INT32_MIN);
	ck_assert_int_eq(s.max, INT32_MAX);
	ck_assert_int_eq(stats_summarise(samples, COUNT(samples), 0, &s), 0);
	ck_assert_uint_eq(s.missed, 0);
}
END_TEST

/* One stall of 25.8 periods: a tool that skips sees it once, whoever releases all sees it 26 times.
 */
START_TEST(test_skipped_releases_hide_a_stall)
{
	enum { COUNT = 1000, PERIOD = 10000, STALL = 258000 };
	static int32_t samples[COUNT], kept[COUNT];
	struct stats_summary full, skipped;
	size_t count;

	for (int i = 0; i < COUNT; i++)
		samples[i] = i >= 500 && i < 526 ? STALL - (i - 500) * PERIOD : 60;
	samples[7] = -5; /* early: nothing passed */
	count = stats_skip_releases(samples, COUNT, PERIOD, kept);
	ck_assert_uint_eq(count, COUNT - 25);
	ck_assert_int_eq(kept[500], STALL);
	ck_assert_int_eq(kept[501], 60);
	ck_assert_int_eq(kept[7], -5);
	ck_assert_int_eq(stats_summarise(samples, COUNT, PERIOD, &full), 0);
	ck_assert_int_eq(stats_summarise(kept, count, PERIOD, &skipped), 0);
	ck_assert_uint_eq(full.missed, 25);
	ck_assert_uint_eq(skipped.missed, 1);
	ck_assert_int_eq(full.quantiles[STATS_P99], 158000);
	ck_assert_int_eq(skipped.quantiles[STATS_P99], 60);
	ck_assert_int_eq(full.max, skipped.max);
	/* Without a period nothing is skipped. */
	ck_assert_uint_eq(stats_skip_releases(samples, COUNT, 0, kept), COUNT);
}
END_TEST

START_TEST(test_one_sample_and_none)
{
	static const int32_t one = 7;
	struct stats_summary s;

	ck_assert_int_eq(stats_summarise(&one, 1, 0, &s), 0);
	ck_assert_int_eq(s.quantiles[STATS_P50], 7);
	ck_assert_int_eq(s.quantiles[STATS_P9999], 7);
	ck_assert_double_eq(s.sd, 0);
	ck_assert_int_eq(stats_summarise(&one, 0, 0, &s), -EINVAL);
}
END_TEST

START_TEST(test_a_percentile_says_when_it_rests_on_few_samples)
{
	ck_assert(stats_quantile_is_few(STATS_P99, 999));
	ck_assert(!stats_quantile_is_few(STATS_P99, 1000));
	ck_assert(stats_quantile_is_few(STATS_P999, 9999));
	ck_assert(!stats_quantile_is_few(STATS_P50, 20));
}
END_TEST

START_TEST(test_names_lead_back_to_their_quantiles)
{
	for (int q = 0; q < STATS_QUANTILES; q++)
		ck_assert_int_eq(stats_quantile_find(stats_quantile_name(q)), q);
	ck_assert_int_eq(stats_quantile_find("p42"), -EINVAL);
}
END_TEST

START_TEST(test_medians)
{
	double even[] = {4, 1, 3, 2}, odd[] = {9, 1, 5};
	static const int32_t counts[] = {5, 1, 4, 2};

	ck_assert_double_eq(stats_median(even, 4), 2.5);
	ck_assert_double_eq(stats_median(odd, 3), 5);
	ck_assert(isnan(stats_median(NULL, 0)));
	ck_assert_int_eq(stats_median_counts(counts, 4), 2);
	ck_assert_int_eq(stats_median_counts(counts, 0), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stats");
	TCase *tcase = tcase_create("stats");
	SRunner *runner;
	int failed;

	tcase_add_test(tcase, test_percentiles_are_nearest_rank);
	tcase_add_test(tcase, test_long_series_of_all_sizes_are_in_order);
	tcase_add_test(tcase, test_binary_fractions_move_no_rank);
	tcase_add_test(tcase, test_early_and_missed_releases_are_counted);
	tcase_add_test(tcase, test_skipped_releases_hide_a_stall);
	tcase_add_test(tcase, test_one_sample_and_none);
	tcase_add_test(tcase, test_a_percentile_says_when_it_rests_on_few_samples);
	tcase_add_test(tcase, test_names_lead_back_to_their_quantiles);
	tcase_add_test(tcase, test_medians);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
