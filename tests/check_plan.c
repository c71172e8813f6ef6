/* SPDX-License-Identifier: Apache-2.0 */
/* What a job will do, before anything moves. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/plan.h"

static struct suite *suite;
static struct plan plan;

static void make(const char *golden, unsigned boots, uint64_t seed)
{
	static const char format[] =
		"{\"systems\": [\"linux\", \"baremetal\"], %s \"windows\": [{\"bench\": \"floor\"}]}";
	char text[256], key[64] = "";

	if (golden)
		snprintf(key, sizeof(key), "\"golden\": \"%s\",", golden);
	snprintf(text, sizeof(text), format, key);
	ck_assert_msg(suite_parse(&suite, "night.json", text, strlen(text)) == 0, "%s",
		suite_error(suite));
	ck_assert_int_eq(plan_init(&plan, suite, NULL, 0, boots, seed), 0);
}

static void drop(void)
{
	plan_fini(&plan);
	suite_close(suite);
}

START_TEST(systems_are_interleaved_and_each_has_its_boots)
{
	make(NULL, 3, 7);
	ck_assert_uint_eq(plan.run_count, 6);
	for (size_t round = 0; round < 3; round++) {
		const struct plan_run *first = &plan.runs[round * 2], *second = first + 1;

		ck_assert_str_ne(first->system, second->system);
		ck_assert_uint_eq(first->boot, round + 1);
		ck_assert_uint_eq(second->boot, round + 1);
		ck_assert(!first->is_golden && !second->is_golden);
	}
	drop();
}
END_TEST

START_TEST(a_golden_system_is_booted_first_and_last_whatever_the_seed)
{
	for (uint64_t seed = 1; seed < 20; seed++) {
		unsigned boots = 0;

		make("baremetal", 2, seed);
		ck_assert_uint_eq(plan.run_count, 6);
		for (size_t i = 0; i < plan.run_count; i++) {
			const struct plan_run *run = &plan.runs[i];

			ck_assert(run->is_golden == (i == 0 || i == 5));
			if (strcmp(run->system, "baremetal") == 0)
				ck_assert_uint_eq(run->boot, ++boots);
		}
		ck_assert_str_eq(plan.runs[0].system, "baremetal");
		ck_assert_str_eq(plan.runs[5].system, "baremetal");
		ck_assert_uint_eq(boots, 4);
		drop();
	}
}
END_TEST

START_TEST(a_golden_system_need_not_be_among_the_measured_ones)
{
	char *text;

	make("reference", 1, 1);
	ck_assert_uint_eq(plan.run_count, 4);
	ck_assert_str_eq(plan.runs[0].system, "reference");
	ck_assert_str_eq(plan.runs[3].system, "reference");
	ck_assert_uint_eq(plan.runs[3].boot, 2);
	ck_assert_uint_eq(plan.card_writes, 4);
	text = plan_to_text(&plan, suite);
	ck_assert_ptr_nonnull(strstr(text, "reference#1 (golden)"));
	ck_assert_ptr_nonnull(strstr(text, "4 runs, 4 card writes"));
	free(text);
	drop();
}
END_TEST

START_TEST(a_card_is_written_only_when_the_image_changes)
{
	make("baremetal", 1, 1);
	for (size_t i = 1; i < plan.run_count; i++)
		ck_assert(plan.runs[i].card_write ==
			  (strcmp(plan.runs[i].system, plan.runs[i - 1].system) != 0));
	drop();
}
END_TEST

static struct plan_card card_of(void *context, const char *system)
{
	bool is_spent = context != NULL;

	return (struct plan_card){strcmp(system, "other") == 0 ? "b" : "a", is_spent};
}

START_TEST(systems_in_slots_of_one_card_need_one_write)
{
	unsigned before;

	make("other", 3, 7);
	ck_assert_uint_gt(plan.card_writes, 3);
	before = plan.total_s;
	plan_set_cards(&plan, card_of, NULL);
	/* The golden system's card, the card of both, the golden one's again. */
	ck_assert_uint_eq(plan.card_writes, 3);
	ck_assert_uint_lt(plan.total_s, before);
	ck_assert(plan.runs[0].card_write && plan.runs[1].card_write && !plan.runs[2].card_write);
	/* Where each boot leaves another card behind, each needs it anew. */
	plan_set_cards(&plan, card_of, &plan);
	ck_assert_uint_eq(plan.card_writes, plan.run_count);
	drop();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		systems_are_interleaved_and_each_has_its_boots,
		a_golden_system_is_booted_first_and_last_whatever_the_seed,
		a_golden_system_need_not_be_among_the_measured_ones,
		a_card_is_written_only_when_the_image_changes,
		systems_in_slots_of_one_card_need_one_write,
	};
	Suite *checks = suite_create("plan");
	SRunner *runner = srunner_create(checks);
	TCase *tcase = tcase_create("plan");
	int failed;

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(checks, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
