/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "harness/clockfit.h"

#define POINTS 400

static uint64_t random_state;

static uint64_t next_random(void)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return random_state >> 33;
}

/* A clock of tick_ns ticks that last tick_counts each, read every 50 ms and up
 * to late_counts late, never early. */
static void make_readings(uint64_t *counter, uint64_t *os_ns, double tick_counts, double tick_ns,
	unsigned late_counts)
{
	random_state = 7;
	for (int i = 0; i < POINTS; i++) {
		uint64_t tick = 1000 + (uint64_t)i * 50;

		os_ns[i] = (uint64_t)((double)tick * tick_ns);
		counter[i] = (uint64_t)((double)tick * tick_counts) + 12345678901u;
		if (late_counts)
			counter[i] += next_random() % late_counts;
	}
}

START_TEST(test_a_right_clock_has_no_error_however_late_it_is_read)
{
	uint64_t counter[POINTS], os_ns[POINTS];
	struct clockfit_audit audit;

	make_readings(counter, os_ns, 10000, 1e6, 5000);
	ck_assert_int_eq(clockfit_audit(counter, os_ns, POINTS, 10000000, 1000, &audit), 0);
	ck_assert_double_le(fabs(audit.ppm), 5);
	ck_assert(!audit.one_count_per_tick);
	ck_assert_double_gt(audit.span_s, 10);
}
END_TEST

START_TEST(test_one_count_per_tick_is_found_and_named)
{
	static const struct {
		double tick_counts, hz, ppm;
	} rows[] = {
		{10001, 1e7, 100},	    /* 10 MHz, 1 ms: one too many */
		{9999, 1e7, -100},	    /* ... too few */
		{24001, 24e6, 1e6 / 24000}, /* the D1: 41.7 ppm */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t counter[POINTS], os_ns[POINTS];
		struct clockfit_audit audit;

		make_readings(counter, os_ns, rows[i].tick_counts, 1e6, 100);
		ck_assert_int_eq(
			clockfit_audit(counter, os_ns, POINTS, (uint64_t)rows[i].hz, 0, &audit), 0);
		ck_assert_double_eq_tol(audit.ppm, rows[i].ppm, 2);
		ck_assert(audit.one_count_per_tick);
		ck_assert_double_eq(audit.tick_hz, 1000);
	}
}
END_TEST

START_TEST(test_another_error_is_not_called_one_count_per_tick)
{
	uint64_t counter[POINTS], os_ns[POINTS];
	struct clockfit_audit audit;

	make_readings(counter, os_ns, 10000.6, 1e6, 100);
	ck_assert_int_eq(clockfit_audit(counter, os_ns, POINTS, 10000000, 1000, &audit), 0);
	ck_assert_double_eq_tol(audit.ppm, 60, 2);
	ck_assert(!audit.one_count_per_tick);
}
END_TEST

START_TEST(test_readings_that_make_no_line_are_refused)
{
	uint64_t counter[POINTS], os_ns[POINTS];
	struct clockfit_audit audit;

	make_readings(counter, os_ns, 10000, 1e6, 0);
	ck_assert_int_eq(clockfit_audit(counter, os_ns, 7, 10000000, 0, &audit), -EINVAL);
	ck_assert_int_eq(clockfit_audit(counter, os_ns, POINTS, 0, 0, &audit), -EINVAL);
	counter[200] = 0;
	ck_assert_int_eq(clockfit_audit(counter, os_ns, POINTS, 10000000, 0, &audit), -EINVAL);
	for (int i = 0; i < POINTS; i++)
		os_ns[i] = 5;
	make_readings(counter, os_ns, 10000, 0, 0);
	ck_assert_int_eq(clockfit_audit(counter, os_ns, POINTS, 10000000, 0, &audit), -EINVAL);
}
END_TEST

/* An exchange at host time t with a round trip; the counter runs ppm fast. */
static struct clockfit_exchange exchange_at(double t_us, double round_us, double ppm)
{
	double counts = (t_us + round_us / 2) * 10 * (1 + ppm * 1e-6);

	return (struct clockfit_exchange){
		.host_sent_us = (uint64_t)t_us,
		.host_received_us = (uint64_t)(t_us + round_us),
		.target_received = (uint64_t)counts,
		.target_sent = (uint64_t)counts,
	};
}

START_TEST(test_the_host_sees_the_counters_rate_within_its_uncertainty)
{
	struct clockfit_exchange first[] = {
		exchange_at(1e6, 90000, 300), exchange_at(2e6, 2000, 300)};
	struct clockfit_exchange last[] = {
		exchange_at(30e6, 3000, 300), exchange_at(31e6, 9000, 300)};
	struct clockfit_host host;

	ck_assert_int_eq(clockfit_host(first, 2, last, 2, 10000000, &host), 0);
	ck_assert_double_le(fabs(host.ppm - 300), host.uncertainty);
	/* The shortest round trips, 2 and 3 ms, decide: half of both over 28 s. */
	ck_assert_double_eq_tol(host.uncertainty, 89, 2);
	ck_assert_double_eq_tol(host.span_s, 30, 0.1);
}
END_TEST

START_TEST(test_a_line_faster_than_its_rate_leaves_the_round_trips)
{
	struct clockfit_exchange first = exchange_at(1e6, 2000, 300);
	struct clockfit_exchange last = exchange_at(31e6, 2000, 300);
	struct clockfit_host host;

	/* The line would have taken longer than the whole round trip. */
	first.out_us = first.back_us = last.out_us = last.back_us = 1500;
	ck_assert_int_eq(clockfit_host(&first, 1, &last, 1, 10000000, &host), 0);
	ck_assert_double_le(fabs(host.ppm - 300), host.uncertainty);
	ck_assert_double_eq_tol(host.uncertainty, 67, 2);
}
END_TEST

START_TEST(test_exchanges_that_do_not_follow_each_other_are_refused)
{
	struct clockfit_exchange a = exchange_at(1e6, 1000, 0), b = exchange_at(9e6, 1000, 0);
	struct clockfit_host host;

	ck_assert_int_eq(clockfit_host(&b, 1, &a, 1, 10000000, &host), -EINVAL);
	ck_assert_int_eq(clockfit_host(&a, 1, &a, 1, 10000000, &host), -EINVAL);
	ck_assert_int_eq(clockfit_host(&a, 0, &b, 1, 10000000, &host), -EINVAL);
	b.target_received = 0;
	ck_assert_int_eq(clockfit_host(&a, 1, &b, 1, 10000000, &host), -EINVAL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("clockfit");
	TCase *tcase = tcase_create("clockfit");
	SRunner *runner;
	int failed;

	tcase_add_test(tcase, test_a_right_clock_has_no_error_however_late_it_is_read);
	tcase_add_test(tcase, test_one_count_per_tick_is_found_and_named);
	tcase_add_test(tcase, test_another_error_is_not_called_one_count_per_tick);
	tcase_add_test(tcase, test_readings_that_make_no_line_are_refused);
	tcase_add_test(tcase, test_the_host_sees_the_counters_rate_within_its_uncertainty);
	tcase_add_test(tcase, test_a_line_faster_than_its_rate_leaves_the_round_trips);
	tcase_add_test(tcase, test_exchanges_that_do_not_follow_each_other_are_refused);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
