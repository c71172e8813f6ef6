/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/trap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/gates.h"
#include "harness/rows.h"
#include "harness/stats.h"

#define RUNS_MAX 1000

static const struct {
	const char *name;
	size_t offset;
} statistics[] = {
	{"p50", offsetof(struct query_figures, p50)},
	{"p90", offsetof(struct query_figures, p90)},
	{"p95", offsetof(struct query_figures, p95)},
	{"p99", offsetof(struct query_figures, p99)},
	{"p99.9", offsetof(struct query_figures, p999)},
};

#define STATISTICS (sizeof(statistics) / sizeof(statistics[0]))

/* Its place in the table, or STATISTICS. */
static size_t find_statistic(const char *name)
{
	size_t i = 0;

	while (i < STATISTICS && strcmp(statistics[i].name, name) != 0)
		i++;
	return i;
}

int trap_parse(struct trap *trap)
{
	int end = 0;

	trap->is_rise = false;
	if (gate_find(trap->expected) >= 0)
		return 0;
	if (sscanf(trap->expected, "%95[^/]/%7s is %lf to %lf us above %63s%n", trap->row,
		    trap->statistic, &trap->least_us, &trap->most_us, trap->clean, &end) != 5 ||
		trap->expected[end] || find_statistic(trap->statistic) == STATISTICS ||
		!(trap->least_us > 0) || !(trap->most_us >= trap->least_us))
		return -EINVAL;
	trap->is_rise = true;
	return 0;
}

int trap_judge_run(
	const struct trap *trap, struct store *store, int64_t run_id, struct trap_finding *finding)
{
	struct query_gate *gates = NULL;
	int count = query_gates(store, run_id, &gates);

	*finding = (struct trap_finding){0};
	if (count < 0)
		return count;
	snprintf(finding->text, sizeof(finding->text), "run %lld: gate %s has NOT caught %s",
		(long long)run_id, trap->expected, trap->system);
	for (int i = 0; i < count && finding->outcome == TRAP_MISSED; i++) {
		if (gates[i].verdict != GATE_VERDICT_FAIL ||
			strcmp(gates[i].id, trap->expected) != 0)
			continue;
		finding->outcome = TRAP_CAUGHT;
		snprintf(finding->text, sizeof(finding->text),
			"run %lld: gate %s has caught %s: %.160s", (long long)run_id,
			trap->expected, trap->system, gates[i].evidence);
	}
	free(gates);
	return 0;
}

/* Values of one system's runs, in us. */
struct side {
	double values[RUNS_MAX];
	size_t count;
	bool is_emulated;
};

static int add_value(
	const struct trap *trap, struct store *store, int64_t run_id, struct side *side)
{
	struct query_figures *figures = NULL;
	int count = query_figures(store, run_id, &figures);
	size_t offset = statistics[find_statistic(trap->statistic)].offset;
	char name[96];

	for (int i = 0; i < count && side->count < RUNS_MAX; i++) {
		double counts = *(const double *)((const char *)&figures[i] + offset);

		rows_name_figures(name, sizeof(name), &figures[i]);
		if (strcmp(name, trap->row) != 0)
			continue;
		side->values[side->count++] =
			counts / figures[i].batch * 1e6 / figures[i].counter_hz;
		break;
	}
	free(figures);
	return count < 0 ? count : 0;
}

static int add_run(const struct trap *trap, struct store *store, int64_t run_id,
	struct side *trapped, struct side *clean)
{
	struct query_run *run = NULL;
	struct side *side = NULL;
	int rc = query_run(store, run_id, &run);

	if (rc == 0 && run->verdict == VERDICT_PASS)
		side = strcmp(run->system, trap->system) == 0  ? trapped
		       : strcmp(run->system, trap->clean) == 0 ? clean
							       : NULL;
	if (side) {
		side->is_emulated |= run->emulated;
		rc = add_value(trap, store, run_id, side);
	}
	free(run);
	return rc;
}

static int collect(const struct trap *trap, struct store *store, int64_t job_id,
	struct side *trapped, struct side *clean)
{
	int64_t *ids = NULL;
	int count = query_job_runs(store, job_id, &ids), rc = 0;

	for (int i = 0; rc == 0 && i < count; i++)
		rc = add_run(trap, store, ids[i], trapped, clean);
	free(ids);
	return count < 0 ? count : rc;
}

static double spread_of(const struct side *side)
{
	double least = side->values[0], most = side->values[0];

	for (size_t i = 1; i < side->count; i++) {
		least = side->values[i] < least ? side->values[i] : least;
		most = side->values[i] > most ? side->values[i] : most;
	}
	return most - least;
}

static void compare_sides(const struct trap *trap, struct side *trapped, struct side *clean,
	struct trap_finding *finding)
{
	double spread = spread_of(clean);
	double above = stats_median(trapped->values, trapped->count);
	double below = stats_median(clean->values, clean->count);
	double rise = above - below;
	bool is_caught = rise >= trap->least_us && rise <= trap->most_us && spread < trap->least_us;

	finding->outcome = is_caught ? TRAP_CAUGHT : TRAP_MISSED;
	snprintf(finding->text, sizeof(finding->text),
		"%s %s of %s %s caught: %.3f us, %s %.3f us, %+.3f us, %.3g to %.3g were planted%s",
		trap->row, trap->statistic, trap->system, is_caught ? "is" : "is NOT", above,
		trap->clean, below, rise, trap->least_us, trap->most_us,
		spread < trap->least_us ? "" : "; the clean runs differ by as much");
}

static void judge_sides(const struct trap *trap, bool is_icount, struct side *trapped,
	struct side *clean, struct trap_finding *finding)
{
	if (!trapped->count || !clean->count) {
		snprintf(finding->text, sizeof(finding->text),
			"%s is NOT caught: no valid run of %s in this job has the row %s",
			trap->system, trapped->count ? trap->clean : trap->system, trap->row);
	} else if (!is_icount && (trapped->is_emulated || clean->is_emulated)) {
		finding->outcome = TRAP_NOT_JUDGED;
		snprintf(finding->text, sizeof(finding->text),
			"%s is not judged: its microseconds mean nothing on an emulated board, unless "
			"in repeatable time (suite traps-icount)",
			trap->system);
	} else {
		compare_sides(trap, trapped, clean, finding);
	}
}

int trap_judge_rise(const struct trap *trap, struct store *store, int64_t job_id, bool is_icount,
	struct trap_finding *finding)
{
	struct side *sides = calloc(2, sizeof(*sides));
	int rc;

	*finding = (struct trap_finding){0};
	if (!sides)
		return -ENOMEM;
	rc = collect(trap, store, job_id, &sides[0], &sides[1]);
	if (rc == 0)
		judge_sides(trap, is_icount, &sides[0], &sides[1], finding);
	free(sides);
	return rc;
}
