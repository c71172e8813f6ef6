/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/report_runs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/rows.h"
#include "harness/sheet.h"
#include "harness/show.h"
#include "harness/stats.h"

#define FEW 10 /* samples above a percentile that give it a place */

/* ------------------------------------------------------------------- rows */

static const char *keep_us(
	struct report *report, const struct compare_system *system, double counts, double floor)
{
	bool is_below = counts <= floor;
	double us = (is_below ? floor : counts) * 1e6 / system->counter_hz;

	if (isnan(counts))
		return NULL;
	return report_keep(report, "%s%.3f", is_below ? "<= " : "", us);
}

/* A percentile with fewer than ten samples above it has its place by chance. */
static const char *keep_quantile(struct report *report, const struct compare_system *system,
	const struct compare_cell *cell, double counts, double p)
{
	if (cell->n * (1 - p) < FEW - 1e-9)
		return "few";
	return keep_us(report, system, counts, cell->floor);
}

static const char *keep_gates(struct report *report, const struct compare_system *system)
{
	if (system->gates_unknown)
		return report_keep(report, "%u pass, %u n/a, %u unknown", system->gates_passed,
			system->gates_not_applicable, system->gates_unknown);
	return report_keep(
		report, "%u pass, %u n/a", system->gates_passed, system->gates_not_applicable);
}

static void add_cell(struct report *report, const struct report_runs *runs,
	const struct compare_row *row, size_t s)
{
	const struct compare_system *system = &runs->compare->systems[s];
	const struct compare_cell *cell = &row->cells[s];
	struct report_row added = {
		.origin = REPORT_MEASURED,
		.set = runs->set,
		.row = report_keep(report, "%s", row->name),
		.system = report_keep(report, "%s", system->name),
		.protection = report_keep(report, "%s", system->protection),
		.mode = report_keep(report, "%s", system->mode),
		.load = "",
		.unit = "us",
	};

	if (cell->boots == 0) {
		added.gates = cell->unsupported
				      ? report_keep(report, "unsupported: %s", cell->unsupported)
			      : system->valid ? "not measured"
					      : "no valid run";
		report_add_row(report, &added);
		return;
	}
	added.gates = keep_gates(report, system);
	if (row->unit) {
		added.unit = row->unit;
		added.values[REPORT_N] = report_keep(report, "%.0f", cell->n);
		added.values[REPORT_BOOTS] = report_keep(report, "%u", cell->boots);
		added.values[REPORT_FLOOR] = "none";
		added.values[REPORT_P50] = report_keep(report, "%.0f %s", cell->p50, row->unit);
		report_add_row(report, &added);
		return;
	}
	added.values[REPORT_N] =
		cell->batch > 1 ? report_keep(report, "%.0f, means of %.0f", cell->n, cell->batch)
				: report_keep(report, "%.0f", cell->n);
	added.values[REPORT_BOOTS] = report_keep(report, "%u", cell->boots);
	added.values[REPORT_FLOOR] = keep_us(report, system, cell->floor, -INFINITY);
	added.values[REPORT_MEAN] = keep_us(report, system, cell->mean, -INFINITY);
	added.values[REPORT_SD] = keep_us(report, system, cell->sd, -INFINITY);
	added.values[REPORT_P50] = keep_us(report, system, cell->p50, cell->floor);
	added.values[REPORT_P95] = keep_quantile(report, system, cell, cell->p95, 0.95);
	added.values[REPORT_P99] = keep_quantile(report, system, cell, cell->p99, 0.99);
	added.values[REPORT_P999] = keep_quantile(report, system, cell, cell->p999, 0.999);
	added.values[REPORT_MAX] = keep_us(report, system, cell->max, cell->floor);
	if (rows_is_lateness(row->like->series)) {
		added.values[REPORT_BRACKET] = keep_us(report, system, cell->bracket, -INFINITY);
		added.values[REPORT_MISSED] = report_keep(report, "%.0f", cell->missed);
	}
	report_add_row(report, &added);
}

static void warn_of_brackets(struct report *report, const struct compare *compare)
{
	for (size_t r = 0; r < compare->row_count; r++) {
		const struct compare_row *row = &compare->rows[r];

		for (size_t s = 0; rows_is_lateness(row->like->series) && s < compare->system_count;
			s++) {
			const struct compare_system *system = &compare->systems[s];
			const struct compare_cell *cell = &row->cells[s];

			if (cell->boots && cell->p50 < cell->bracket)
				report_warn_of_bracket(report, system->name, row->name,
					keep_us(report, system, cell->p50, -INFINITY),
					keep_us(report, system, cell->bracket, -INFINITY), "us");
		}
	}
}

/* Times of the counter, or what has a unit of its own. */
static void add_rows_of(struct report *report, const struct report_runs *runs, bool has_unit)
{
	const struct compare *compare = runs->compare;

	for (size_t r = 0; r < compare->row_count; r++)
		for (size_t s = 0;
			(compare->rows[r].unit != NULL) == has_unit && s < compare->system_count;
			s++)
			add_cell(report, runs, &compare->rows[r], s);
}

static void add_rows(struct report *report, const struct report_runs *runs)
{
	const struct compare *compare = runs->compare;
	size_t first = report->row_count;

	report_add(report, REPORT_HEADING, "Measured rows");
	if (compare->row_count == 0) {
		report_add(report, REPORT_WARNING, "No run is valid, so there are no figures.");
		return;
	}
	add_rows_of(report, runs, false);
	report_tabulate(report, first, "measured");
	warn_of_brackets(report, compare);
	first = report->row_count;
	add_rows_of(report, runs, true);
	report_tabulate(report, first, "measured, no times of the counter");
	report_add(report, REPORT_TEXT,
		"Percentiles are nearest rank, in each run; between boots the median of each is "
		"shown, of maxima the highest: the highest observed in n samples, and no bound. "
		"\"few\": fewer than ten samples lie above. \"<=\": at or below the floor of the "
		"instrument, which is printed instead. \"missed\": a release at least one period "
		"late; none of n means a rate below 3/n.");
}

/* ------------------------------------------------------------------ sheet */

static void add_sheet(struct report *report, const struct compare *compare)
{
	struct report_block *block =
		report_add_table(report, "Six comparisons that decide", "", NULL);
	char align[TABLE_COLUMNS_MAX + 1];

	if (!block)
		return;
	sheet_fill(&block->table, align, compare);
	block->table.align = report_keep(report, "%s", align);
	block->note = "p50 and p99 of the row that says most: under load before idle, arbitrary "
		      "phase before aligned. All rows are below.";
}

/* --------------------------------------------------------------- verdicts */

static double percent(double ratio)
{
	return (ratio - 1) * 100;
}

static const char *say_verdict(struct report *report, const struct judge_row *row)
{
	if (row->after_count == 0)
		return "MISSING";
	if (row->before_count == 0)
		return "new";
	if (row->judgement == JUDGEMENT_NO_CHANGE && isfinite(row->detectable))
		return report_keep(report, "no change shown (could have seen >= %.0f %%)",
			ceil(percent(row->detectable)));
	if (row->judgement == JUDGEMENT_NO_CHANGE)
		return "no change shown (so few runs could have shown none)";
	if (row->judgement == JUDGEMENT_TOO_FEW)
		return report_keep(
			report, "too few runs: %d a side are needed", INFERENCE_RUNS_MIN);
	return judge_name(row->judgement);
}

static void add_change(struct report *report, const struct change *change)
{
	static const char *const heading[] = {"row", "system", "before us", "runs", "after us",
		"runs", "change", "95 % interval", "p adjusted", "verdict"};
	struct report_block *block;

	report_add(report, REPORT_HEADING, "Against baseline %s", change->baseline);
	block = report_add_table(report,
		report_keep(report, "%zu regressions, %zu suspects, %zu rows missing",
			change->regressions, change->suspects, change->missing),
		"llrrrrrrrl", heading);
	for (size_t i = 0; block && i < change->row_count; i++) {
		const struct judge_row *row = &change->judged[i];
		struct table *table = &block->table;

		table_add(table, "%s%s", change->rows[i].name, row->is_primary ? " *" : "");
		table_add(table, "%s", change->rows[i].system);
		if (row->before_count)
			table_add(table, "%.3f", row->median_before);
		else
			table_add(table, "-");
		table_add(table, "%zu", row->before_count);
		if (row->after_count)
			table_add(table, "%.3f", row->median_after);
		else
			table_add(table, "-");
		table_add(table, "%zu", row->after_count);
		if (isnan(row->change.ratio_low)) {
			for (int c = 0; c < 3; c++)
				table_add(table, "-");
		} else {
			table_add(table, "%+.1f %%", percent(row->change.ratio));
			table_add(table, "%+.1f .. %+.1f %%", percent(row->change.ratio_low),
				percent(row->change.ratio_high));
			table_add(table, "%.4f", row->p_adjusted);
		}
		table_add(table, "%s", say_verdict(report, row));
	}
	if (block)
		block->note =
			"* primary rows of the suite: only they can be a regression. A suspect "
			"is to be repeated, 5 runs against 5.";
}

static void add_exact(struct report *report, const struct exact *exact)
{
	static const char *const heading[] = {"row", "run", "before", "after", "verdict"};
	struct report_block *block;

	report_add(report, REPORT_HEADING, "EXACT rule against run %lld",
		(long long)exact->baseline_id);
	block = report_add_table(
		report, "median of retired instructions after warm-up", "lrrrl", heading);
	for (size_t i = 0; block && i < exact->row_count; i++) {
		const struct exact_row *row = &exact->rows[i];

		table_add(&block->table, "%s", row->name);
		table_add(&block->table, "%lld", (long long)row->run_id);
		table_add(&block->table, "%.0f", row->before);
		if (isnan(row->after))
			table_add(&block->table, "-");
		else
			table_add(&block->table, "%.0f", row->after);
		table_add(&block->table, "%s",
			isnan(row->after)	    ? "MISSING"
			: row->after == row->before ? "equal"
						    : "REGRESSION");
	}
}

/* ------------------------------------------------------------------- runs */

static void add_runs(struct report *report, const struct compare *compare)
{
	static const char *const heading[] = {
		"run", "job", "started", "board", "system", "boot", "image", "verdict", "reason"};
	struct report_block *block;
	char text[32];

	report_add(report, REPORT_HEADING, "Runs");
	block = report_add_table(report, "every run of this report", "rrlllrlll", heading);
	for (size_t i = 0; block && i < compare->run_count; i++) {
		const struct query_run *run = compare->runs[i];
		struct table *table = &block->table;

		table_add(table, "%lld", (long long)run->id);
		table_add(table, "%lld", (long long)run->job_id);
		table_add(table, "%s", show_utc(run->started_ms, text));
		table_add(table, "%s", run->board);
		table_add(table, "%s %s", run->system, run->image_version);
		table_add(table, "%lld", (long long)run->boot);
		table_add(table, "%.12s", run->image_sha256);
		table_add(table, "%s", verdict_name(run->verdict));
		table_add(table, "%s", run->reason);
	}
}

/* ---------------------------------------------------------------- summary */

void report_add_summary(struct report *report, const struct compare *compare,
	const struct against *against, const char *error)
{
	size_t valid = 0;

	for (size_t i = 0; compare && i < compare->run_count; i++)
		valid += compare->runs[i]->verdict == VERDICT_PASS;
	report_add(report, REPORT_TEXT, "%zu of %zu runs are valid.%s%s", valid,
		compare ? compare->run_count : (size_t)0,
		against && against->change.regressions ? " There are regressions."
		: against && against->change.suspects  ? " There are suspects: repeat them."
						       : "",
		against && against->change.missing ? " Rows are missing." : "");
	if (error[0])
		report_add(report, REPORT_WARNING, "The job ended early: %s", error);
	if (against && against->error[0])
		report_add(report, REPORT_WARNING, "%s", against->error);
	if (against && against->is_exact && against->exact.row_count)
		add_exact(report, &against->exact);
	else if (against && against->change.baseline[0])
		add_change(report, &against->change);
	if (!compare)
		return;
	if (compare->row_count && compare->system_count > 1) {
		report_add(report, REPORT_HEADING, "Decision sheet");
		add_sheet(report, compare);
		report_add_context(report, compare);
	}
	add_runs(report, compare);
}

int report_add_runs(struct report *report, const struct report_runs *runs)
{
	const struct compare *compare = runs->compare;
	int rc;

	if (compare->run_count)
		report_add(report, REPORT_TEXT, "Board %s (%s), suite %s, %zu run%s.",
			compare->runs[0]->board, compare->runs[0]->model, compare->runs[0]->suite,
			compare->run_count, compare->run_count == 1 ? "" : "s");
	report_add(report, REPORT_HEADING, "Decision sheet");
	add_sheet(report, compare);
	report_add_context(report, compare);
	if (runs->against && runs->against->is_exact)
		add_exact(report, &runs->against->exact);
	else if (runs->against && runs->against->change.baseline[0])
		add_change(report, &runs->against->change);
	add_rows(report, runs);
	rc = report_add_figures(report, runs);
	if (rc < 0)
		return rc;
	add_runs(report, compare);
	report_add_gates(report, compare);
	rc = report_add_series(report, runs);
	return rc < 0 ? rc : report_add_consoles(report, runs);
}
