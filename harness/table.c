/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t width_of(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

void table_init(struct table *table, const char *align)
{
	*table = (struct table){.columns = strlen(align), .align = align};
}

void table_fini(struct table *table)
{
	for (size_t i = 0; i < table->cell_count; i++)
		free(table->cells[i]);
	free(table->cells);
	*table = (struct table){0};
}

void table_add(struct table *table, const char *format, ...)
{
	char *cell;
	va_list args;
	int length;

	if (table->cell_count == table->cell_capacity) {
		size_t capacity = table->cell_capacity * 2 + 64;
		char **grown = realloc(table->cells, capacity * sizeof(*grown));

		if (!grown) {
			table->is_out_of_memory = 1;
			return;
		}
		table->cells = grown;
		table->cell_capacity = capacity;
	}
	va_start(args, format);
	length = vasprintf(&cell, format, args);
	va_end(args);
	if (length < 0)
		table->is_out_of_memory = 1;
	else
		table->cells[table->cell_count++] = cell;
}

static void print_cell(FILE *out, const char *cell, size_t width, char align, int is_last)
{
	int blanks = (int)(width - width_of(cell));

	if (align == 'r')
		fprintf(out, "%*s%s", blanks, "", cell);
	else
		fprintf(out, "%s%*s", cell, is_last ? 0 : blanks, "");
}

char *table_to_text(const struct table *table)
{
	size_t widths[TABLE_COLUMNS_MAX] = {0};
	char *text = NULL;
	size_t size = 0;
	FILE *out;

	if (table->is_out_of_memory || table->columns > TABLE_COLUMNS_MAX)
		return NULL;
	out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	for (size_t i = 0; i < table->cell_count; i++) {
		size_t width = width_of(table->cells[i]);

		if (width > widths[i % table->columns])
			widths[i % table->columns] = width;
	}
	for (size_t i = 0; i < table->cell_count; i++) {
		size_t column = i % table->columns;
		int is_last = column + 1 == table->columns;

		print_cell(out, table->cells[i], widths[column], table->align[column], is_last);
		fputs(is_last ? "\n" : "  ", out);
	}
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
