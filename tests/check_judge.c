/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Null and power of the verdicts, over real series: twelve runs of one
 * unchanged system, drawn anew by fixed seeds.
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/judge.h"
#include "harness/stats.h"
#include "tests/samples.h"
#include "tests/vectors.h"

#define RUNS	12
#define ROWS	6
#define HZ	24000000
#define NULLS	2000
#define PLANTED 1.2

/* Of each run: p50, p90, p95, p99, p99.9 and the mean. */
static double values[RUNS][ROWS];

static void load_runs(void)
{
	for (int run = 0; run < RUNS; run++) {
		char path[80];
		struct stats_summary summary;
		struct samples samples;

		snprintf(path, sizeof(path), "tests/data/latency/R_idle_run%02d.ns.txt", run + 1);
		ck_assert_msg(samples_read(&samples, path, HZ) == 0, "%s", samples_error(&samples));
		ck_assert_int_eq(stats_summarise(samples.values, samples.count, 0, &summary), 0);
		for (int q = 0; q <= STATS_P999; q++)
			values[run][q] = summary.quantiles[q];
		values[run][ROWS - 1] = summary.mean;
		samples_free(&samples);
	}
}

struct drawn {
	double before[ROWS][RUNS], after[ROWS][RUNS];
	struct judge_row rows[ROWS];
};

/* Two sides of so many different runs; `row` of the second side is planted. */
static void draw(struct drawn *drawn, uint64_t *random, size_t a_side, double planted, int row)
{
	int order[RUNS];

	for (int i = 0; i < RUNS; i++)
		order[i] = i;
	for (int i = RUNS - 1; i > 0; i--) {
		int j = (int)(vectors_random(random) % (unsigned)(i + 1)), kept = order[i];

		order[i] = order[j];
		order[j] = kept;
	}
	for (int r = 0; r < ROWS; r++) {
		for (size_t i = 0; i < a_side; i++) {
			/* Where twelve runs do not suffice for both sides, they are drawn again. */
			size_t at = a_side + i < RUNS ? a_side + i : vectors_random(random) % RUNS;

			drawn->before[r][i] = values[order[i]][r];
			drawn->after[r][i] = values[order[at]][r] * (r == row ? planted : 1);
		}
		drawn->rows[r] = (struct judge_row){.before = drawn->before[r],
			.after = drawn->after[r],
			.resolution = 1,
			.before_count = a_side,
			.after_count = a_side,
			.is_primary = true};
	}
}

START_TEST(test_unchanged_runs_are_hardly_ever_a_regression)
{
	struct drawn drawn;
	uint64_t random = 1;
	unsigned wrong = 0;

	for (int i = 0; i < NULLS; i++) {
		bool is_wrong = false;

		draw(&drawn, &random, 5, 1, -1);
		ck_assert_int_eq(judge_rows(drawn.rows, ROWS), 0);
		for (int r = 0; r < ROWS; r++)
			is_wrong |= drawn.rows[r].judgement == JUDGEMENT_REGRESSION ||
				    drawn.rows[r].judgement == JUDGEMENT_SUSPECT;
		wrong += is_wrong;
	}
	fprintf(stderr, "null: %u of %d\n", wrong, NULLS);
	ck_assert_uint_le(wrong, NULLS * 5 / 100);
}
END_TEST

static double find_power(size_t a_side, size_t rows, int planted_row)
{
	struct drawn drawn;
	uint64_t random = 2;
	unsigned found = 0;
	const int tries = 1000;

	for (int i = 0; i < tries; i++) {
		draw(&drawn, &random, a_side, PLANTED, planted_row);
		ck_assert_int_eq(
			judge_rows(rows == 1 ? &drawn.rows[planted_row] : drawn.rows, rows), 0);
		found += drawn.rows[planted_row].judgement == JUDGEMENT_REGRESSION;
	}
	fprintf(stderr, "power: %zu a side, %zu rows: %.3f\n", a_side, rows, (double)found / tries);
	return (double)found / tries;
}

START_TEST(test_a_fifth_more_is_found_with_one_primary_row_and_with_six)
{
	ck_assert_double_ge(find_power(5, 1, STATS_P90), 0.8);
	ck_assert_double_ge(find_power(7, ROWS, STATS_P90), 0.8);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("judge");
	TCase *tcase = tcase_create("judge");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 120);
	tcase_add_unchecked_fixture(tcase, load_runs, NULL);
	tcase_add_test(tcase, test_unchanged_runs_are_hardly_ever_a_regression);
	tcase_add_test(tcase, test_a_fifth_more_is_found_with_one_primary_row_and_with_six);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
