/* SPDX-License-Identifier: Apache-2.0 */
/* Gates of the machine and its builds, and of the host beside it. */
#include <math.h>
#include <string.h>

#include "harness/gates.h"

/* "no" is good, "none" and silence mean that there is no such thing; else it says what is wrong. */
static void judge_word(struct gate_set *set, enum gate gate, unsigned number, const char *word,
	const char *good, const char *what)
{
	if (!word || word[0] == '\0' || strcmp(word, "none") == 0)
		gate_add(set, gate, number, GATE_VERDICT_NOT_APPLICABLE, "the target reports no %s",
			what);
	else if (strcmp(word, "no") == 0)
		gate_add(set, gate, number, GATE_VERDICT_PASS, "%s", good);
	else
		gate_add(set, gate, number,
			strncmp(word, "unknown", 7) == 0 ? GATE_VERDICT_UNKNOWN : GATE_VERDICT_FAIL,
			"%s: %s", what, word);
}

static void judge_required(struct gate_set *set, const struct gate_run *run)
{
	if (run->required == 0)
		gate_add(set, GATE_REQUIRED_FACTS, 0, GATE_VERDICT_NOT_APPLICABLE,
			"the suite asks for none");
	else if (!run->has_facts)
		gate_add(set, GATE_REQUIRED_FACTS, 0, GATE_VERDICT_UNKNOWN,
			"the agent was not asked for its facts");
	else
		gate_add(set, GATE_REQUIRED_FACTS, 0,
			run->required_note ? GATE_VERDICT_FAIL : GATE_VERDICT_PASS, "%s",
			run->required_note ? run->required_note : "all are as the suite says");
}

static void judge_machine_state(struct gate_set *set, const struct gate_run *run)
{
	double change;

	if (run->is_emulated || run->is_icount) {
		gate_add(set, GATE_MACHINE_STATE, 0, GATE_VERDICT_NOT_APPLICABLE,
			"an emulated processor has no speed of its own");
	} else if (run->reference_runs == 0) {
		gate_add(set, GATE_MACHINE_STATE, 0, GATE_VERDICT_NOT_APPLICABLE,
			"no run of the job before this one, with an agent built alike, has measured "
			"fixed work");
	} else if (run->reference_first <= 0) {
		gate_add(set, GATE_MACHINE_STATE, 0, GATE_VERDICT_UNKNOWN,
			"fixed work was not measured");
	} else {
		change = run->reference_first / run->reference_peers - 1;
		gate_add(set, GATE_MACHINE_STATE, 0,
			fabs(change) > GATE_REFERENCE_RATIO ? GATE_VERDICT_FAIL : GATE_VERDICT_PASS,
			"%d counts, %.0f in %u runs before of agents built alike: %+.2f %%",
			run->reference_first, run->reference_peers, run->reference_runs,
			change * 100);
	}
}

static void judge_build(struct gate_set *set, const struct gate_run *run)
{
	const char *why = NULL;

	if (run->agent_optimised && strcmp(run->agent_optimised, "no") == 0)
		why = "the agent is not optimised";
	else if (run->agent_sanitized && strcmp(run->agent_sanitized, "yes") == 0)
		why = "the agent has a sanitizer in it";
	else if (run->build_flags && strstr(run->build_flags, "-O0"))
		why = "the agent is built with -O0";
	else if (run->build_optimisation && strstr(run->build_optimisation, "-O0"))
		why = "the manifest says -O0";
	else if (run->build_is_debug)
		why = "the manifest says that it is a debug build";
	if (why)
		gate_add(
			set, GATE_BUILD_COMPARABLE, 0, GATE_VERDICT_FAIL, "function only: %s", why);
	else if (!run->build_optimisation && !run->agent_optimised && !run->build_flags)
		gate_add(set, GATE_BUILD_COMPARABLE, 0, GATE_VERDICT_NOT_APPLICABLE,
			"neither manifest nor agent says how it was built");
	else
		gate_add(set, GATE_BUILD_COMPARABLE, 0, GATE_VERDICT_PASS,
			"%s, no debug build, configuration %.12s",
			run->build_optimisation ? run->build_optimisation
			: run->build_flags	? run->build_flags
						: "optimised",
			run->build_config ? run->build_config : "not hashed");
}

static void judge_agent(struct gate_set *set, const struct gate_run *run)
{
	if (!run->agent_expected)
		gate_add(set, GATE_AGENT_BUILD, 0, GATE_VERDICT_NOT_APPLICABLE,
			"the manifest names no agent");
	else if (!run->agent_version || !run->agent_version[0])
		gate_add(set, GATE_AGENT_BUILD, 0, GATE_VERDICT_UNKNOWN,
			"no agent has said its version");
	else
		gate_add(set, GATE_AGENT_BUILD, 0,
			strcmp(run->agent_version, run->agent_expected) == 0 ? GATE_VERDICT_PASS
									     : GATE_VERDICT_FAIL,
			"agent %s, this program is %s", run->agent_version, run->agent_expected);
}

static void judge_host_clock(struct gate_set *set, const struct gate_run *run)
{
	double allowed = GATE_HOST_CLOCK_MS + run->host_run_ms * GATE_HOST_FAIL_PPM / 1e6;
	bool is_bad = fabs(run->host_jump_ms) > allowed || run->host_sleep_ms > GATE_HOST_SLEEP_MS;

	if (!run->has_host_clock)
		gate_add(set, GATE_HOST_CLOCK, 0, GATE_VERDICT_UNKNOWN,
			"the host's clocks were not read");
	else
		gate_add(set, GATE_HOST_CLOCK, 0, is_bad ? GATE_VERDICT_FAIL : GATE_VERDICT_PASS,
			"wall clock moved by %+.0f ms in %.1f s, suspended for %.0f ms",
			run->host_jump_ms, run->host_run_ms / 1e3, run->host_sleep_ms);
}

static void judge_wake(struct gate_set *set, const struct gate_run *run)
{
	bool below_bracket = run->wake_p50 < run->wake_bracket;
	bool below_handoff = run->sem_p50 > 0 && run->wake_p50 < run->sem_p50;

	if (!run->wake_name)
		gate_add(set, GATE_WAKE_PLAUSIBLE, 0, GATE_VERDICT_NOT_APPLICABLE,
			"no wake-up was measured");
	else
		gate_add(set, GATE_WAKE_PLAUSIBLE, 0, GATE_VERDICT_PASS,
			"%s%s: p50 %.0f counts, bracket %.0f, semaphore handoff %.0f",
			below_bracket	? "warning, below its own bracket: "
			: below_handoff ? "warning, below the semaphore handoff: "
					: "",
			run->wake_name, run->wake_p50, run->wake_bracket, run->sem_p50);
}

void gate_judge_machine(struct gate_set *set, const struct gate_run *run)
{
	judge_word(set, GATE_SETTINGS, 0, run->settings,
		"real-time priorities are permitted and nothing throttles them",
		"settings that hold threads back");
	judge_required(set, run);
	judge_machine_state(set, run);
	judge_build(set, run);
	judge_agent(set, run);
	judge_host_clock(set, run);
	judge_wake(set, run);
}

/* --------------------------------------------------------------- a window */

static void judge_load(struct gate_set *set, const struct gate_window *w)
{
	double seconds = w->counter_hz ? (double)w->load_counts / (double)w->counter_hz : 0;

	if (!w->has_load)
		gate_add(set, GATE_LOAD_RAN, w->number, GATE_VERDICT_NOT_APPLICABLE,
			"no load was asked for");
	else if (w->load_rounds == GATE_COUNTER_UNKNOWN)
		gate_add(set, GATE_LOAD_RAN, w->number, GATE_VERDICT_UNKNOWN,
			"the target does not count the work of its load");
	else if (w->load_rounds == GATE_COUNTER_NONE)
		gate_add(set, GATE_LOAD_RAN, w->number, GATE_VERDICT_NOT_APPLICABLE,
			"this load has no work to count");
	else
		gate_add(set, GATE_LOAD_RAN, w->number,
			w->load_rounds ? GATE_VERDICT_PASS : GATE_VERDICT_FAIL,
			"%llu rounds in %.3f s, %.0f a second", (unsigned long long)w->load_rounds,
			seconds, seconds > 0 ? (double)w->load_rounds / seconds : 0);
}

static void judge_temperature(struct gate_set *set, const struct gate_window *w)
{
	double change = w->temperature_after - w->temperature_before;

	if (!w->has_temperature)
		gate_add(set, GATE_TEMPERATURE, w->number, GATE_VERDICT_NOT_APPLICABLE,
			"the target reports no temperature");
	else
		gate_add(set, GATE_TEMPERATURE, w->number,
			fabs(change) > GATE_TEMPERATURE_MAX ? GATE_VERDICT_FAIL : GATE_VERDICT_PASS,
			"%.1f degrees before, %.1f after", w->temperature_before,
			w->temperature_after);
}

void gate_judge_window_machine(struct gate_set *set, const struct gate_window *w)
{
	judge_load(set, w);
	judge_temperature(set, w);
	judge_word(set, GATE_THROTTLING, w->number, w->throttled, "none counted", "throttling");
	judge_word(set, GATE_CLOCK_DISCIPLINE, w->number, w->clock_steered,
		"nothing steered the clock", "steering of the clock");
	judge_word(set, GATE_FREQUENCY, w->number, w->frequency_changed,
		"the frequency was the same before and after", "change of frequency");
}
