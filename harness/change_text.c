/* SPDX-License-Identifier: Apache-2.0 */
/* Runs against a baseline as a person reads it, and as JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/change.h"
#include "harness/table.h"

static double percent(double ratio)
{
	return (ratio - 1) * 100;
}

static void add_side(struct table *table, double median_us, size_t runs)
{
	if (runs == 0)
		table_add(table, "-");
	else
		table_add(table, "%.3f (%zu)", median_us, runs);
}

static void add_verdict(struct table *table, const struct judge_row *row)
{
	if (row->after_count == 0)
		table_add(table, "MISSING");
	else if (row->before_count == 0)
		table_add(table, "new");
	else if (row->judgement == JUDGEMENT_REGRESSION)
		table_add(table, "REGRESSION");
	else if (row->judgement == JUDGEMENT_SUSPECT)
		table_add(table, "suspect: repeat");
	else if (row->judgement == JUDGEMENT_NO_CHANGE && isinf(row->detectable))
		table_add(table, "no change shown (so few runs could have shown none)");
	else if (row->judgement == JUDGEMENT_NO_CHANGE)
		table_add(table, "no change shown (could have seen >= %.0f %%)",
			ceil(percent(row->detectable)));
	else if (row->judgement == JUDGEMENT_TOO_FEW)
		table_add(table, "too few runs: %d a side are needed", INFERENCE_RUNS_MIN);
	else
		table_add(table, "%s", judge_name(row->judgement));
}

static void add_row(
	struct table *table, const struct change_row *row, const struct judge_row *judged)
{
	table_add(table, "%s%s", row->name, judged->is_primary ? " *" : "");
	table_add(table, "%s", row->system);
	add_side(table, judged->median_before, judged->before_count);
	add_side(table, judged->median_after, judged->after_count);
	if (isnan(judged->change.ratio_low)) {
		table_add(table, "-");
		table_add(table, "-");
	} else {
		table_add(table, "%+.1f %% (%+.1f .. %+.1f)", percent(judged->change.ratio),
			percent(judged->change.ratio_low), percent(judged->change.ratio_high));
		table_add(table, "%.4f", judged->p_adjusted);
	}
	add_verdict(table, judged);
}

char *change_to_text(const struct change *change)
{
	struct table table;
	char *lines, *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	table_init(&table, "llrrrrl");
	table_add(&table, "row");
	table_add(&table, "system");
	table_add(&table, "before us (runs)");
	table_add(&table, "after us (runs)");
	table_add(&table, "change (95 %% interval)");
	table_add(&table, "p adjusted");
	table_add(&table, "verdict");
	for (size_t i = 0; i < change->row_count; i++)
		add_row(&table, &change->rows[i], &change->judged[i]);
	lines = table_to_text(&table);
	fprintf(out, "\nagainst baseline %s: %zu valid runs before, %zu after\n\n%s",
		change->baseline, change->before_runs, change->after_runs, lines ? lines : "");
	fprintf(out,
		"\n* primary rows of the suite: only they can be a regression.\n"
		"%zu regressions, %zu suspects, %zu rows missing\n",
		change->regressions, change->suspects, change->missing);
	for (size_t i = 0; i < change->not_judged_count; i++)
		fprintf(out, "not judged, for no run here is of it: %s\n", change->not_judged[i]);
	table_fini(&table);
	if (fclose(out) != 0 || !lines) {
		free(text);
		text = NULL;
	}
	free(lines);
	return text;
}

/* JSON has neither NaN nor infinity: null. */
static void add_number(cJSON *json, const char *key, double value)
{
	if (isfinite(value))
		cJSON_AddNumberToObject(json, key, value);
	else
		cJSON_AddNullToObject(json, key);
}

cJSON *change_to_json(const struct change *change)
{
	cJSON *json = cJSON_CreateObject(), *rows = cJSON_AddArrayToObject(json, "rows");

	cJSON_AddStringToObject(json, "baseline", change->baseline);
	cJSON_AddNumberToObject(json, "before_runs", (double)change->before_runs);
	cJSON_AddNumberToObject(json, "after_runs", (double)change->after_runs);
	cJSON_AddNumberToObject(json, "regressions", (double)change->regressions);
	cJSON_AddNumberToObject(json, "suspects", (double)change->suspects);
	cJSON_AddNumberToObject(json, "missing", (double)change->missing);
	cJSON_AddItemToObject(json, "not_judged",
		cJSON_CreateStringArray(
			(const char *const *)change->not_judged, (int)change->not_judged_count));
	for (size_t i = 0; i < change->row_count; i++) {
		const struct judge_row *judged = &change->judged[i];
		cJSON *row = cJSON_CreateObject();

		cJSON_AddItemToArray(rows, row);
		cJSON_AddStringToObject(row, "row", change->rows[i].name);
		cJSON_AddStringToObject(row, "system", change->rows[i].system);
		cJSON_AddBoolToObject(row, "primary", judged->is_primary);
		cJSON_AddStringToObject(row, "verdict",
			judged->after_count ? judge_name(judged->judgement) : "missing");
		cJSON_AddNumberToObject(row, "before_runs", (double)judged->before_count);
		cJSON_AddNumberToObject(row, "after_runs", (double)judged->after_count);
		add_number(row, "before_us", judged->median_before);
		add_number(row, "after_us", judged->median_after);
		add_number(row, "ratio", judged->change.ratio);
		add_number(row, "ratio_low", judged->change.ratio_low);
		add_number(row, "ratio_high", judged->change.ratio_high);
		add_number(row, "p", judged->change.p);
		add_number(row, "p_adjusted", judged->p_adjusted);
		add_number(row, "detectable_ratio", judged->detectable);
	}
	return json;
}
