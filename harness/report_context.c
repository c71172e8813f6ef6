/* SPDX-License-Identifier: Apache-2.0 */
/* What stands between two figures and a conclusion: how the systems differ. */
#include <limits.h>
#include <string.h>

#include "harness/inference.h"
#include "harness/report_runs.h"

#define VALUE_SIZE 60

/* Facts that change what a row costs or means, in the order of their weight. */
static const char *const telling[] = {"protection", "address_space", "mode", "scheduler",
	"preemption", "tick", "timer_path", "clock_event", "clock_source", "clocksource",
	"system_version", "agent_version", "agent_compiler", "build.compiler", "build.flags",
	"agent_optimised", "agent_libc", "sbi_implementation", "u_boot", "governor", "cpuidle",
	"settings", "watchdog"};

#define TELLING (sizeof(telling) / sizeof(telling[0]))

static const char *fact_of(const struct compare_system *system, const char *key)
{
	return query_find_fact(system->facts, system->fact_count, key, "");
}

static bool differs(const struct compare *compare, const char *key)
{
	const char *first = NULL;

	for (size_t s = 0; s < compare->system_count; s++) {
		const char *value = fact_of(&compare->systems[s], key);

		if (!compare->systems[s].valid)
			continue;
		if (first && strcmp(first, value) != 0)
			return true;
		first = value;
	}
	return false;
}

static bool is_emulated(const struct compare *compare)
{
	for (size_t s = 0; s < compare->system_count; s++)
		if (compare->systems[s].valid && compare->systems[s].is_emulated)
			return true;
	return false;
}

static unsigned fewest_boots(const struct compare *compare)
{
	unsigned fewest = UINT_MAX;

	for (size_t s = 0; s < compare->system_count; s++)
		if (compare->systems[s].valid < fewest)
			fewest = compare->systems[s].valid;
	return compare->system_count ? fewest : 0;
}

static void add_differences(struct report *report, const struct compare *compare)
{
	size_t systems = compare->system_count < TABLE_COLUMNS_MAX - 1 ? compare->system_count
								       : TABLE_COLUMNS_MAX - 1;
	const char *heading[TABLE_COLUMNS_MAX] = {"fact"};
	char align[TABLE_COLUMNS_MAX + 1] = "";
	struct report_block *block;
	bool is_first = true;

	memset(align, 'l', systems + 1);
	for (size_t s = 0; s < systems; s++)
		heading[s + 1] = compare->systems[s].name;
	block = report_add_table(report, "What else differs between these systems", align, heading);
	for (size_t i = 0; block && i < TELLING; i++) {
		if (!differs(compare, telling[i]))
			continue;
		table_add(&block->table, "%s", telling[i]);
		for (size_t s = 0; s < systems; s++) {
			const char *value = fact_of(&compare->systems[s], telling[i]);

			table_add(&block->table, "%.*s", VALUE_SIZE, value[0] ? value : "-");
		}
		is_first = false;
	}
	if (block && is_first) {
		table_add(&block->table, "none that was reported");
		for (size_t s = 0; s < systems; s++)
			table_add(&block->table, "-");
	}
}

/* Runs of several suites, boards or versions answer different questions. */
static void warn_of_mixture(struct report *report, const struct compare *compare)
{
	for (size_t i = 1; i < compare->run_count; i++) {
		const struct query_run *first = compare->runs[0], *run = compare->runs[i];

		if (strcmp(first->board, run->board) == 0 && strcmp(first->suite, run->suite) == 0)
			continue;
		report_add(report, REPORT_WARNING,
			"These runs are not of one suite on one board (run %lld: suite %s on %s; run "
			"%lld: suite %s on %s): their rows do not answer the same question.",
			(long long)first->id, first->suite, first->board, (long long)run->id,
			run->suite, run->board);
		return;
	}
}

static void warn_of_rates(struct report *report, const struct compare *compare)
{
	const struct compare_system *first = NULL;

	for (size_t s = 0; s < compare->system_count; s++) {
		const struct compare_system *system = &compare->systems[s];

		if (!system->valid)
			continue;
		if (first && first->counter_hz != system->counter_hz) {
			report_add(report, REPORT_WARNING,
				"The counters run at different rates (%s: %.0f Hz, %s: %.0f Hz): one "
				"count is not the same time, and the floors differ for that reason.",
				first->name, first->counter_hz, system->name, system->counter_hz);
			return;
		}
		first = system;
	}
}

void report_add_context(struct report *report, const struct compare *compare)
{
	unsigned boots = fewest_boots(compare);

	if (is_emulated(compare))
		report_add(report, REPORT_WARNING,
			"EMULATED: the processor was emulated. These latencies show that the chain "
			"works. They say nothing about a board, and rank nothing.");
	if (differs(compare, "protection"))
		report_add(report, REPORT_WARNING,
			"The systems have different protection models. A row of one is not the same "
			"work as a row of the other: no ratio between them is a statement about "
			"speed, and \"n times faster\" does not follow from this report.");
	else if (differs(compare, "mode"))
		report_add(report, REPORT_WARNING,
			"The rows were measured in different modes; they stand beside each other and "
			"are not ranked.");
	warn_of_mixture(report, compare);
	warn_of_rates(report, compare);
	if (compare->system_count && boots < INFERENCE_RUNS_MIN)
		report_add(report, REPORT_WARNING,
			"%u valid boot%s of a system: how far boots lie apart is not known, and "
			"there is no verdict below %d of each.",
			boots, boots == 1 ? "" : "s", INFERENCE_RUNS_MIN);
	if (compare->system_count > 1)
		add_differences(report, compare);
	for (size_t s = 0; s < compare->system_count; s++) {
		double ppm = compare->systems[s].clock_ppm;

		if (ppm == ppm && (ppm > 20 || ppm < -20))
			report_add(report, REPORT_WARNING,
				"The clock of %s runs %+.1f ppm against its counter, which the suite "
				"accepts; its rows carry that error.",
				compare->systems[s].name, ppm);
	}
}
