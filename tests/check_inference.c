/* SPDX-License-Identifier: Apache-2.0 */
/* The statistics against an independent program, over drawn and awkward values. */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/inference.h"
#include "harness/stats.h"
#include "tests/scratch.h"
#include "tests/vectors.h"

#define REFERENCE "python3 -B tests/statistics/reference.py"
#define TRIES	  60
#define SIDE_MAX  7

/* Questions for the other program, and its answers in their order. */
static struct scratch scratch;
static FILE *questions, *answers;

static void begin_questions(void)
{
	scratch_init(&scratch);
	questions = fopen(scratch_path(&scratch, "questions"), "w");
	ck_assert_ptr_nonnull(questions);
}

static void begin_answers(void)
{
	char command[400];

	fclose(questions);
	snprintf(command, sizeof(command), REFERENCE " < %s", scratch_path(&scratch, "questions"));
	answers = popen(command, "r");
	ck_assert_ptr_nonnull(answers);
}

static double next_answer(void)
{
	double value;

	ck_assert_msg(fscanf(answers, "%lf", &value) == 1, "the reference has no answer");
	return value;
}

static void end_answers(void)
{
	ck_assert_int_eq(pclose(answers), 0);
	scratch_fini(&scratch);
}

static void ask(const char *name)
{
	fprintf(questions, "%s", name);
}

static void ask_values(const double *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fprintf(questions, " %.17g", values[i]);
}

/* ------------------------------------------------------------------- two sides */

struct pair {
	double before[SIDE_MAX], after[SIDE_MAX];
	struct inference_sides sides;
};

/* Every third pair has few different values, so that ties are the rule. */
static void draw_pair(struct pair *pair, uint64_t *random, int number)
{
	unsigned values = number % 3 == 0 ? 4 : 1000;

	pair->sides = (struct inference_sides){pair->before, pair->after,
		1 + vectors_random(random) % SIDE_MAX, 1 + vectors_random(random) % SIDE_MAX};
	for (size_t i = 0; i < SIDE_MAX; i++) {
		pair->before[i] = 1 + vectors_random(random) % values;
		pair->after[i] = 1 + vectors_random(random) % values;
	}
}

START_TEST(test_two_sides_give_what_all_arrangements_give)
{
	static struct pair pairs[TRIES];
	uint64_t random = 7;

	begin_questions();
	for (int i = 0; i < TRIES; i++) {
		draw_pair(&pairs[i], &random, i);
		ask("compare");
		ask_values(pairs[i].before, pairs[i].sides.before_count);
		ask(" /");
		ask_values(pairs[i].after, pairs[i].sides.after_count);
		ask("\n");
	}
	begin_answers();
	for (int i = 0; i < TRIES; i++) {
		struct inference_change change;

		ck_assert_int_eq(inference_compare(&pairs[i].sides, &change), 0);
		ck_assert_double_eq_tol(change.p, next_answer(), 1e-9);
		ck_assert_double_eq_tol(change.ratio, next_answer(), 1e-9);
	}
	end_answers();
}
END_TEST

START_TEST(test_adjusted_levels_are_those_of_their_definitions)
{
	static double p[TRIES][8];
	uint64_t random = 8;

	begin_questions();
	for (int i = 0; i < TRIES; i++) {
		for (int j = 0; j < 8; j++)
			p[i][j] = (1 + vectors_random(&random) % 40) / 100.0;
		ask(i % 2 ? "holm" : "bh");
		ask_values(p[i], 8);
		ask("\n");
	}
	begin_answers();
	for (int i = 0; i < TRIES; i++) {
		if (i % 2)
			inference_adjust_holm(p[i], 8);
		else
			inference_adjust_benjamini_hochberg(p[i], 8);
		for (int j = 0; j < 8; j++)
			ck_assert_double_eq_tol(p[i][j], next_answer(), 1e-9);
	}
	end_answers();
}
END_TEST

/* ------------------------------------------------------------------- one series */

START_TEST(test_a_series_is_described_as_by_the_reference)
{
	static const char *const quantiles[] = {"0.5", "0.9", "0.95", "0.99", "0.999", "0.9999"};
	static int32_t samples[TRIES][500];
	uint64_t random = 9;
	size_t counts[TRIES];

	begin_questions();
	for (int i = 0; i < TRIES; i++) {
		counts[i] = 2 + vectors_random(&random) % 499;
		for (size_t j = 0; j < counts[i]; j++)
			samples[i][j] = (int32_t)(vectors_random(&random) % 2000) - 50;
		for (int q = -1; q < STATS_QUANTILES; q++) {
			ask(q < 0 ? "summary" : "quantile ");
			ask(q < 0 ? "" : quantiles[q]);
			for (size_t j = 0; j < counts[i]; j++)
				fprintf(questions, " %d", samples[i][j]);
			ask("\n");
		}
	}
	begin_answers();
	for (int i = 0; i < TRIES; i++) {
		struct stats_summary s;

		ck_assert_int_eq(stats_summarise(samples[i], counts[i], 0, &s), 0);
		ck_assert_double_eq_tol(s.mean, next_answer(), 1e-9);
		ck_assert_double_eq_tol(s.sd, next_answer(), 1e-9);
		ck_assert_double_eq_tol(s.mad, next_answer(), 1e-9);
		ck_assert_double_eq_tol(s.lag1, next_answer(), 1e-9);
		for (int q = 0; q < STATS_QUANTILES; q++)
			ck_assert_double_eq(s.quantiles[q], next_answer());
	}
	end_answers();
}
END_TEST

/* ------------------------------------------------------------------- limits */

START_TEST(test_what_cannot_be_compared_is_refused)
{
	static const double good[] = {1, 2, 3}, zero[] = {1, 0, 3}, lost[] = {1, NAN, 3};
	const struct inference_sides wrong[] = {
		{good, good, 0, 3},
		{good, good, 3, 0},
		{good, good, INFERENCE_RUNS_MAX + 1, 3},
		{good, zero, 3, 3},
		{lost, good, 3, 3},
	};
	struct inference_change change;
	double ratio;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ck_assert_int_eq(inference_compare(&wrong[i], &change), -EINVAL);
		ck_assert_int_eq(inference_find_interval(&wrong[i], &change), -EINVAL);
		ck_assert_int_eq(inference_detectable(&wrong[i], 0.05, &ratio), -EINVAL);
	}
}
END_TEST

START_TEST(test_the_largest_sides_are_still_exact)
{
	static double before[INFERENCE_RUNS_MAX], after[INFERENCE_RUNS_MAX];
	const struct inference_sides sides = {
		before, after, INFERENCE_RUNS_MAX, INFERENCE_RUNS_MAX};
	struct inference_change change;

	for (int i = 0; i < INFERENCE_RUNS_MAX; i++) {
		before[i] = i + 1;
		after[i] = i + 1 + INFERENCE_RUNS_MAX;
	}
	/* Completely apart: 2 of C(120, 60) arrangements. */
	ck_assert_int_eq(inference_compare(&sides, &change), 0);
	ck_assert_double_eq_tol(log(change.p),
		log(2) + 2 * lgamma(INFERENCE_RUNS_MAX + 1.0) -
			lgamma(2.0 * INFERENCE_RUNS_MAX + 1),
		1e-6);
}
END_TEST

START_TEST(test_what_could_have_been_shown_shrinks_with_runs_and_spread)
{
	static const double narrow[] = {100, 101, 102, 103, 104, 105, 106};
	static const double wide[] = {60, 80, 100, 120, 140, 160, 180};
	double few, more, spread, none;

	ck_assert_int_eq(
		inference_detectable(&(struct inference_sides){narrow, narrow, 5, 5}, 0.05, &few),
		0);
	ck_assert_int_eq(
		inference_detectable(&(struct inference_sides){narrow, narrow, 7, 7}, 0.05, &more),
		0);
	ck_assert_int_eq(
		inference_detectable(&(struct inference_sides){wide, wide, 5, 5}, 0.05, &spread),
		0);
	ck_assert_int_eq(
		inference_detectable(&(struct inference_sides){wide, wide, 3, 3}, 0.05, &none), 0);
	ck_assert_double_gt(few, 1);
	ck_assert_double_gt(spread, few);
	ck_assert_double_lt(more, few * 1.02);
	ck_assert_double_infinite(none);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("inference");
	TCase *tcase = tcase_create("inference");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, test_two_sides_give_what_all_arrangements_give);
	tcase_add_test(tcase, test_adjusted_levels_are_those_of_their_definitions);
	tcase_add_test(tcase, test_a_series_is_described_as_by_the_reference);
	tcase_add_test(tcase, test_what_cannot_be_compared_is_refused);
	tcase_add_test(tcase, test_the_largest_sides_are_still_exact);
	tcase_add_test(tcase, test_what_could_have_been_shown_shrinks_with_runs_and_spread);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
