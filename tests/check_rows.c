/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdlib.h>

#include "harness/rows.h"

static const struct {
	const char *bench, *phase, *series;
	const char *name;
	const char *unit; /* NULL: counts */
	uint32_t period_us;
	bool is_measured, is_lateness;
} rows[] = {
	{"wake.idle", "aligned", "latency", "wake.idle aligned", NULL, 0, true, true},
	{"wake.period", "", "period.100us", "wake.period 100us", NULL, 100, true, false},
	{"wake.period", "", "period.10ms", "wake.period 10ms", NULL, 10000, true, false},
	{"wake.period", "", "period.x", "wake.period x", NULL, 0, true, false},
	{"syscall", "", "syscall", "syscall", NULL, 0, true, false},
	{"syscall", "", "syscall.hot", "syscall hot", NULL, 0, true, false},
	{"mutex.pair", "", "pair.pi.dirty", "mutex.pair pi.dirty", NULL, 0, true, false},
	{"sem.handoff.low", "", "low.hot", "sem.handoff.low hot", NULL, 0, true, false},
	{"timer.oneshot", "", "oneshot.1ms", "timer.oneshot 1ms", NULL, 0, true, false},
	{"irq.thread", "", "bracket", "irq.thread bracket", NULL, 0, false, false},
	{"irq.thread", "", "cold", "irq.thread cold", NULL, 0, false, false},
	{"price", "", "hello_ms", "price hello_ms", "ms", 0, true, false},
	{"price", "", "ram_kib", "price ram_kib", "KiB", 0, true, false},
	{"containment", "", "held.thread", "containment held.thread", "of 1", 0, true, false},
	{"noise", "", "gap_at", "noise gap_at", NULL, 0, true, false},
};

START_TEST(a_series_becomes_a_row_with_its_name_unit_and_period)
{
	const char *unit = rows_unit(rows[_i].series);
	char name[96];

	rows_name(name, sizeof(name), rows[_i].bench, rows[_i].phase, rows[_i].series);
	ck_assert_str_eq(name, rows[_i].name);
	ck_assert_pstr_eq(unit, rows[_i].unit);
	ck_assert_uint_eq(rows_period_us(rows[_i].series), rows[_i].period_us);
	ck_assert_int_eq(rows_is_measured(rows[_i].series), rows[_i].is_measured);
	ck_assert_int_eq(rows_is_lateness(rows[_i].series), rows[_i].is_lateness);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rows");
	TCase *tcase = tcase_create("rows");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, a_series_becomes_a_row_with_its_name_unit_and_period, 0,
		(int)(sizeof(rows) / sizeof(rows[0])));
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
