/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report as blocks, before anybody knows whether it becomes HTML, Markdown,
 * LaTeX, CSV or JSON: headings, paragraphs, warnings, tables, figures and
 * console text in order, and beside them the rows as data.  Who adds to it says
 * what is measured and what others have published; a row carries that with it
 * everywhere.
 *
 * No errors but memory: is_out_of_memory is then set and the writers fail.
 * Strings given in are copied; those of report_keep() live as long as the
 * report.  One thread.
 */
#ifndef SAMEBOARD_HARNESS_REPORT_H
#define SAMEBOARD_HARNESS_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "harness/table.h"

enum report_kind {
	REPORT_HEADING,
	REPORT_TEXT,
	REPORT_WARNING, /* what forbids a conclusion: shown so that nobody misses it */
	REPORT_TABLE,
	REPORT_FIGURE,
	REPORT_CONSOLE, /* text of a board, as it came */
};

struct report_block {
	enum report_kind kind;
	const char *text; /* title, paragraph, console text */
	const char *note; /* below a table or figure; "" if none */
	struct table table;
	const char *svg; /* of a figure; NULL until figure_render() has made it */
	bool is_folded;	 /* an appendix: HTML shows it on demand */
};

/* Whose number it is. */
enum report_origin {
	REPORT_MEASURED,  /* by this harness, with samples and gates */
	REPORT_IMPORTED,  /* by another tool, without gates */
	REPORT_PUBLISHED, /* by others: a summary with its citation */
	REPORT_ORIGINS,
};

/* In the order of a table's columns. */
enum report_value {
	REPORT_N,
	REPORT_BOOTS,
	REPORT_FLOOR,
	REPORT_BRACKET,
	REPORT_MIN,
	REPORT_MEAN,
	REPORT_SD,
	REPORT_P50,
	REPORT_P90,
	REPORT_P95,
	REPORT_P99,
	REPORT_P999,
	REPORT_P9999,
	REPORT_MAX,
	REPORT_EARLY,
	REPORT_MISSED,
	REPORT_VALUES,
};

/* Figures of one row of one system, as they are printed; NULL: not there. */
struct report_row {
	enum report_origin origin;
	const char *set; /* "job 3", or the name of the imported set */
	const char *row, *system, *load;
	const char *protection, *mode;
	const char *gates;
	const char *unit; /* of the times: "us", "ms" */
	const char *values[REPORT_VALUES];
};

struct report {
	const char *title;
	struct report_block *blocks;
	size_t block_count;
	struct report_row *rows;
	size_t row_count;
	char **kept;
	size_t kept_count, kept_capacity;
	bool is_out_of_memory;
};

void report_init(struct report *report, const char *title);
void report_fini(struct report *report);

/* A string that lives as long as the report; never NULL. */
const char *report_keep(struct report *report, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The next block; valid until the one after it, NULL without memory. */
struct report_block *report_add(struct report *report, enum report_kind kind, const char *format,
	...) __attribute__((format(printf, 3, 4)));

/* A table without cells: fill block->table by table_add(), the heading first. */
struct report_block *report_add_table(
	struct report *report, const char *title, const char *align, const char *const *heading);

/* A copy of the row's struct; its strings must be the report's or live as long. */
void report_add_row(struct report *report, const struct report_row *row);

/*
 * The rows from `first` on as tables: across systems by their median where there
 * are several, and each with all that is known of it.  One form for measured
 * and published rows.
 */
void report_tabulate(struct report *report, size_t first, const char *title);

/* What a p50 below its own bracket is worth; figures as they are printed. */
void report_warn_of_bracket(struct report *report, const char *system, const char *row,
	const char *p50, const char *bracket, const char *unit);

/* "p99.9"; "published". */
const char *report_value_name(enum report_value value);
const char *report_origin_name(enum report_origin origin);

/* The formats; false when the stream or memory failed. */
bool report_write_html(const struct report *report, FILE *out);
bool report_write_markdown(const struct report *report, FILE *out);
bool report_write_latex(const struct report *report, FILE *out);
bool report_write_csv(const struct report *report, FILE *out);
bool report_write_json(const struct report *report, FILE *out);

#endif
