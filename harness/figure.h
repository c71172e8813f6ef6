/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figures of a report, drawn by gnuplot: what is drawn is reduced here, so that
 * millions of samples are some hundred points.  Each is a block of the report
 * that gets its SVG by figure_render(); the same can be written as PDF and PNG.
 *
 * Functions return 0 or a negative errno, with the text in figures->error;
 * without gnuplot (-ENOENT) the report stays without pictures and says so.
 */
#ifndef SAMEBOARD_HARNESS_FIGURE_H
#define SAMEBOARD_HARNESS_FIGURE_H

#include <stdint.h>

#include "harness/report.h"

/* Samples of one row of one system; `unit` of them is one count. */
struct figure_series {
	const char *label;
	const int32_t *samples; /* in their order */
	size_t count;
	double us; /* of one count, of one operation */
};

struct figures {
	struct report *report;
	char *script;
	size_t script_size;
	FILE *out;
	size_t *blocks; /* index of each figure's block in the report */
	size_t count;
	char error[256];
};

int figures_init(struct figures *figures, struct report *report);
void figures_fini(struct figures *figures);

/* Samples by value; y is logarithmic, and what lies beyond has a bar of its own with its number. */
void figure_add_histogram(
	struct figures *figures, const char *title, const struct figure_series *series);

/* How many samples are above a value, one line a system. */
void figure_add_ccdf(struct figures *figures, const char *title, const struct figure_series *series,
	size_t count);

/* In the order of their release; of each step the lowest and the highest. */
void figure_add_time(
	struct figures *figures, const char *title, const struct figure_series *series);

/* second - first, quantile by quantile. */
void figure_add_difference(struct figures *figures, const char *title,
	const struct figure_series *first, const struct figure_series *second);

/* One dot a run: `values[i]` of `label[i]`, in us. */
void figure_add_strip(struct figures *figures, const char *title, const char *const *labels,
	const double *values, size_t count);

/* All of them into the report; `dir` NULL, or a folder for figN.pdf and figN.png too. */
int figure_render(struct figures *figures, const char *dir);

#endif
