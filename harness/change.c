/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/change.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/rows.h"
#include "harness/suite.h"

#define US 1e6

/* A statistic of a row, and where it is among the figures. */
static const struct statistic {
	const char *name;
	size_t offset;
	bool is_always; /* judged for every row, primary or not */
} statistics[] = {
	{"p50", offsetof(struct query_figures, p50), true},
	{"p90", offsetof(struct query_figures, p90), false},
	{"p95", offsetof(struct query_figures, p95), false},
	{"p99", offsetof(struct query_figures, p99), true},
	{"p99.9", offsetof(struct query_figures, p999), false},
};

#define STATISTICS (sizeof(statistics) / sizeof(statistics[0]))

struct side {
	struct query_run **runs; /* valid ones */
	struct query_figures **figures;
	int *figure_counts;
	size_t count;
};

static int change_fail(struct change *change, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int change_fail(struct change *change, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(change->error, sizeof(change->error), format, args);
	va_end(args);
	return error;
}

/* ------------------------------------------------------------------- load */

static void side_free(struct side *side)
{
	for (size_t i = 0; i < side->count; i++) {
		free(side->runs[i]);
		free(side->figures[i]);
	}
	free(side->runs);
	free(side->figures);
	free(side->figure_counts);
}

static int side_load(struct change *change, struct store *store, struct side *side,
	const int64_t *ids, size_t count)
{
	*side = (struct side){
		.runs = calloc(count + 1, sizeof(struct query_run *)),
		.figures = calloc(count + 1, sizeof(struct query_figures *)),
		.figure_counts = calloc(count + 1, sizeof(int)),
	};
	if (!side->runs || !side->figures || !side->figure_counts)
		return change_fail(change, -ENOMEM, "out of memory");
	for (size_t i = 0; i < count; i++) {
		struct query_run *run = NULL;
		struct query_figures *figures = NULL;
		int rc = query_run(store, ids[i], &run);

		if (rc == 0 && run->verdict == VERDICT_PASS)
			rc = query_figures(store, ids[i], &figures);
		if (rc < 0) {
			free(run);
			return change_fail(change, rc, "%s", store_error(store));
		}
		if (run->verdict != VERDICT_PASS) {
			free(run);
			continue;
		}
		side->runs[side->count] = run;
		side->figures[side->count] = figures;
		side->figure_counts[side->count++] = rc;
	}
	return 0;
}

/* Another board, or other windows, is another question. */
static int check_sides(struct change *change, const struct side *before, const struct side *after)
{
	const struct query_run *first;

	if (before->count == 0)
		return change_fail(
			change, -EINVAL, "baseline %s has no valid run", change->baseline);
	if (after->count == 0)
		return change_fail(change, -EINVAL,
			"none of the runs is valid: there is nothing to hold against baseline %s",
			change->baseline);
	first = before->runs[0];
	for (size_t i = 0; i < before->count + after->count; i++) {
		const struct query_run *run =
			i < before->count ? before->runs[i] : after->runs[i - before->count];

		if (strcmp(run->board, first->board) != 0 || strcmp(run->suite, first->suite) != 0)
			return change_fail(change, -EINVAL,
				"run %lld is of suite %s on board %s, run %lld of baseline %s of "
				"suite %s on board %s: they do not answer the same question",
				(long long)run->id, run->suite, run->board, (long long)first->id,
				change->baseline, first->suite, first->board);
	}
	return 0;
}

static bool has_system(char *const *systems, size_t count, const char *system)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(systems[i], system) == 0)
			return true;
	return false;
}

/* The systems of a side, each once, without those of `known`. */
static int list_systems(const struct side *side, char *const *known, size_t known_count,
	char ***systems, size_t *count)
{
	*systems = calloc(side->count + 1, sizeof(**systems));
	for (size_t i = 0; *systems && i < side->count; i++) {
		const char *system = side->runs[i]->system;

		if (has_system(known, known_count, system) || has_system(*systems, *count, system))
			continue;
		(*systems)[*count] = strdup(system);
		if (!(*systems)[*count])
			return -ENOMEM;
		++*count;
	}
	return *systems ? 0 : -ENOMEM;
}

/* A run of some systems only is held against those. */
static int find_systems(struct change *change, const struct side *sides)
{
	int rc = list_systems(&sides[1], NULL, 0, &change->systems, &change->system_count);

	if (rc == 0)
		rc = list_systems(&sides[0], change->systems, change->system_count,
			&change->not_judged, &change->not_judged_count);
	return rc == 0 ? 0 : change_fail(change, rc, "out of memory");
}

/* ------------------------------------------------------------------- rows */

static double figure_of(const struct query_figures *figures, const struct statistic *statistic)
{
	double value;

	memcpy(&value, (const char *)figures + statistic->offset, sizeof(value));
	return value * US / figures->counter_hz / figures->batch;
}

static const struct query_figures *find_same(
	const struct side *side, size_t run, const struct query_figures *like)
{
	for (int i = 0; i < side->figure_counts[run]; i++) {
		const struct query_figures *figures = &side->figures[run][i];

		if (rows_is_same(figures, like))
			return figures;
	}
	return NULL;
}

static size_t collect(const struct side *side, const char *system, const struct query_figures *like,
	const struct statistic *statistic, double *values)
{
	size_t count = 0;

	for (size_t i = 0; i < side->count; i++) {
		const struct query_figures *figures = find_same(side, i, like);
		double value = figures ? figure_of(figures, statistic) : NAN;

		if (strcmp(side->runs[i]->system, system) == 0 && !isnan(value))
			values[count++] = value;
	}
	return count;
}

/* The row that a benchmark is about, not what its caller paid or a part of it took. */
static bool is_primary(const struct suite *suite, const struct query_figures *figures,
	const struct statistic *statistic)
{
	if (strncmp(figures->series, "caller", 6) == 0 ||
		strncmp(figures->series, "stage.", 6) == 0)
		return false;
	for (size_t i = 0; i < suite->primary_count; i++)
		if (suite->primary[i].bench->id == figures->bench &&
			strcmp(suite->primary[i].statistic, statistic->name) == 0)
			return true;
	return false;
}

/* sides: before and after. */
static int add_row(struct change *change, const struct side *sides, const char *system,
	const struct query_figures *like, const struct statistic *statistic, bool is_row_primary)
{
	struct change_row *row;
	struct judge_row *judged;
	char name[96];

	rows_name_figures(name, sizeof(name), like);
	row = realloc(change->rows, (change->row_count + 1) * sizeof(*row));
	if (row)
		change->rows = row;
	judged = realloc(change->judged, (change->row_count + 1) * sizeof(*judged));
	if (judged)
		change->judged = judged;
	if (!row || !judged)
		return change_fail(change, -ENOMEM, "out of memory");
	row += change->row_count;
	judged += change->row_count;
	*row = (struct change_row){.system = system,
		.values = calloc(sides[0].count + sides[1].count, sizeof(*row->values))};
	if (!row->values)
		return change_fail(change, -ENOMEM, "out of memory");
	snprintf(row->name, sizeof(row->name), "%s %s", name, statistic->name);
	*judged = (struct judge_row){.before = row->values,
		.resolution = US / like->counter_hz / like->batch,
		.is_primary = is_row_primary};
	judged->before_count = collect(&sides[0], system, like, statistic, row->values);
	judged->after = row->values + judged->before_count;
	judged->after_count =
		collect(&sides[1], system, like, statistic, row->values + judged->before_count);
	change->row_count++;
	return 0;
}

/* The first run of a system; count if there is none. */
static size_t find_first(const struct side *side, const char *system)
{
	size_t run = 0;

	while (run < side->count && strcmp(side->runs[run]->system, system) != 0)
		run++;
	return run;
}

/* The rows of one run, without those that another has too. */
static int add_rows(struct change *change, const struct suite *suite, const struct side *sides,
	const struct side *of, const struct side *without, const char *system)
{
	size_t run = find_first(of, system);
	size_t other = without ? find_first(without, system) : 0;

	for (int i = 0; run < of->count && i < of->figure_counts[run]; i++) {
		const struct query_figures *like = &of->figures[run][i];

		if (!rows_is_compared((unsigned)like->bench, like->series))
			continue;
		if (without && other < without->count && find_same(without, other, like))
			continue;
		for (size_t s = 0; s < STATISTICS; s++) {
			bool is_row_primary = is_primary(suite, like, &statistics[s]);
			int rc = 0;

			if (is_row_primary || statistics[s].is_always)
				rc = add_row(change, sides, system, like, &statistics[s],
					is_row_primary);
			if (rc != 0)
				return rc;
		}
	}
	return 0;
}

/* Each system is a family of its own: its image is what changed. */
static int judge_system(struct change *change, size_t first)
{
	struct judge_row *rows = change->judged + first;
	size_t count = change->row_count - first;
	int rc = judge_rows(rows, count);

	if (rc == -EINVAL)
		return change_fail(change, rc,
			"the suite's primary rows are more than %d with their phases, or a side "
			"has more than %d runs",
			JUDGE_PRIMARY_MAX, INFERENCE_RUNS_MAX);
	if (rc == 0)
		rc = judge_find_bounds(rows, count);
	if (rc != 0)
		return change_fail(change, rc, "out of memory");
	for (size_t i = 0; i < count; i++) {
		change->regressions += rows[i].judgement == JUDGEMENT_REGRESSION;
		change->suspects += rows[i].judgement == JUDGEMENT_SUSPECT;
		change->missing += rows[i].after_count == 0;
	}
	return 0;
}

static int judge_sides(struct change *change, struct store *store, const struct side *sides)
{
	const struct query_run *last = sides[1].runs[sides[1].count - 1];
	struct query_job *job = NULL;
	struct suite *suite = NULL;
	int rc = query_job(store, last->job_id, &job);

	if (rc != 0)
		return change_fail(change, rc, "%s", store_error(store));
	rc = suite_parse(&suite, last->suite, job->suite_json, strlen(job->suite_json));
	if (rc != 0)
		rc = change_fail(change, rc, "the stored suite of job %lld: %s", (long long)job->id,
			suite_error(suite));
	for (size_t i = 0; rc == 0 && i < change->system_count; i++) {
		const char *system = change->systems[i];
		size_t first = change->row_count;

		rc = add_rows(change, suite, sides, &sides[1], NULL, system);
		/* What is no longer measured is not passed over. */
		if (rc == 0)
			rc = add_rows(change, suite, sides, &sides[0], &sides[1], system);
		if (rc == 0)
			rc = judge_system(change, first);
	}
	suite_close(suite);
	free(job);
	return rc;
}

int change_init(struct change *change, struct store *store, const char *baseline,
	const int64_t *before, size_t before_count, const int64_t *after, size_t after_count)
{
	struct side sides[2] = {0};
	int rc;

	*change = (struct change){0};
	snprintf(change->baseline, sizeof(change->baseline), "%s", baseline);
	rc = side_load(change, store, &sides[0], before, before_count);
	if (rc == 0)
		rc = side_load(change, store, &sides[1], after, after_count);
	if (rc == 0)
		rc = check_sides(change, &sides[0], &sides[1]);
	if (rc == 0)
		rc = find_systems(change, sides);
	if (rc == 0)
		rc = judge_sides(change, store, sides);
	change->before_runs = sides[0].count;
	change->after_runs = sides[1].count;
	side_free(&sides[0]);
	side_free(&sides[1]);
	return rc;
}

void change_fini(struct change *change)
{
	for (size_t i = 0; i < change->row_count; i++)
		free(change->rows[i].values);
	for (size_t i = 0; i < change->system_count; i++)
		free(change->systems[i]);
	for (size_t i = 0; i < change->not_judged_count; i++)
		free(change->not_judged[i]);
	free(change->systems);
	free(change->not_judged);
	free(change->rows);
	free(change->judged);
	*change = (struct change){0};
}
