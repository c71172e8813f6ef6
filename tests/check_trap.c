/* SPDX-License-Identifier: Apache-2.0 */
/* What a suite expects of systems that are wrong on purpose, and what is found in a job's runs. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "harness/trap.h"
#include "tests/measured_run.h"

#define RISE "wake.idle arbitrary/p50 is 4 to 6 us above clean"

static struct store *store;
static int64_t job;

static void set_up(void)
{
	store = fixture_open(":memory:");
	job = measured_begin_job(store, "traps", "{}");
}

static void tear_down(void)
{
	store_close(store);
}

static struct trap parse(const char *expected)
{
	struct trap trap = {.system = "spin", .expected = expected};

	ck_assert_int_eq(trap_parse(&trap), 0);
	return trap;
}

/* ------------------------------------------------------------------- words */

START_TEST(a_gate_or_a_row_is_expected)
{
	struct trap trap = parse("timed-sleep");

	ck_assert(!trap.is_rise);
	trap = parse("irq.split aligned thread/p99.9 is 0.5 to 6 us above bare-metal2");
	ck_assert(trap.is_rise);
	ck_assert_str_eq(trap.row, "irq.split aligned thread");
	ck_assert_str_eq(trap.statistic, "p99.9");
	ck_assert_str_eq(trap.clean, "bare-metal2");
	ck_assert_double_eq(trap.least_us, 0.5);
	ck_assert_double_eq(trap.most_us, 6);
}
END_TEST

START_TEST(what_is_neither_is_refused)
{
	static const char *const rows[] = {"", "timed_sleep", "wake.idle", "wake.idle/p50",
		"wake.idle/p51 is 4 to 6 us above clean", "wake.idle/p50 is 6 to 4 us above clean",
		"wake.idle/p50 is 0 to 4 us above clean", "wake.idle/p50 is 4 to 6 ms above clean",
		"wake.idle/p50 is 4 to 6 us above", "wake.idle/p50 is 4 to 6 us above clean ones",
		"/p50 is 4 to 6 us above clean", "wake.idle/p50 is nan to nan us above clean"};
	struct trap trap = {.system = "spin", .expected = rows[_i]};

	ck_assert_msg(trap_parse(&trap) == -EINVAL, "%s", rows[_i]);
}
END_TEST

/* -------------------------------------------------------------------- rise */

/* A run whose every sample is that many us. */
static int64_t add_run(const char *system, double us, enum verdict verdict)
{
	int32_t samples[20];
	int64_t run = fixture_run(store, job, system, 0);

	ck_assert_int_eq(store_set_emulated(store, run, false), 0);
	for (size_t i = 0; i < 20; i++)
		samples[i] = (int32_t)(us * MEASURED_HZ / 1e6);
	measured_add_window(store, run,
		&(struct measured_window){.number = 1,
			.bench = 1,
			.name = "wake.idle",
			.phase = "arbitrary",
			.series = "latency",
			.samples = samples,
			.count = 20});
	ck_assert_int_eq(store_end_run(store, run, verdict, "as told", FIXTURE_T0 + 1, NULL, 0), 0);
	return run;
}

static struct trap_finding judge(const char *expected, bool is_icount)
{
	const struct trap trap = parse(expected);
	struct trap_finding finding;

	ck_assert_int_eq(trap_judge_rise(&trap, store, job, is_icount, &finding), 0);
	ck_assert_uint_gt(strlen(finding.text), 10);
	return finding;
}

START_TEST(a_rise_as_planted_is_caught_and_no_other)
{
	static const struct {
		double clean[2], spin;
		enum verdict spin_verdict;
		enum trap_outcome outcome;
		const char *says;
	} rows[] = {
		{{10, 10}, 15, VERDICT_PASS, TRAP_CAUGHT, "+5.000 us"},
		{{10, 13}, 16.5, VERDICT_PASS, TRAP_CAUGHT, "is caught"},
		{{10, 10}, 10, VERDICT_PASS, TRAP_MISSED, "is NOT caught"},
		{{10, 10}, 17, VERDICT_PASS, TRAP_MISSED, "+7.000 us"},
		{{15, 15}, 10, VERDICT_PASS, TRAP_MISSED, "-5.000 us"},
		{{8, 12.5}, 15.25, VERDICT_PASS, TRAP_MISSED, "the clean runs differ by as much"},
		{{10, 10}, 15, VERDICT_INVALID, TRAP_MISSED, "no valid run of spin"},
	};
	struct trap_finding finding;

	add_run("clean", rows[_i].clean[0], VERDICT_PASS);
	add_run("spin", rows[_i].spin, rows[_i].spin_verdict);
	add_run("other", 100, VERDICT_PASS);
	add_run("clean", rows[_i].clean[1], VERDICT_PASS);
	add_run("clean", 100, VERDICT_INVALID);
	finding = judge(RISE, false);
	ck_assert_msg(finding.outcome == rows[_i].outcome, "%s", finding.text);
	ck_assert_msg(strstr(finding.text, rows[_i].says) != NULL, "%s", finding.text);
}
END_TEST

START_TEST(what_was_not_measured_is_not_caught)
{
	struct trap_finding finding;

	add_run("spin", 15, VERDICT_PASS);
	finding = judge(RISE, false);
	ck_assert_int_eq(finding.outcome, TRAP_MISSED);
	ck_assert_msg(strstr(finding.text, "no valid run of clean") != NULL, "%s", finding.text);
	add_run("clean", 10, VERDICT_PASS);
	ck_assert_int_eq(judge(RISE, false).outcome, TRAP_CAUGHT);
	ck_assert_int_eq(judge("wake.idle aligned/p50 is 4 to 6 us above clean", false).outcome,
		TRAP_MISSED);
}
END_TEST

START_TEST(emulated_runs_are_judged_in_repeatable_time_only)
{
	int64_t emulated = add_run("clean", 10, VERDICT_PASS);

	add_run("spin", 15, VERDICT_PASS);
	ck_assert_int_eq(store_set_emulated(store, emulated, true), 0);
	ck_assert_int_eq(judge(RISE, false).outcome, TRAP_NOT_JUDGED);
	ck_assert_int_eq(judge(RISE, true).outcome, TRAP_CAUGHT);
}
END_TEST

/* -------------------------------------------------------------------- gate */

START_TEST(a_gate_has_caught_a_trap_when_it_failed_and_no_other_has)
{
	static const struct {
		const char *id;
		enum gate_verdict verdict;
		enum trap_outcome outcome;
	} rows[] = {
		{"silence", GATE_VERDICT_FAIL, TRAP_CAUGHT},
		{"silence", GATE_VERDICT_PASS, TRAP_MISSED},
		{"silence", GATE_VERDICT_UNKNOWN, TRAP_MISSED},
		{"one-session", GATE_VERDICT_FAIL, TRAP_MISSED},
	};
	const struct store_gate gate = {.id = rows[_i].id,
		.verdict = rows[_i].verdict,
		.evidence = "116 bytes",
		.threshold = "none"};
	const struct trap trap = parse("silence");
	int64_t run = fixture_run(store, job, "spin", 0);
	struct trap_finding finding;

	ck_assert_int_eq(
		store_end_run(store, run, VERDICT_INVALID, "as told", FIXTURE_T0 + 1, &gate, 1), 0);
	ck_assert_int_eq(trap_judge_run(&trap, store, run, &finding), 0);
	ck_assert_msg(finding.outcome == rows[_i].outcome, "%s", finding.text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trap");
	TCase *tcase = tcase_create("trap");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, a_gate_or_a_row_is_expected);
	tcase_add_loop_test(tcase, what_is_neither_is_refused, 0, 12);
	tcase_add_loop_test(tcase, a_rise_as_planted_is_caught_and_no_other, 0, 7);
	tcase_add_test(tcase, what_was_not_measured_is_not_caught);
	tcase_add_test(tcase, emulated_runs_are_judged_in_repeatable_time_only);
	tcase_add_loop_test(tcase, a_gate_has_caught_a_trap_when_it_failed_and_no_other_has, 0, 4);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
