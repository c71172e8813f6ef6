/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/results.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/catalogue.h"
#include "harness/paths.h"
#include "harness/word.h"

#define ROWS_MAX 500

/* ------------------------------------------------------------------ shapes */

#define FIGURE(word, value)                                                                        \
	{                                                                                          \
		.name = word, .kind = DOCUMENT_STRING, .expected = "a figure as it was published", \
		DOCUMENT_AT(struct results_row, values[value])                                     \
	}

static const struct document_key row_keys[] = {
	{.name = "row",
		.kind = DOCUMENT_STRING,
		.required = true,
		.expected = "what was measured",
		DOCUMENT_AT(struct results_row, row)},
	{.name = "system",
		.kind = DOCUMENT_STRING,
		.required = true,
		.expected = "name of the system",
		DOCUMENT_AT(struct results_row, system)},
	{.name = "bench",
		.kind = DOCUMENT_STRING,
		.expected = "name of a benchmark of the catalogue",
		DOCUMENT_AT(struct results_row, bench)},
	{.name = "load",
		.kind = DOCUMENT_STRING,
		.expected = "the load scenario",
		DOCUMENT_AT(struct results_row, load)},
	{.name = "protection",
		.kind = DOCUMENT_STRING,
		.expected = "the protection model",
		DOCUMENT_AT(struct results_row, protection)},
	{.name = "mode",
		.kind = DOCUMENT_STRING,
		.expected = "mode of the row, like U+MMU thread",
		DOCUMENT_AT(struct results_row, mode)},
	FIGURE("n", REPORT_N),
	FIGURE("boots", REPORT_BOOTS),
	FIGURE("floor", REPORT_FLOOR),
	FIGURE("bracket", REPORT_BRACKET),
	FIGURE("min", REPORT_MIN),
	FIGURE("mean", REPORT_MEAN),
	FIGURE("sd", REPORT_SD),
	FIGURE("p50", REPORT_P50),
	FIGURE("p90", REPORT_P90),
	FIGURE("p95", REPORT_P95),
	FIGURE("p99", REPORT_P99),
	FIGURE("p99.9", REPORT_P999),
	FIGURE("p99.99", REPORT_P9999),
	FIGURE("max", REPORT_MAX),
	FIGURE("early", REPORT_EARLY),
	FIGURE("missed", REPORT_MISSED),
};

static const struct document_shape row_shape = {
	.noun = "a row",
	.keys = row_keys,
	.key_count = sizeof(row_keys) / sizeof(row_keys[0]),
	.size = sizeof(struct results_row),
	.name_offset = SIZE_MAX,
	.node_offset = offsetof(struct results_row, node),
};

static const char *const origins[] = {"published", "imported", NULL};
static const char *const units[] = {"ns", "us", "ms", "s", "counts", NULL};

static const struct document_key keys[] = {
	{.name = "name",
		.kind = DOCUMENT_STRING,
		.required = true,
		.expected = WORD_NAME_RULE,
		DOCUMENT_AT(struct results, name)},
	{.name = "title",
		.kind = DOCUMENT_STRING,
		.required = true,
		.expected = "a line for people",
		DOCUMENT_AT(struct results, title)},
	{.name = "origin",
		.kind = DOCUMENT_CHOICE,
		.words = origins,
		DOCUMENT_AT(struct results, origin)},
	{.name = "citation",
		.kind = DOCUMENT_STRING,
		.required = true,
		.expected = "who measured it and where it stands",
		DOCUMENT_AT(struct results, citation)},
	{.name = "board",
		.kind = DOCUMENT_STRING,
		.expected = "what it was measured on",
		DOCUMENT_AT(struct results, board)},
	{.name = "unit",
		.kind = DOCUMENT_CHOICE,
		.required = true,
		.words = units,
		DOCUMENT_AT(struct results, unit)},
	{.name = "notes",
		.kind = DOCUMENT_STRINGS,
		.min = 0,
		.max = 32,
		.expected = "a sentence that must stand beside the figures",
		DOCUMENT_AT(struct results, notes),
		.count_offset = offsetof(struct results, note_count)},
	{.name = "rows",
		.kind = DOCUMENT_OBJECTS,
		.required = true,
		.min = 1,
		.max = ROWS_MAX,
		.shape = &row_shape,
		DOCUMENT_AT(struct results, rows),
		.count_offset = offsetof(struct results, row_count)},
};

const struct document_shape results_shape = {
	.noun = "results",
	.keys = keys,
	.key_count = sizeof(keys) / sizeof(keys[0]),
	.size = sizeof(struct results),
	.name_offset = SIZE_MAX,
	.node_offset = SIZE_MAX,
};

/* -------------------------------------------------------------------- read */

/* Digits, a point, a sign: so that nobody's words become a figure. */
static bool is_figure(const char *text)
{
	char *end;
	size_t length = strlen(text);
	double value = strtod(text, &end);

	return length > 0 && length < 24 && strspn(text, "0123456789.-") == length &&
	       *end == '\0' && text[0] != '.' && end[-1] != '.' && isfinite(value);
}

static int check_row(struct results *results, const struct results_row *row)
{
	bool has_figure = false;

	if (row->bench && !catalogue_find(row->bench))
		return document_fail(results->document, row->node, "bench",
			"\"%s\" is no benchmark of the catalogue", row->bench);
	for (int v = 0; v < REPORT_VALUES; v++) {
		if (!row->values[v])
			continue;
		if (!is_figure(row->values[v]))
			return document_fail(results->document, row->node,
				report_value_name((enum report_value)v),
				"\"%s\" is no figure; expected digits and a point, as published",
				row->values[v]);
		has_figure |= v != REPORT_N && v != REPORT_BOOTS;
	}
	if (!has_figure)
		return document_fail(results->document, row->node, NULL,
			"the row has no figure; expected one of p50, mean, max and the like");
	return 0;
}

static int read_all(struct results *results)
{
	int rc = document_read(results->document, &results_shape, results);

	if (rc == 0 && !word_is_name(results->name))
		rc = document_fail(results->document, document_root(results->document), "name",
			"\"%s\" is no name; expected %s", results->name, WORD_NAME_RULE);
	for (size_t i = 0; rc == 0 && i < results->row_count; i++)
		rc = check_row(results, &results->rows[i]);
	if (rc == 0)
		results->text = document_text(results->document, NULL);
	return rc;
}

static int finish(struct results *results, int rc)
{
	if (rc == 0)
		rc = read_all(results);
	if (rc != 0)
		snprintf(results->error, sizeof(results->error), "%s",
			results->document ? document_error(results->document) : "out of memory");
	return rc;
}

static struct results *results_new(void)
{
	struct results *results = calloc(1, sizeof(*results));

	if (results)
		results->origin = "imported";
	return results;
}

int results_open(struct results **results, const char *path)
{
	*results = results_new();
	return *results ? finish(*results, document_open(&(*results)->document, path)) : -ENOMEM;
}

int results_parse(struct results **results, const char *name, const char *text, size_t size)
{
	*results = results_new();
	return *results ? finish(*results, document_parse(&(*results)->document, name, text, size))
			: -ENOMEM;
}

void results_close(struct results *results)
{
	if (!results)
		return;
	document_close(results->document);
	free(results);
}

const char *results_error(const struct results *results)
{
	return results ? results->error : "out of memory";
}

/* --------------------------------------------------------------- reference */

static char **list_in(const char *dir)
{
	char **names = word_list_files(dir);

	for (size_t i = 0; names && names[i]; i++) {
		char *path;

		if (asprintf(&path, "%s/%s.json", dir, names[i]) < 0)
			path = NULL;
		free(names[i]);
		names[i] = path;
		if (!path)
			break;
	}
	return names;
}

char **results_list_reference(void)
{
	static const char *const places[] = {
		"../harness/reference", "../share/sameboard/reference"};
	const char *given = getenv("SAMEBOARD_REFERENCE");
	char **list = given && *given ? list_in(given) : NULL;
	char dir[1024];

	for (size_t i = 0; !list && i < sizeof(places) / sizeof(places[0]); i++)
		if (paths_beside_program(places[i], dir, sizeof(dir)) == 0)
			list = list_in(dir);
	return list;
}

/* ------------------------------------------------------------------ report */

static double figure_of(const struct results_row *row, enum report_value value)
{
	return row->values[value] ? strtod(row->values[value], NULL) : (double)NAN;
}

/* What the figures themselves say against a reading of them. */
static void add_warnings(const struct results *results, struct report *report)
{
	bool is_floor_missing = false;

	for (size_t i = 0; i < results->row_count; i++) {
		const struct results_row *row = &results->rows[i];

		if (figure_of(row, REPORT_P50) < figure_of(row, REPORT_BRACKET))
			report_warn_of_bracket(report, row->system, row->row,
				row->values[REPORT_P50], row->values[REPORT_BRACKET],
				results->unit);
		is_floor_missing |= !row->values[REPORT_FLOOR];
	}
	if (is_floor_missing)
		report_add(report, REPORT_TEXT,
			"Where no floor is published, how much of a figure is the instrument "
			"itself is not known.");
}

void results_add_to_report(const struct results *results, struct report *report)
{
	bool is_published = strcmp(results->origin, "published") == 0;
	size_t first = report->row_count;

	report_add(report, REPORT_HEADING, "%s: %s",
		is_published ? "Published by others" : "Imported", results->title);
	report_add(report, REPORT_TEXT, "Source: %s.%s%s", results->citation,
		results->board ? " Measured on: " : "", results->board ? results->board : "");
	report_add(report, REPORT_WARNING,
		is_published
			? "These figures were published by others and not measured by this "
			  "harness: without samples and without gates. They stand beside "
			  "measured rows and are never tested against them."
			: "These figures come from another tool, without gates. They stand beside "
			  "measured rows and are never tested against them.");
	for (size_t i = 0; i < results->row_count; i++) {
		const struct results_row *row = &results->rows[i];
		struct report_row added = {
			.origin = is_published ? REPORT_PUBLISHED : REPORT_IMPORTED,
			.set = report_keep(report, "%s", results->name),
			.row = report_keep(report, "%s", row->row),
			.system = report_keep(report, "%s", row->system),
			.load = report_keep(report, "%s", row->load ? row->load : ""),
			.protection = report_keep(
				report, "%s", row->protection ? row->protection : "not published"),
			.mode = report_keep(report, "%s", row->mode ? row->mode : ""),
			.unit = report_keep(report, "%s", results->unit),
		};

		for (int v = 0; v < REPORT_VALUES; v++)
			if (row->values[v])
				added.values[v] = report_keep(report, "%s", row->values[v]);
		if (!added.values[REPORT_FLOOR])
			added.values[REPORT_FLOOR] = "not published";
		report_add_row(report, &added);
	}
	report_tabulate(report, first, results->name);
	add_warnings(results, report);
	for (size_t i = 0; i < results->note_count; i++)
		report_add(report, REPORT_TEXT, "%s", results->notes[i]);
}
