/* SPDX-License-Identifier: Apache-2.0 */
/* A report for programs: its rows as CSV (RFC 4180), all of it as JSON. */
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "harness/report.h"

/* -------------------------------------------------------------------- CSV */

static void write_field(FILE *out, const char *text, bool is_last)
{
	text = text ? text : "";
	if (strpbrk(text, "\",\r\n")) {
		fputc('"', out);
		for (; *text; text++) {
			if (*text == '"')
				fputc('"', out);
			fputc(*text, out);
		}
		fputc('"', out);
	} else {
		fputs(text, out);
	}
	fputs(is_last ? "\r\n" : ",", out);
}

bool report_write_csv(const struct report *report, FILE *out)
{
	static const char *const columns[] = {
		"origin", "set", "row", "load", "system", "protection", "mode", "gates", "unit"};

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		write_field(out, columns[i], false);
	for (int v = 0; v < REPORT_VALUES; v++)
		write_field(out, report_value_name((enum report_value)v), v + 1 == REPORT_VALUES);
	for (size_t i = 0; i < report->row_count; i++) {
		const struct report_row *row = &report->rows[i];

		write_field(out, report_origin_name(row->origin), false);
		write_field(out, row->set, false);
		write_field(out, row->row, false);
		write_field(out, row->load, false);
		write_field(out, row->system, false);
		write_field(out, row->protection, false);
		write_field(out, row->mode, false);
		write_field(out, row->gates, false);
		write_field(out, row->unit, false);
		for (int v = 0; v < REPORT_VALUES; v++)
			write_field(out, row->values[v], v + 1 == REPORT_VALUES);
	}
	return !report->is_out_of_memory && !ferror(out);
}

/* ------------------------------------------------------------------- JSON */

static void add_text(cJSON *json, const char *key, const char *text)
{
	if (text && text[0])
		cJSON_AddStringToObject(json, key, text);
}

/* Digits stay as they were printed. */
static void add_value(cJSON *json, const char *key, const char *text)
{
	size_t length = text ? strlen(text) : 0;

	if (length && strspn(text, "0123456789.-") == length && strcmp(text, "-") != 0)
		cJSON_AddItemToObject(json, key, cJSON_CreateRaw(text));
	else
		add_text(json, key, text);
}

static cJSON *row_to_json(const struct report_row *row)
{
	cJSON *json = cJSON_CreateObject(), *values;

	cJSON_AddStringToObject(json, "origin", report_origin_name(row->origin));
	add_text(json, "set", row->set);
	add_text(json, "row", row->row);
	add_text(json, "load", row->load);
	add_text(json, "system", row->system);
	add_text(json, "protection", row->protection);
	add_text(json, "mode", row->mode);
	add_text(json, "gates", row->gates);
	add_text(json, "unit", row->unit);
	values = cJSON_AddObjectToObject(json, "values");
	for (int v = 0; v < REPORT_VALUES; v++)
		add_value(values, report_value_name((enum report_value)v), row->values[v]);
	return json;
}

static cJSON *table_to_json(const struct table *table)
{
	cJSON *json = cJSON_CreateArray(), *line = NULL;

	for (size_t i = 0; i < table->cell_count; i++) {
		if (i % table->columns == 0) {
			line = cJSON_CreateArray();
			cJSON_AddItemToArray(json, line);
		}
		cJSON_AddItemToArray(line, cJSON_CreateString(table->cells[i]));
	}
	return json;
}

static cJSON *block_to_json(const struct report_block *block)
{
	static const char *const kinds[] = {
		"heading", "text", "warning", "table", "figure", "console"};
	cJSON *json = cJSON_CreateObject();

	cJSON_AddStringToObject(json, "kind", kinds[block->kind]);
	cJSON_AddStringToObject(json, "text", block->text);
	add_text(json, "note", block->note);
	if (block->kind == REPORT_TABLE)
		cJSON_AddItemToObject(json, "table", table_to_json(&block->table));
	return json;
}

bool report_write_json(const struct report *report, FILE *out)
{
	cJSON *json = cJSON_CreateObject(), *list;
	char *text;

	cJSON_AddStringToObject(json, "title", report->title);
	list = cJSON_AddArrayToObject(json, "rows");
	for (size_t i = 0; i < report->row_count; i++)
		cJSON_AddItemToArray(list, row_to_json(&report->rows[i]));
	list = cJSON_AddArrayToObject(json, "blocks");
	for (size_t i = 0; i < report->block_count; i++)
		cJSON_AddItemToArray(list, block_to_json(&report->blocks[i]));
	text = cJSON_Print(json);
	if (text)
		fprintf(out, "%s\n", text);
	cJSON_Delete(json);
	cJSON_free(text);
	return text && !report->is_out_of_memory && !ferror(out);
}
