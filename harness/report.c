/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/report.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const value_names[REPORT_VALUES] = {
	[REPORT_N] = "n",
	[REPORT_BOOTS] = "boots",
	[REPORT_FLOOR] = "floor",
	[REPORT_BRACKET] = "bracket",
	[REPORT_MIN] = "min",
	[REPORT_MEAN] = "mean",
	[REPORT_SD] = "sd",
	[REPORT_P50] = "p50",
	[REPORT_P90] = "p90",
	[REPORT_P95] = "p95",
	[REPORT_P99] = "p99",
	[REPORT_P999] = "p99.9",
	[REPORT_P9999] = "p99.99",
	[REPORT_MAX] = "max",
	[REPORT_EARLY] = "early",
	[REPORT_MISSED] = "missed",
};

static const char *const origin_names[REPORT_ORIGINS] = {
	[REPORT_MEASURED] = "measured",
	[REPORT_IMPORTED] = "imported",
	[REPORT_PUBLISHED] = "published",
};

const char *report_value_name(enum report_value value)
{
	return value_names[value];
}

const char *report_origin_name(enum report_origin origin)
{
	return origin_names[origin];
}

void report_init(struct report *report, const char *title)
{
	*report = (struct report){0};
	report->title = report_keep(report, "%s", title);
}

void report_fini(struct report *report)
{
	for (size_t i = 0; i < report->block_count; i++)
		table_fini(&report->blocks[i].table);
	for (size_t i = 0; i < report->kept_count; i++)
		free(report->kept[i]);
	free(report->blocks);
	free(report->rows);
	free(report->kept);
	*report = (struct report){0};
}

static const char *keep_list(struct report *report, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

static const char *keep_list(struct report *report, const char *format, va_list args)
{
	char *text;

	if (report->kept_count == report->kept_capacity) {
		size_t capacity = report->kept_capacity * 2 + 64;
		char **grown = realloc(report->kept, capacity * sizeof(*grown));

		if (!grown) {
			report->is_out_of_memory = true;
			return "";
		}
		report->kept = grown;
		report->kept_capacity = capacity;
	}
	if (vasprintf(&text, format, args) < 0) {
		report->is_out_of_memory = true;
		return "";
	}
	report->kept[report->kept_count++] = text;
	return text;
}

const char *report_keep(struct report *report, const char *format, ...)
{
	const char *text;
	va_list args;

	va_start(args, format);
	text = keep_list(report, format, args);
	va_end(args);
	return text;
}

struct report_block *report_add(
	struct report *report, enum report_kind kind, const char *format, ...)
{
	struct report_block *grown =
		realloc(report->blocks, (report->block_count + 1) * sizeof(*grown));
	va_list args;

	if (!grown) {
		report->is_out_of_memory = true;
		return NULL;
	}
	report->blocks = grown;
	grown += report->block_count++;
	*grown = (struct report_block){.kind = kind, .note = ""};
	va_start(args, format);
	grown->text = keep_list(report, format, args);
	va_end(args);
	return grown;
}

struct report_block *report_add_table(
	struct report *report, const char *title, const char *align, const char *const *heading)
{
	struct report_block *block = report_add(report, REPORT_TABLE, "%s", title);

	if (!block)
		return NULL;
	table_init(&block->table, report_keep(report, "%s", align));
	for (size_t i = 0; heading && i < block->table.columns; i++)
		table_add(&block->table, "%s", heading[i]);
	return block;
}

void report_add_row(struct report *report, const struct report_row *row)
{
	struct report_row *grown = realloc(report->rows, (report->row_count + 1) * sizeof(*grown));

	if (!grown) {
		report->is_out_of_memory = true;
		return;
	}
	report->rows = grown;
	report->rows[report->row_count++] = *row;
}

/* ----------------------------------------------------------------- tables */

static const char *or_dash(const char *text)
{
	return text && text[0] ? text : "-";
}

/* The name of a row with its load, as it stands in the first column. */
static const char *label_of(struct report *report, const struct report_row *row)
{
	if (row->load && row->load[0])
		return report_keep(report, "%s, %s", row->row, row->load);
	return row->row;
}

static bool is_same_row(const struct report_row *a, const struct report_row *b)
{
	return strcmp(a->row, b->row) == 0 &&
	       strcmp(a->load ? a->load : "", b->load ? b->load : "") == 0;
}

#define SYSTEMS_MAX (TABLE_COLUMNS_MAX - 1)

/* Systems in the order of their first row, at most SYSTEMS_MAX. */
static size_t list_systems(const struct report *report, size_t first, const char **systems)
{
	size_t count = 0;

	for (size_t i = first; i < report->row_count && count < SYSTEMS_MAX; i++) {
		size_t s = 0;

		while (s < count && strcmp(systems[s], report->rows[i].system) != 0)
			s++;
		if (s == count)
			systems[count++] = report->rows[i].system;
	}
	return count;
}

static const struct report_row *find_cell(const struct report *report, size_t first,
	const struct report_row *like, const char *system)
{
	for (size_t i = first; i < report->row_count; i++)
		if (is_same_row(&report->rows[i], like) &&
			strcmp(report->rows[i].system, system) == 0)
			return &report->rows[i];
	return NULL;
}

/* ", in us" where all rows have one; else each value carries its own. */
static const char *say_unit(struct report *report, size_t first)
{
	const char *unit = report->rows[first].unit;

	for (size_t i = first; i < report->row_count; i++)
		if (!unit || !report->rows[i].unit || strcmp(unit, report->rows[i].unit) != 0)
			return "";
	return report_keep(report, ", in %s", unit);
}

static void tabulate_systems(struct report *report, size_t first, const char *title)
{
	const char *systems[SYSTEMS_MAX], *heading[TABLE_COLUMNS_MAX];
	size_t count = list_systems(report, first, systems);
	char align[TABLE_COLUMNS_MAX + 1] = "l";
	struct report_block *block;

	if (count < 2)
		return;
	heading[0] = "row";
	for (size_t s = 0; s < count; s++) {
		const struct report_row *row = NULL;

		for (size_t i = first; i < report->row_count && !row; i++)
			if (strcmp(report->rows[i].system, systems[s]) == 0)
				row = &report->rows[i];
		heading[s + 1] = report_keep(
			report, "%s (%s)", systems[s], or_dash(row ? row->protection : NULL));
		strcat(align, "r");
	}
	block = report_add_table(report,
		report_keep(report, "%s: p50%s", title, say_unit(report, first)), align, heading);
	for (size_t i = first; block && i < report->row_count; i++) {
		const struct report_row *row = &report->rows[i];
		bool is_first = true;

		for (size_t j = first; j < i; j++)
			is_first &= !is_same_row(&report->rows[j], row);
		if (!is_first)
			continue;
		table_add(&block->table, "%s", label_of(report, row));
		for (size_t s = 0; s < count; s++) {
			const struct report_row *cell = find_cell(report, first, row, systems[s]);

			table_add(&block->table, "%s",
				or_dash(cell ? cell->values[REPORT_P50] : NULL));
		}
	}
	if (block)
		block->note = "In brackets the protection model: rows of unlike models stand "
			      "beside each other and are not ranked.";
}

/* Which values stand in a column: those that any row has, and always the floor. */
static size_t list_values(const struct report *report, size_t first, enum report_value *values)
{
	size_t count = 0;

	for (int v = 0; v < REPORT_VALUES; v++) {
		bool is_used = v == REPORT_FLOOR;

		for (size_t i = first; i < report->row_count; i++)
			is_used |= report->rows[i].values[v] && report->rows[i].values[v][0];
		if (is_used && count < TABLE_COLUMNS_MAX - 5)
			values[count++] = (enum report_value)v;
	}
	return count;
}

static bool has_any(const struct report *report, size_t first, size_t offset)
{
	for (size_t i = first; i < report->row_count; i++) {
		const char *text;

		memcpy(&text, (const char *)&report->rows[i] + offset, sizeof(text));
		if (text && text[0])
			return true;
	}
	return false;
}

static void tabulate_values(struct report *report, size_t first, const char *title)
{
	enum report_value values[REPORT_VALUES];
	size_t count = list_values(report, first, values), columns = 0;
	bool has_mode = has_any(report, first, offsetof(struct report_row, mode));
	bool has_gates = has_any(report, first, offsetof(struct report_row, gates));
	const char *heading[TABLE_COLUMNS_MAX];
	char align[TABLE_COLUMNS_MAX + 1] = "";
	struct report_block *block;

	heading[columns++] = "row";
	heading[columns++] = "system";
	heading[columns++] = "protection";
	if (has_mode)
		heading[columns++] = "mode";
	memset(align, 'l', columns);
	for (size_t v = 0; v < count; v++) {
		align[columns] = 'r';
		heading[columns++] = report_value_name(values[v]);
	}
	if (has_gates) {
		align[columns] = 'l';
		heading[columns++] = "gates";
	}
	block = report_add_table(report,
		report_keep(report, "%s: each row%s", title, say_unit(report, first)), align,
		heading);
	for (size_t i = first; block && i < report->row_count; i++) {
		const struct report_row *row = &report->rows[i];

		table_add(&block->table, "%s", label_of(report, row));
		table_add(&block->table, "%s", row->system);
		table_add(&block->table, "%s", or_dash(row->protection));
		if (has_mode)
			table_add(&block->table, "%s", or_dash(row->mode));
		for (size_t v = 0; v < count; v++)
			table_add(&block->table, "%s", or_dash(row->values[values[v]]));
		if (has_gates)
			table_add(&block->table, "%s", or_dash(row->gates));
	}
}

void report_tabulate(struct report *report, size_t first, const char *title)
{
	if (first >= report->row_count)
		return;
	tabulate_systems(report, first, title);
	tabulate_values(report, first, title);
}

void report_warn_of_bracket(struct report *report, const char *system, const char *row,
	const char *p50, const char *bracket, const char *unit)
{
	report_add(report, REPORT_WARNING,
		"%s, %s: p50 %s %s is below its own bracket of %s %s: where in the bracket the "
		"event lay is not known, so the digits below it say nothing.",
		system, row, p50, unit, bracket, unit);
}
