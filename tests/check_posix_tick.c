/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "agents/core/counter.h"
#include "agents/core/posix/posix_tick.h"

#define RATE_HZ 24000000u
#define TICK_NS 1000000u
#define TICK	24000u

static struct posix_port posix;

static void set_up(void)
{
	posix = (struct posix_port){
		.tick_ns = TICK_NS, .anchor_counts = 1000, .anchor_ns = 5 * TICK_NS};
	posix.agent.counter_rate_hz = RATE_HZ;
}

/* The clock says `ticks` since the anchor, the counter `counts`. */
static uint64_t count_lost(uint64_t counts, uint64_t ticks)
{
	struct posix_tick tick = {.step_ns = TICK_NS, .tick_counts = TICK};

	return posix_tick_count_lost(
		&tick, &posix, posix.anchor_counts + counts, posix.anchor_ns + ticks * TICK_NS);
}

START_TEST(a_late_wake_up_has_lost_no_tick)
{
	ck_assert_uint_eq(count_lost(10 * TICK, 10), 0);
	ck_assert_uint_eq(count_lost(10 * TICK + TICK - 1, 10), 0);
	/* Before the anchor's own tick was over. */
	ck_assert_uint_eq(count_lost(0, 1), 0);
}
END_TEST

START_TEST(a_clock_that_missed_ticks_is_behind_by_whole_ones)
{
	ck_assert_uint_eq(count_lost(10 * TICK, 9), 1);
	ck_assert_uint_eq(count_lost(10 * TICK + 7, 6), 4);
	ck_assert_uint_eq(count_lost(10 * TICK - 1, 9), 0);
}
END_TEST

START_TEST(a_release_that_has_passed_is_not_slept_for)
{
	struct posix_tick tick = {.step_ns = 1};
	struct agent_anchor anchor;
	uint64_t passed, before;

	posix_tick_anchor(&tick, &posix.agent, 0, &anchor);
	before = counter_read();
	passed = before - 1;
	ck_assert_uint_ge(posix_tick_wait_until(&tick, &posix.agent, passed), before);
	ck_assert_uint_eq(tick.lost_ticks, 0);
}
END_TEST

START_TEST(a_clock_with_resolution_needs_no_watching)
{
	struct posix_tick tick;

	posix_tick_init(&tick, &posix);
	ck_assert_uint_eq(tick.tick_counts, 0);
	ck_assert_uint_lt(tick.step_ns, TICK_NS / 2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("posix_tick");
	TCase *cases = tcase_create("posix_tick");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, a_late_wake_up_has_lost_no_tick);
	tcase_add_test(cases, a_clock_that_missed_ticks_is_behind_by_whole_ones);
	tcase_add_test(cases, a_release_that_has_passed_is_not_slept_for);
	tcase_add_test(cases, a_clock_with_resolution_needs_no_watching);
	suite_add_tcase(suite, cases);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
