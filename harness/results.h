/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results that others measured, as summaries with a citation: JSON, see
 * harness/schema/results.json.  Figures are text, so that they are printed as
 * they were published, and digits stand for nothing that was not there.
 *
 * Errors: 0 or a negative errno, text in results_error() ("FILE:LINE: KEY:
 * ...").  Everything in the struct lives until results_close(); one thread.
 */
#ifndef SAMEBOARD_HARNESS_RESULTS_H
#define SAMEBOARD_HARNESS_RESULTS_H

#include "harness/document.h"
#include "harness/report.h"

struct results_row {
	const char *row, *system;	   /* required */
	const char *bench, *load;	   /* catalogue name; scenario; NULL where not given */
	const char *protection, *mode;	   /* NULL where not given */
	const char *values[REPORT_VALUES]; /* NULL where not given */
	const struct document_node *node;
};

struct results {
	const char *name; /* "d1-cross-os" */
	const char *title, *citation, *board;
	const char *unit;   /* "us", "ms" */
	const char *origin; /* "published" or "imported" */
	const char **notes;
	size_t note_count;
	struct results_row *rows;
	size_t row_count;
	const char *text; /* the file, for the store */
	struct document *document;
	char error[512];
};

/* *results is set even on failure (NULL only without memory); always close it. */
int results_open(struct results **results, const char *path);

/* The same from text; `name` stands for the file. */
int results_parse(struct results **results, const char *name, const char *text, size_t size);
void results_close(struct results *results);
const char *results_error(const struct results *results);

/*
 * Paths of the reference set that comes with the program, in order, ending with
 * NULL: of $SAMEBOARD_REFERENCE, the tree or the installed one.  NULL where there
 * is none; free each and the list.
 */
char **results_list_reference(void);

/* Heading, citation, tables, notes and the warnings that the figures call for. */
void results_add_to_report(const struct results *results, struct report *report);

/* The table that the file is read by (compared with the JSON schema by a test). */
extern const struct document_shape results_shape;

#endif
