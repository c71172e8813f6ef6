/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison as a person reads it, and as JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/compare.h"
#include "harness/sheet.h"

#define BOOTS_FOR_VERDICT 5

static bool has_emulated(const struct compare *compare)
{
	for (size_t i = 0; i < compare->system_count; i++)
		if (compare->systems[i].valid && compare->systems[i].is_emulated)
			return true;
	return false;
}

static unsigned fewest_boots(const struct compare *compare)
{
	unsigned fewest = 0;

	for (size_t i = 0; i < compare->system_count; i++)
		if (i == 0 || compare->systems[i].valid < fewest)
			fewest = compare->systems[i].valid;
	return fewest;
}

/* Three digits behind the point, never a nought for something that is there. */
static void add_us_cell(struct table *table, const char *before, double us)
{
	if (us > 0 && us < 0.0005)
		table_add(table, "< 0.001");
	else
		table_add(table, "%s%.3f", before, us);
}

/* Below its own floor a value is only known to be below it. */
static void add_value(struct table *table, const struct compare_cell *cell,
	const struct compare_system *system, double counts)
{
	double us = counts * 1e6 / system->counter_hz;

	if (isnan(counts))
		table_add(table, "-");
	else if (counts <= cell->floor)
		add_us_cell(table, "<= ", cell->floor * 1e6 / system->counter_hz);
	else
		add_us_cell(table, "", us);
}

static void add_gates(struct table *table, const struct compare_system *system)
{
	if (system->valid == 0)
		table_add(table, "no valid run");
	else if (system->gates_unknown)
		table_add(table, "%u pass, %u n/a, %u unknown", system->gates_passed,
			system->gates_not_applicable, system->gates_unknown);
	else
		table_add(table, "%u pass, %u n/a", system->gates_passed,
			system->gates_not_applicable);
}

static void add_line(
	struct table *table, const struct compare *compare, const struct compare_row *row, size_t s)
{
	const struct compare_system *system = &compare->systems[s];
	const struct compare_cell *cell = &row->cells[s];

	table_add(table, "%s", s == 0 ? row->name : "");
	table_add(table, "%s", system->name);
	table_add(table, "%s", system->protection);
	if (cell->boots == 0) {
		for (int i = 0; i < 7; i++)
			table_add(table, "-");
		if (cell->unsupported)
			table_add(table, "unsupported: %s", cell->unsupported);
		else
			table_add(table, "%s", system->valid ? "not measured" : "no valid run");
		return;
	}
	if (row->unit)
		table_add(table, "-");
	else
		add_us_cell(table, "", cell->floor * 1e6 / system->counter_hz);
	if (cell->batch > 1)
		table_add(table, "%.0f, means of %.0f", cell->n, cell->batch);
	else
		table_add(table, "%.0f", cell->n);
	table_add(table, "%u", cell->boots);
	if (row->unit) {
		table_add(table, "%.0f %s", cell->p50, row->unit);
		table_add(table, "-");
		table_add(table, "%.0f %s", cell->max, row->unit);
	} else {
		add_value(table, cell, system, cell->p50);
		add_value(table, cell, system, cell->p99);
		add_value(table, cell, system, cell->max);
	}
	table_add(table, "%.0f", cell->missed);
	add_gates(table, system);
}

static void print_table(FILE *out, const struct compare *compare)
{
	static const char *const heading[] = {"row", "system", "protection", "floor us", "n",
		"boots", "p50 us", "p99 us", "max us", "missed", "gates"};
	struct table table;
	char *text;

	table_init(&table, "lllrrrrrrrl");
	for (size_t i = 0; i < sizeof(heading) / sizeof(heading[0]); i++)
		table_add(&table, "%s", heading[i]);
	for (size_t r = 0; r < compare->row_count; r++)
		for (size_t s = 0; s < compare->system_count; s++)
			add_line(&table, compare, &compare->rows[r], s);
	text = table_to_text(&table);
	fputs(text ? text : "out of memory\n", out);
	free(text);
	table_fini(&table);
}

/* What decides comes first; one system alone decides nothing. */
static void print_sheet(FILE *out, const struct compare *compare)
{
	char align[TABLE_COLUMNS_MAX + 1];
	struct table table;
	char *text;

	if (compare->system_count < 2)
		return;
	sheet_fill(&table, align, compare);
	text = table_to_text(&table);
	fprintf(out, "%s\n", text ? text : "out of memory\n");
	free(text);
	table_fini(&table);
}

static void print_notes(FILE *out, const struct compare *compare)
{
	bool named = false;

	if (compare->row_count)
		fputs("\nmax is the highest observed in these samples; missed are releases at least one "
		      "period late.\n",
			out);
	for (size_t i = 0; i < compare->system_count; i++)
		if (!isnan(compare->systems[i].clock_ppm))
			fprintf(out, "clock of %s against its counter: %+.1f ppm\n",
				compare->systems[i].name, compare->systems[i].clock_ppm);
	for (size_t i = 0; i < compare->run_count; i++) {
		const struct query_run *run = compare->runs[i];

		if (run->verdict == VERDICT_PASS)
			continue;
		if (!named)
			fputs("\nnot compared:\n", out);
		named = true;
		fprintf(out, "  run %lld, %s: %s: %s\n", (long long)run->id, run->system,
			verdict_name(run->verdict), run->reason);
	}
	if (fewest_boots(compare) < BOOTS_FOR_VERDICT)
		fprintf(out,
			"\n%u valid boot%s of a system give%s no verdict: at least %d of each are "
			"needed.\n",
			fewest_boots(compare), fewest_boots(compare) == 1 ? "" : "s",
			fewest_boots(compare) == 1 ? "s" : "", BOOTS_FOR_VERDICT);
	if (has_emulated(compare))
		fputs("EMULATED: the processor is emulated, so these latencies show that the chain "
		      "works and nothing else.\n",
			out);
}

char *compare_to_text(const struct compare *compare)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (compare->run_count)
		fprintf(out, "board %s (%s), suite %s, %zu run%s%s\n\n", compare->runs[0]->board,
			compare->runs[0]->model, compare->runs[0]->suite, compare->run_count,
			compare->run_count == 1 ? "" : "s",
			has_emulated(compare) ? ", EMULATED" : "");
	if (compare->row_count)
		print_sheet(out, compare);
	if (compare->row_count)
		print_table(out, compare);
	else
		fputs("no valid run, so there is nothing to compare\n", out);
	print_notes(out, compare);
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

/* ------------------------------------------------------------------- JSON */

static void add_us(cJSON *json, const char *name, double counts, double hz)
{
	if (isnan(counts) || hz <= 0)
		cJSON_AddNullToObject(json, name);
	else
		cJSON_AddNumberToObject(json, name, counts * 1e6 / hz);
}

static cJSON *cell_to_json(
	const struct compare_cell *cell, const struct compare_system *system, const char *unit)
{
	cJSON *json = cJSON_CreateObject();

	cJSON_AddStringToObject(json, "system", system->name);
	cJSON_AddNumberToObject(json, "boots", cell->boots);
	if (cell->unsupported)
		cJSON_AddStringToObject(json, "unsupported", cell->unsupported);
	if (cell->boots == 0)
		return json;
	cJSON_AddNumberToObject(json, "n", cell->n);
	cJSON_AddNumberToObject(json, "mean_of", cell->batch);
	cJSON_AddNumberToObject(json, "missed", cell->missed);
	cJSON_AddNumberToObject(json, "early", cell->early);
	if (unit) {
		cJSON_AddStringToObject(json, "unit", unit);
		cJSON_AddNumberToObject(json, "p50", cell->p50);
		cJSON_AddNumberToObject(json, "max", cell->max);
		return json;
	}
	add_us(json, "floor_us", cell->floor, system->counter_hz);
	add_us(json, "p50_us", cell->p50, system->counter_hz);
	add_us(json, "p99_us", cell->p99, system->counter_hz);
	add_us(json, "p99.9_us", cell->p999, system->counter_hz);
	add_us(json, "max_us", cell->max, system->counter_hz);
	return json;
}

static cJSON *system_to_json(const struct compare_system *system)
{
	cJSON *json = cJSON_CreateObject();

	cJSON_AddStringToObject(json, "system", system->name);
	cJSON_AddStringToObject(json, "version", system->version);
	cJSON_AddStringToObject(json, "protection", system->protection);
	cJSON_AddStringToObject(json, "address_space", system->address_space);
	cJSON_AddBoolToObject(json, "emulated", system->is_emulated);
	cJSON_AddNumberToObject(json, "counter_hz", system->counter_hz);
	if (isnan(system->clock_ppm))
		cJSON_AddNullToObject(json, "clock_ppm");
	else
		cJSON_AddNumberToObject(json, "clock_ppm", system->clock_ppm);
	cJSON_AddNumberToObject(json, "runs", system->runs);
	cJSON_AddNumberToObject(json, "valid", system->valid);
	cJSON_AddNumberToObject(json, "gates_passed", system->gates_passed);
	cJSON_AddNumberToObject(json, "gates_not_applicable", system->gates_not_applicable);
	cJSON_AddNumberToObject(json, "gates_unknown", system->gates_unknown);
	return json;
}

cJSON *compare_to_json(const struct compare *compare)
{
	cJSON *json = cJSON_CreateObject();
	cJSON *systems = cJSON_AddArrayToObject(json, "systems");
	cJSON *rows = cJSON_AddArrayToObject(json, "rows");
	cJSON *excluded = cJSON_AddArrayToObject(json, "not_compared");

	if (compare->row_count)
		cJSON_AddItemToObject(json, "decision_sheet", sheet_to_json(compare));
	cJSON_AddBoolToObject(json, "emulated", has_emulated(compare));
	cJSON_AddBoolToObject(
		json, "enough_boots_for_verdict", fewest_boots(compare) >= BOOTS_FOR_VERDICT);
	for (size_t i = 0; i < compare->system_count; i++)
		cJSON_AddItemToArray(systems, system_to_json(&compare->systems[i]));
	for (size_t r = 0; r < compare->row_count; r++) {
		cJSON *row = cJSON_CreateObject();
		cJSON *cells = cJSON_AddArrayToObject(row, "cells");

		cJSON_AddStringToObject(row, "row", compare->rows[r].name);
		for (size_t s = 0; s < compare->system_count; s++)
			cJSON_AddItemToArray(
				cells, cell_to_json(&compare->rows[r].cells[s],
					       &compare->systems[s], compare->rows[r].unit));
		cJSON_AddItemToArray(rows, row);
	}
	for (size_t i = 0; i < compare->run_count; i++) {
		cJSON *run;

		if (compare->runs[i]->verdict == VERDICT_PASS)
			continue;
		run = cJSON_CreateObject();
		cJSON_AddNumberToObject(run, "run", (double)compare->runs[i]->id);
		cJSON_AddStringToObject(run, "system", compare->runs[i]->system);
		cJSON_AddStringToObject(run, "verdict", verdict_name(compare->runs[i]->verdict));
		cJSON_AddStringToObject(run, "reason", compare->runs[i]->reason);
		cJSON_AddItemToArray(excluded, run);
	}
	return json;
}
