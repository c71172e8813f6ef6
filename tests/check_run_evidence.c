/* SPDX-License-Identifier: Apache-2.0 */
/* What a run's gates are judged by, as far as it comes of other runs. */
#include <check.h>
#include <string.h>

#include "harness/run_internal.h"
#include "tests/measured_run.h"

static struct store *store;
static int64_t job;

static void set_up(void)
{
	store = fixture_open(":memory:");
	job = measured_begin_job(store, "core", "{}");
}

static void tear_down(void)
{
	store_close(store);
}

/* A run with facts of its agent whose fixed work took so many counts. */
static int64_t add_run(int64_t of_job, const char *facts, int32_t counts, enum verdict verdict)
{
	const int32_t samples[] = {counts, counts, counts};
	int64_t run = fixture_run(store, of_job, "linux", 0);

	ck_assert_int_eq(store_set_facts(store, run, facts, strlen(facts)), 0);
	measured_add_window(store, run,
		&(struct measured_window){.number = 1,
			.bench = 99,
			.name = "reference",
			.series = "integer",
			.samples = samples,
			.count = 3});
	if (verdict != VERDICT_RUNNING)
		ck_assert_int_eq(
			store_end_run(store, run, verdict, "as told", FIXTURE_T0 + 1, NULL, 0), 0);
	return run;
}

#define FAST  "agent_compiler=gcc 12\nbuild.flags=-O2\n"
#define SMALL "agent_compiler=gcc 12\nbuild.flags=-Os\n"
#define CLANG "agent_compiler=clang 14\nbuild.flags=-O2\n"
#define MUTE  ""

START_TEST(fixed_work_is_compared_between_agents_that_were_built_alike)
{
	static const struct {
		const char *facts;
		unsigned runs;
		double peers;
	} rows[] = {
		{FAST, 2, 100},
		{SMALL, 1, 500},
		{CLANG, 0, 0},
		{MUTE, 0, 0},
	};
	struct gate_run evidence = {.reference_runs = 77};
	int64_t run;

	add_run(job, FAST, 90, VERDICT_PASS);
	add_run(job, SMALL, 500, VERDICT_PASS);
	add_run(job, FAST, 1000, VERDICT_INVALID);
	add_run(job, FAST, 110, VERDICT_PASS);
	add_run(measured_begin_job(store, "core", "{}"), FAST, 2000, VERDICT_PASS);
	run = add_run(job, rows[_i].facts, 100, VERDICT_RUNNING);
	run_evidence_find_peers(store, job, run, &evidence);
	ck_assert_uint_eq(evidence.reference_runs, rows[_i].runs);
	ck_assert_double_eq(evidence.reference_peers, rows[_i].peers);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("run_evidence");
	TCase *tcase = tcase_create("run_evidence");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_loop_test(
		tcase, fixed_work_is_compared_between_agents_that_were_built_alike, 0, 4);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
