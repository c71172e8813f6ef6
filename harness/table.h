/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of text: columns as wide as they need be, numbers to the right.
 * Width is counted in UTF-8 characters.  Memory errors make an empty table
 * text (NULL); nothing is static.
 */
#ifndef SAMEBOARD_HARNESS_TABLE_H
#define SAMEBOARD_HARNESS_TABLE_H

#include <stddef.h>

#define TABLE_COLUMNS_MAX 20

struct table {
	size_t columns;
	const char *align; /* a letter a column: 'l' or 'r' */
	char **cells;	   /* row by row, the heading first */
	size_t cell_count, cell_capacity;
	int is_out_of_memory;
};

/* align has as many letters as the table has columns; both strings are borrowed. */
void table_init(struct table *table, const char *align);
void table_fini(struct table *table);

/* The next cell, row by row from the heading on. */
void table_add(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* All lines; free() it. */
char *table_to_text(const struct table *table);

#endif
