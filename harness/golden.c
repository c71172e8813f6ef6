/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/golden.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/judge.h"
#include "harness/rows.h"

struct golden_run {
	struct query_run *run;
	struct query_window *windows;
	struct query_metric *metrics;
	int window_count, metric_count;
};

static int conclude(struct golden *golden, enum golden_verdict verdict, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int conclude(struct golden *golden, enum golden_verdict verdict, const char *format, ...)
{
	va_list args;

	golden->verdict = verdict;
	va_start(args, format);
	vsnprintf(golden->reason, sizeof(golden->reason), format, args);
	va_end(args);
	return 0;
}

static int load_run(struct store *store, int64_t id, struct golden_run *run)
{
	int rc = query_run(store, id, &run->run);

	if (rc == 0)
		rc = run->window_count = query_windows(store, id, &run->windows);
	if (rc >= 0)
		rc = run->metric_count = query_metrics(store, id, &run->metrics);
	return rc < 0 ? rc : 0;
}

static void free_run(struct golden_run *run)
{
	free(run->run);
	free(run->windows);
	free(run->metrics);
}

/* NaN where there is none. */
static double find_metric(
	const struct golden_run *run, int64_t window_id, const char *series, const char *name)
{
	for (int i = 0; i < run->metric_count; i++)
		if (run->metrics[i].window_id == window_id &&
			strcmp(run->metrics[i].series, series) == 0 &&
			strcmp(run->metrics[i].name, name) == 0)
			return run->metrics[i].value;
	return NAN;
}

/* In counts of one operation. */
static double find_median(const struct golden_run *run, int64_t window_id, const char *series)
{
	double batch = find_metric(run, window_id, series, "batch");

	return find_metric(run, window_id, series, "p50") / (batch > 0 ? batch : 1);
}

/* Both runs have the same plan, so a window is known by its number. */
static const struct query_window *find_window(const struct golden_run *run, int64_t number)
{
	for (int i = 0; i < run->window_count; i++)
		if (run->windows[i].number == number)
			return &run->windows[i];
	return NULL;
}

static bool is_alike(double first, double last)
{
	double change = fabs(last - first);

	return change <= JUDGE_CHANGE_COUNTS || change <= JUDGE_CHANGE_MIN * fabs(first);
}

/* One row of the first run; false and a reason when the last one has another median. */
static bool check_row(struct golden *golden, const struct golden_run *first,
	const struct golden_run *last, const struct query_window *window, const char *series)
{
	const struct query_window *again = find_window(last, window->number);
	double before = find_median(first, window->id, series);
	double after = again ? find_median(last, again->id, series) : NAN;
	char name[96];

	rows_name(name, sizeof(name), window->name, window->phase, series);
	if (isnan(after))
		conclude(golden, GOLDEN_VOID,
			"golden run %lld has no row %s, golden run %lld has it",
			(long long)last->run->id, name, (long long)first->run->id);
	else if (!is_alike(before, after))
		conclude(golden, GOLDEN_VOID,
			"golden runs %lld and %lld differ: p50 of %s was %.4g counts, then %.4g "
			"(%+.1f %%)",
			(long long)first->run->id, (long long)last->run->id, name, before, after,
			(after / before - 1) * 100);
	return golden->verdict != GOLDEN_VOID;
}

static int check_rows(
	struct golden *golden, const struct golden_run *first, const struct golden_run *last)
{
	unsigned rows = 0;

	for (int i = 0; i < first->metric_count; i++) {
		const struct query_metric *metric = &first->metrics[i];
		const struct query_window *window = NULL;

		for (int w = 0; w < first->window_count; w++)
			if (first->windows[w].id == metric->window_id)
				window = &first->windows[w];
		if (!window || strcmp(metric->name, "p50") != 0 ||
			!rows_is_measured(metric->series) ||
			rows_is_gate_bench((unsigned)window->bench))
			continue;
		rows++;
		if (!check_row(golden, first, last, window, metric->series))
			return 0;
	}
	if (rows == 0)
		return conclude(
			golden, GOLDEN_VOID, "the golden runs have no row to compare them by");
	return conclude(golden, GOLDEN_ALIKE, "golden runs %lld and %lld are alike in %u rows",
		(long long)first->run->id, (long long)last->run->id, rows);
}

static bool is_valid(const struct golden_run *run)
{
	return run->run && run->run->verdict == VERDICT_PASS;
}

static int judge(
	struct golden *golden, const struct golden_run *first, const struct golden_run *last)
{
	const struct golden_run *wrong = is_valid(first) ? last : first;

	if ((is_valid(first) && first->run->emulated) || (is_valid(last) && last->run->emulated))
		return conclude(golden, GOLDEN_NOT_JUDGED,
			"the golden runs are emulated and say nothing about the lab");
	if (is_valid(first) && is_valid(last))
		return check_rows(golden, first, last);
	if (!wrong->run)
		return conclude(golden, GOLDEN_VOID, "there was no %s golden run",
			wrong == first ? "first" : "last");
	return conclude(golden, GOLDEN_VOID, "golden run %lld is not valid: %s: %.200s",
		(long long)wrong->run->id, verdict_name(wrong->run->verdict), wrong->run->reason);
}

int golden_judge(struct golden *golden, struct store *store, int64_t first_id, int64_t last_id)
{
	struct golden_run first = {0}, last = {0};
	int rc = 0;

	*golden = (struct golden){0};
	if (first_id)
		rc = load_run(store, first_id, &first);
	if (rc == 0 && last_id)
		rc = load_run(store, last_id, &last);
	if (rc == 0)
		rc = judge(golden, &first, &last);
	free_run(&first);
	free_run(&last);
	return rc;
}
