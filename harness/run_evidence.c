/* SPDX-License-Identifier: Apache-2.0 */
/* What the gates of machine, builds and host are judged by, gathered as a run goes on. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/counters.h"
#include "harness/evidence.h"
#include "harness/rows.h"
#include "harness/run_internal.h"
#include "harness/run_window.h"
#include "harness/stats.h"

static double read_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

void run_evidence_begin(struct run *run)
{
	run->machine.monotonic_ms = read_ms(CLOCK_MONOTONIC);
	run->machine.wall_ms = read_ms(CLOCK_REALTIME);
	run->machine.boot_ms = read_ms(CLOCK_BOOTTIME);
}

/* The fact's text, or NULL where there is none. */
static const char *take(const char *facts, const char *key, char *text, size_t size)
{
	return counters_get(facts, key, text, size) ? text : NULL;
}

void run_evidence_take_facts(struct run *run, const char *facts)
{
	struct run_machine *machine = &run->machine;
	struct gate_run *evidence = &run->evidence;

	evidence->agent_optimised =
		take(facts, "agent_optimised", machine->optimised, sizeof(machine->optimised));
	evidence->agent_sanitized =
		take(facts, "agent_sanitized", machine->sanitized, sizeof(machine->sanitized));
	evidence->build_flags = take(facts, "build.flags", machine->flags, sizeof(machine->flags));
}

void run_evidence_take_agent(struct run *run, const char *version)
{
	snprintf(run->machine.version, sizeof(run->machine.version), "%s", version);
	run->evidence.agent_version = run->machine.version;
}

/* Of all wake-ups the one that lies lowest against its bracket. */
void run_evidence_take_window(struct run *run, const struct run_window *window)
{
	const struct suite_window *planned = &window->plan->window;
	const struct run_series *wake = run_window_find(window, "latency");
	struct gate_run *evidence = &run->evidence;
	uint64_t bracket = counters_get_count(window->counters, "bracket_counts");
	double p50;

	if (rows_is_gate_bench(planned->bench->id))
		return;
	if (strcmp(planned->name, "sem.handoff") == 0)
		evidence->sem_p50 = run_window_median(window, "handoff");
	if (!planned->bench->has_grid || !wake)
		return;
	p50 = run_window_median(window, "latency");
	bracket = bracket < GATE_COUNTER_NONE ? bracket : 0;
	if (evidence->wake_name &&
		p50 - (double)bracket >= evidence->wake_p50 - evidence->wake_bracket)
		return;
	rows_name(run->machine.wake_name, sizeof(run->machine.wake_name), planned->name,
		suite_phase_name(planned->phase), "latency");
	evidence->wake_name = run->machine.wake_name;
	evidence->wake_p50 = p50;
	evidence->wake_bracket = (double)bracket;
}

/* Another compiler or other flags make other work of the same source. */
static bool is_built_alike(
	const struct query_fact *mine, int count, struct store *store, int64_t run_id)
{
	static const char *const keys[] = {"agent_compiler", "agent_optimised", "agent_sanitized",
		"build.compiler", "build.flags"};
	struct query_fact *theirs = NULL;
	int their_count = query_facts(store, run_id, &theirs);
	bool is_alike = their_count >= 0;

	for (size_t i = 0; is_alike && i < sizeof(keys) / sizeof(keys[0]); i++)
		is_alike = strcmp(query_find_fact(mine, count, keys[i], ""),
				   query_find_fact(theirs, their_count, keys[i], "")) == 0;
	free(theirs);
	return is_alike;
}

void run_evidence_find_peers(
	struct store *store, int64_t job_id, int64_t run_id, struct gate_run *evidence)
{
	const struct query_points which = {
		.window = "reference", .series = "integer", .metric = "p50", .job_id = job_id};
	struct query_point *points = NULL;
	struct query_fact *facts = NULL;
	int fact_count = query_facts(store, run_id, &facts);
	int count = query_points(store, &which, &points);
	double *values = count > 0 ? calloc((size_t)count, sizeof(*values)) : NULL;
	int64_t last = 0;
	unsigned runs = 0;
	size_t used = 0;

	for (int i = 0; values && i < count; i++) {
		if (points[i].verdict != VERDICT_PASS || points[i].run_id == run_id ||
			!is_built_alike(facts, fact_count, store, points[i].run_id))
			continue;
		runs += points[i].run_id != last;
		last = points[i].run_id;
		values[used++] = points[i].value;
	}
	evidence->reference_runs = runs;
	evidence->reference_peers = used ? stats_median(values, used) : 0;
	free(values);
	free(points);
	free(facts);
}

void run_evidence_end(struct run *run)
{
	const struct manifest *manifest = run->request->manifest;
	struct gate_run *evidence = &run->evidence;
	double boot_ms = read_ms(CLOCK_BOOTTIME), wall_ms = read_ms(CLOCK_REALTIME);

	evidence->has_host_clock = true;
	evidence->host_run_ms = read_ms(CLOCK_MONOTONIC) - run->machine.monotonic_ms;
	evidence->host_sleep_ms = boot_ms - run->machine.boot_ms - evidence->host_run_ms;
	evidence->host_jump_ms = wall_ms - run->machine.wall_ms - evidence->host_run_ms;
	evidence->build_optimisation = manifest->build.optimisation;
	evidence->build_config = manifest->build.config_sha256;
	evidence->build_is_debug = manifest->build.debug;
	evidence->agent_expected = manifest->agent_sha256 ? SAMEBOARD_VERSION : NULL;
	run_evidence_find_peers(
		run->request->store, run->request->job_id, run->result->run_id, evidence);
}

int run_evidence_store(struct run *run)
{
	char *text = evidence_write_run(&run->evidence);
	int rc = text ? store_set_evidence(run->request->store, run->result->run_id, 0, text)
		      : -ENOMEM;

	free(text);
	return rc;
}
