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
	struct query_figures *figures;
	int figure_count;
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
		rc = run->figure_count = query_figures(store, id, &run->figures);
	return rc < 0 ? rc : 0;
}

static void free_run(struct golden_run *run)
{
	free(run->run);
	free(run->figures);
}

/* Both runs have the same plan, so a window is known by its number. */
static const struct query_figures *find_again(
	const struct golden_run *run, const struct query_figures *like)
{
	for (int i = 0; i < run->figure_count; i++)
		if (run->figures[i].number == like->number &&
			strcmp(run->figures[i].series, like->series) == 0)
			return &run->figures[i];
	return NULL;
}

static bool is_alike(double first, double last)
{
	double change = fabs(last - first);

	return change <= JUDGE_CHANGE_COUNTS || change <= JUDGE_CHANGE_MIN * fabs(first);
}

/* One row of the first run; false and a reason when the last one has another median. */
static bool check_row(struct golden *golden, const struct golden_run *first,
	const struct golden_run *last, const struct query_figures *row)
{
	const struct query_figures *again = find_again(last, row);
	double before = row->p50 / row->batch;
	double after = again ? again->p50 / again->batch : NAN;
	char name[96];

	rows_name_figures(name, sizeof(name), row);
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

	for (int i = 0; i < first->figure_count; i++) {
		const struct query_figures *row = &first->figures[i];

		if (!rows_is_compared((unsigned)row->bench, row->series))
			continue;
		rows++;
		if (!check_row(golden, first, last, row))
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
