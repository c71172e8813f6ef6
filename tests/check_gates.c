/* SPDX-License-Identifier: Apache-2.0 */
/* Each gate against evidence that must pass it, and evidence that must not. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "harness/gates.h"
#include "protocol/wire_error.h"

static const int32_t sleeps[] = {0, 10, 20, 900};

static struct gate_run good_run(void)
{
	return (struct gate_run){
		.counter_hz = 24000000,
		.card_sha256 = "aa00aa00aa00aa00",
		.image_sha256 = "aa00aa00aa00aa00",
		.payloads = 2,
		.payloads_matched = 2,
		.session = 77,
		.frames = 100,
		.answered_s = 25,
		.soak_s = 20,
		.sleep = GATE_PROGRESS_DONE,
		.sleep_lateness = sleeps,
		.sleep_count = 4,
		.has_interrupts = true,
		.interrupts = 1000,
		.audit = GATE_PROGRESS_DONE,
		.audit_fit = {.ppm = 3, .uncertainty = 1, .span_s = 18},
		.host_fit = {.ppm = 30, .uncertainty = 20, .span_s = 25},
		.reference_first = 100000,
		.reference_last = 100900,
		.settings = "no",
		.required = 1,
		.has_facts = true,
		.reference_peers = 100500,
		.reference_runs = 3,
		.build_optimisation = "-O2",
		.build_config = "aa11",
		.agent_optimised = "yes",
		.agent_version = "0.1.0",
		.agent_expected = "0.1.0",
		.has_host_clock = true,
		.host_run_ms = 60000,
		.host_jump_ms = 20,
		.wake_name = "wake.idle",
		.wake_p50 = 300,
		.wake_bracket = 18,
		.sem_p50 = 200,
	};
}

static struct gate_window good_window(void)
{
	return (struct gate_window){
		.number = 4,
		.heard = "",
		.asked = 500,
		.got = 500,
		.is_complete = true,
		.failure = "",
		.clock_steered = "no",
		.frequency_changed = "no",
		.has_floor = true,
		.floor_before = 10,
		.floor_after = 12,
		.has_load = true,
		.load_rounds = 5000,
		.load_counts = 24000000,
		.counter_hz = 24000000,
		.throttled = "no",
		.has_temperature = true,
		.temperature_before = 40,
		.temperature_after = 41,
	};
}

static enum gate_verdict verdict_of(const struct gate_set *set, enum gate gate)
{
	for (size_t i = 0; i < set->count; i++)
		if (strcmp(set->gates[i].id, gate_describe(gate)->id) == 0) {
			ck_assert_uint_gt(strlen(set->gates[i].evidence), 0);
			return set->gates[i].verdict;
		}
	ck_abort_msg("gate %s was not judged", gate_describe(gate)->id);
	return GATE_VERDICT_COUNT;
}

static void expect_run(const struct gate_run *run, enum gate gate, enum gate_verdict wanted)
{
	struct gate_set set = {0};
	enum gate_verdict verdict;

	gate_judge_run(&set, run);
	verdict = verdict_of(&set, gate);
	ck_assert_msg(
		verdict == wanted, "%s is %s", gate_describe(gate)->id, verdict_gate_name(verdict));
	gate_set_free(&set);
}

static void expect_window(
	const struct gate_window *window, enum gate gate, enum gate_verdict wanted)
{
	struct gate_set set = {0};
	enum gate_verdict verdict;

	gate_judge_window(&set, window);
	verdict = verdict_of(&set, gate);
	ck_assert_msg(
		verdict == wanted, "%s is %s", gate_describe(gate)->id, verdict_gate_name(verdict));
	gate_set_free(&set);
}

static bool allow_nothing(void *context, const char *id)
{
	(void)context;
	(void)id;
	return false;
}

static bool allow_audit(void *context, const char *id)
{
	(void)context;
	return strcmp(id, "clock-audit") == 0;
}

START_TEST(test_good_evidence_passes_every_gate)
{
	struct gate_run run = good_run();
	struct gate_window window = good_window();
	struct gate_set set = {0};

	gate_judge_run(&set, &run);
	gate_judge_window(&set, &window);
	ck_assert_uint_eq(set.count, GATES);
	for (int gate = 0; gate < GATES; gate++)
		ck_assert_int_eq(verdict_of(&set, gate), GATE_VERDICT_PASS);
	ck_assert_ptr_null(gate_set_find_failure(&set, allow_nothing, NULL));
	gate_set_free(&set);
}
END_TEST

START_TEST(test_gates_of_a_run_fail_on_what_they_are_for)
{
	static const int32_t early[] = {0, -1};
	struct gate_run run;

	run = good_run();
	run.card_sha256 = "bb00bb00bb00bb00";
	expect_run(&run, GATE_IMAGE_IDENTITY, GATE_VERDICT_FAIL);
	run = good_run();
	run.payload_note = "/Image sums to something else";
	expect_run(&run, GATE_IMAGE_IDENTITY, GATE_VERDICT_FAIL);
	run = good_run();
	run.card_sha256 = NULL;
	expect_run(&run, GATE_IMAGE_IDENTITY, GATE_VERDICT_UNKNOWN);
	run = good_run();
	run.payloads_matched = 1;
	expect_run(&run, GATE_IMAGE_IDENTITY, GATE_VERDICT_UNKNOWN);

	run = good_run();
	run.reset_note = "OpenSBI";
	expect_run(&run, GATE_ONE_SESSION, GATE_VERDICT_FAIL);
	expect_run(&run, GATE_SOAK, GATE_VERDICT_FAIL);
	run = good_run();
	run.session = 0;
	expect_run(&run, GATE_ONE_SESSION, GATE_VERDICT_FAIL);
	run = good_run();
	run.lost_note = "no answer";
	expect_run(&run, GATE_ONE_SESSION, GATE_VERDICT_FAIL);
	run = good_run();
	run.answered_s = 19.9;
	expect_run(&run, GATE_SOAK, GATE_VERDICT_FAIL);

	run = good_run();
	run.sleep = GATE_PROGRESS_BEGUN;
	expect_run(&run, GATE_TIMED_SLEEP, GATE_VERDICT_FAIL);
	run.reset_note = "OpenSBI";
	expect_run(&run, GATE_TIMED_SLEEP, GATE_VERDICT_UNKNOWN);
	run = good_run();
	run.sleep_lateness = early;
	run.sleep_count = 2;
	expect_run(&run, GATE_TIMED_SLEEP, GATE_VERDICT_FAIL);
	run = good_run();
	run.interrupts = 0;
	expect_run(&run, GATE_INTERRUPTS, GATE_VERDICT_FAIL);
	run.has_interrupts = false;
	expect_run(&run, GATE_INTERRUPTS, GATE_VERDICT_UNKNOWN);

	run = good_run();
	run.reference_last = 101100;
	expect_run(&run, GATE_REFERENCE, GATE_VERDICT_FAIL);
	run.is_emulated = true;
	expect_run(&run, GATE_REFERENCE, GATE_VERDICT_NOT_APPLICABLE);
	run.reference_first = 0;
	expect_run(&run, GATE_REFERENCE, GATE_VERDICT_UNKNOWN);
}
END_TEST

START_TEST(test_gates_of_machine_build_and_host_fail_on_what_they_are_for)
{
	struct gate_run run = good_run();

	run.reference_first = 102000;
	expect_run(&run, GATE_MACHINE_STATE, GATE_VERDICT_FAIL);
	run.reference_runs = 0;
	expect_run(&run, GATE_MACHINE_STATE, GATE_VERDICT_NOT_APPLICABLE);
	run = good_run();
	run.is_emulated = true;
	expect_run(&run, GATE_MACHINE_STATE, GATE_VERDICT_NOT_APPLICABLE);

	run = good_run();
	run.agent_optimised = "no";
	expect_run(&run, GATE_BUILD_COMPARABLE, GATE_VERDICT_FAIL);
	run = good_run();
	run.build_optimisation = "-O0 -g";
	expect_run(&run, GATE_BUILD_COMPARABLE, GATE_VERDICT_FAIL);
	run = good_run();
	run.build_is_debug = true;
	expect_run(&run, GATE_BUILD_COMPARABLE, GATE_VERDICT_FAIL);
	run = good_run();
	run.build_optimisation = run.agent_optimised = NULL;
	expect_run(&run, GATE_BUILD_COMPARABLE, GATE_VERDICT_NOT_APPLICABLE);

	run = good_run();
	run.agent_version = "0.0.9";
	expect_run(&run, GATE_AGENT_BUILD, GATE_VERDICT_FAIL);
	run.agent_version = NULL;
	expect_run(&run, GATE_AGENT_BUILD, GATE_VERDICT_UNKNOWN);
	run.agent_expected = NULL;
	expect_run(&run, GATE_AGENT_BUILD, GATE_VERDICT_NOT_APPLICABLE);

	run = good_run();
	run.host_jump_ms = -1200;
	expect_run(&run, GATE_HOST_CLOCK, GATE_VERDICT_FAIL);
	run.host_jump_ms = 0;
	run.host_sleep_ms = 3000;
	expect_run(&run, GATE_HOST_CLOCK, GATE_VERDICT_FAIL);
	run.has_host_clock = false;
	expect_run(&run, GATE_HOST_CLOCK, GATE_VERDICT_UNKNOWN);
}
END_TEST

/* The published 0.542 us: 13 counts in a bracket of 18. */
START_TEST(test_a_wake_up_below_its_bracket_is_warned_of)
{
	struct gate_run run = good_run();
	struct gate_set set = {0};
	unsigned warnings = 0;

	run.wake_p50 = 13;
	gate_judge_run(&set, &run);
	run.wake_p50 = 150;
	gate_judge_run(&set, &run);
	run.wake_p50 = 250;
	gate_judge_run(&set, &run);
	for (size_t i = 0; i < set.count; i++)
		warnings += strcmp(set.gates[i].id, "wake-plausible") == 0 &&
			    strstr(set.gates[i].evidence, "warning, below ") != NULL;
	ck_assert_uint_eq(warnings, 2);
	gate_set_free(&set);
	run.wake_name = NULL;
	expect_run(&run, GATE_WAKE_PLAUSIBLE, GATE_VERDICT_NOT_APPLICABLE);
}
END_TEST

START_TEST(test_load_heat_and_throttling_are_seen)
{
	struct gate_window window = good_window();

	window.load_rounds = 0;
	expect_window(&window, GATE_LOAD_RAN, GATE_VERDICT_FAIL);
	window.load_rounds = GATE_COUNTER_UNKNOWN;
	expect_window(&window, GATE_LOAD_RAN, GATE_VERDICT_UNKNOWN);
	window.has_load = false;
	expect_window(&window, GATE_LOAD_RAN, GATE_VERDICT_NOT_APPLICABLE);
	window.temperature_after = 50.5;
	expect_window(&window, GATE_TEMPERATURE, GATE_VERDICT_FAIL);
	window.has_temperature = false;
	expect_window(&window, GATE_TEMPERATURE, GATE_VERDICT_NOT_APPLICABLE);
	window.throttled = "3 times";
	expect_window(&window, GATE_THROTTLING, GATE_VERDICT_FAIL);
	window.throttled = "unknown: no such file";
	expect_window(&window, GATE_THROTTLING, GATE_VERDICT_UNKNOWN);
	window.throttled = "";
	expect_window(&window, GATE_THROTTLING, GATE_VERDICT_NOT_APPLICABLE);
}
END_TEST

START_TEST(test_the_clock_gates_know_their_limits_and_accepted_errors)
{
	struct gate_run run = good_run();
	struct gate_set set = {0};

	run.audit_fit.ppm = 20.1;
	expect_run(&run, GATE_CLOCK_AUDIT, GATE_VERDICT_FAIL);
	run.audit_fit.ppm = -20.1;
	expect_run(&run, GATE_CLOCK_AUDIT, GATE_VERDICT_FAIL);
	run.audit_fit.ppm = 19.9;
	expect_run(&run, GATE_CLOCK_AUDIT, GATE_VERDICT_PASS);
	run.audit_fit.ppm = 41.7;
	run.audit_accepted_ppm = 41.7;
	expect_run(&run, GATE_CLOCK_AUDIT, GATE_VERDICT_PASS);
	run.audit_accepted_ppm = -41.7;
	expect_run(&run, GATE_CLOCK_AUDIT, GATE_VERDICT_FAIL);
	run.audit_fit.span_s = 2;
	expect_run(&run, GATE_CLOCK_AUDIT, GATE_VERDICT_UNKNOWN);
	run.audit = GATE_PROGRESS_BEGUN;
	expect_run(&run, GATE_CLOCK_AUDIT, GATE_VERDICT_UNKNOWN);

	run = good_run();
	run.audit_fit = (struct clockfit_audit){
		.ppm = 41.7, .span_s = 18, .one_count_per_tick = true, .tick_hz = 1000};
	gate_judge_run(&set, &run);
	for (size_t i = 0; i < set.count; i++)
		if (strcmp(set.gates[i].id, "clock-audit") == 0)
			ck_assert_ptr_nonnull(
				strstr(set.gates[i].evidence, "one count per tick too many"));
	gate_set_free(&set);

	run = good_run();
	run.host_fit.ppm = 521;
	expect_run(&run, GATE_CLOCK_HOST, GATE_VERDICT_FAIL);
	run.host_fit.ppm = 519; /* within 20 ppm of 500: not proven */
	expect_run(&run, GATE_CLOCK_HOST, GATE_VERDICT_PASS);
	run.host_fit.uncertainty = 600;
	expect_run(&run, GATE_CLOCK_HOST, GATE_VERDICT_UNKNOWN);
	run.host_error = -1;
	expect_run(&run, GATE_CLOCK_HOST, GATE_VERDICT_UNKNOWN);
}
END_TEST

START_TEST(test_gates_of_a_window_fail_on_what_they_are_for)
{
	struct gate_window window;

	window = good_window();
	window.host_heard = 1;
	expect_window(&window, GATE_SILENCE, GATE_VERDICT_FAIL);
	window = good_window();
	window.uart_tx = 1;
	expect_window(&window, GATE_SILENCE, GATE_VERDICT_FAIL);
	window = good_window();
	window.is_disturbed = true;
	expect_window(&window, GATE_SILENCE, GATE_VERDICT_FAIL);
	window = good_window();
	window.uart_tx = GATE_COUNTER_UNKNOWN;
	expect_window(&window, GATE_SILENCE, GATE_VERDICT_PASS);

	window = good_window();
	window.kernel_messages = 1;
	expect_window(&window, GATE_KERNEL_MESSAGES, GATE_VERDICT_FAIL);
	window.kernel_messages = GATE_COUNTER_UNKNOWN;
	expect_window(&window, GATE_KERNEL_MESSAGES, GATE_VERDICT_UNKNOWN);
	window.kernel_messages = GATE_COUNTER_NONE;
	expect_window(&window, GATE_KERNEL_MESSAGES, GATE_VERDICT_NOT_APPLICABLE);
	window.page_faults = 1;
	expect_window(&window, GATE_PAGE_FAULTS, GATE_VERDICT_FAIL);

	window = good_window();
	window.clock_steered = "an offset of 3 us is being slewed";
	window.frequency_changed = "from 1008000 to 408000 kHz";
	expect_window(&window, GATE_CLOCK_DISCIPLINE, GATE_VERDICT_FAIL);
	expect_window(&window, GATE_FREQUENCY, GATE_VERDICT_FAIL);
	window.clock_steered = "unknown";
	window.frequency_changed = "none";
	expect_window(&window, GATE_CLOCK_DISCIPLINE, GATE_VERDICT_UNKNOWN);
	expect_window(&window, GATE_FREQUENCY, GATE_VERDICT_NOT_APPLICABLE);
	window.frequency_changed = "";
	expect_window(&window, GATE_FREQUENCY, GATE_VERDICT_NOT_APPLICABLE);

	window = good_window();
	window.got = 499;
	expect_window(&window, GATE_SAMPLES_COMPLETE, GATE_VERDICT_FAIL);
	window.asked = 0;
	expect_window(&window, GATE_SAMPLES_COMPLETE, GATE_VERDICT_PASS);
	window.got = 0;
	expect_window(&window, GATE_SAMPLES_COMPLETE, GATE_VERDICT_FAIL);
	window = good_window();
	window.is_complete = false;
	expect_window(&window, GATE_SAMPLES_COMPLETE, GATE_VERDICT_FAIL);
	window = good_window();
	window.status = WIRE_ERROR_FAILED;
	expect_window(&window, GATE_SAMPLES_COMPLETE, GATE_VERDICT_FAIL);
	window = good_window();
	window.clipped = 1;
	expect_window(&window, GATE_NOT_CLIPPED, GATE_VERDICT_FAIL);

	window = good_window();
	window.floor_after = 13;
	expect_window(&window, GATE_FLOOR_STABLE, GATE_VERDICT_FAIL);
	window.floor_before = 1; /* small floors may move by two counts */
	window.floor_after = 3;
	expect_window(&window, GATE_FLOOR_STABLE, GATE_VERDICT_PASS);
	window.has_floor = false;
	expect_window(&window, GATE_FLOOR_STABLE, GATE_VERDICT_UNKNOWN);
}
END_TEST

START_TEST(test_an_unknown_gate_must_be_allowed_and_a_failed_one_comes_first)
{
	struct gate_run run = good_run();
	struct gate_set set = {0};

	run.audit = GATE_PROGRESS_NOT_TRIED;
	gate_judge_run(&set, &run);
	ck_assert_str_eq(gate_set_find_failure(&set, allow_nothing, NULL)->id, "clock-audit");
	ck_assert_ptr_null(gate_set_find_failure(&set, allow_audit, NULL));
	gate_set_free(&set);
	run.host_fit.ppm = 9000;
	gate_judge_run(&set, &run);
	ck_assert_str_eq(gate_set_find_failure(&set, allow_nothing, NULL)->id, "clock-host");
	gate_set_free(&set);
}
END_TEST

START_TEST(test_a_dead_timer_is_named_before_the_session_it_ends)
{
	struct gate_run run = good_run();
	struct gate_set set = {0};

	run.sleep = GATE_PROGRESS_BEGUN;
	run.audit = GATE_PROGRESS_NOT_TRIED;
	run.lost_note = "no answer";
	run.answered_s = 3;
	gate_judge_run(&set, &run);
	ck_assert_str_eq(gate_set_find_failure(&set, allow_nothing, NULL)->id, "timed-sleep");
	gate_set_free(&set);
}
END_TEST

START_TEST(test_every_gate_is_described_under_its_own_id)
{
	for (int gate = 0; gate < GATES; gate++) {
		const struct gate_description *description = gate_describe(gate);

		ck_assert_ptr_nonnull(description->id);
		ck_assert_uint_gt(strlen(description->proves), 10);
		ck_assert_uint_gt(strlen(description->threshold), 5);
		ck_assert_uint_gt(strlen(description->source), 10);
		ck_assert_int_eq(gate_find(description->id), gate);
	}
	ck_assert_int_lt(gate_find("no-such-gate"), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("gates");
	TCase *tcase = tcase_create("gates");
	SRunner *runner;
	int failed;

	tcase_add_test(tcase, test_good_evidence_passes_every_gate);
	tcase_add_test(tcase, test_gates_of_a_run_fail_on_what_they_are_for);
	tcase_add_test(tcase, test_gates_of_machine_build_and_host_fail_on_what_they_are_for);
	tcase_add_test(tcase, test_a_wake_up_below_its_bracket_is_warned_of);
	tcase_add_test(tcase, test_load_heat_and_throttling_are_seen);
	tcase_add_test(tcase, test_the_clock_gates_know_their_limits_and_accepted_errors);
	tcase_add_test(tcase, test_gates_of_a_window_fail_on_what_they_are_for);
	tcase_add_test(tcase, test_an_unknown_gate_must_be_allowed_and_a_failed_one_comes_first);
	tcase_add_test(tcase, test_a_dead_timer_is_named_before_the_session_it_ends);
	tcase_add_test(tcase, test_every_gate_is_described_under_its_own_id);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
