/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stored runs as a report: decision sheet first, then what forbids a hasty
 * reading, the rows, the verdicts against a baseline, figures, gates, and what
 * the boards said.
 *
 * 0 or a negative errno: of the store with store_error(), -EINVAL with the text
 * in `error` where runs and baseline do not belong together.
 */
#ifndef SAMEBOARD_HARNESS_REPORT_RUNS_H
#define SAMEBOARD_HARNESS_REPORT_RUNS_H

#include "harness/against.h"
#include "harness/compare.h"
#include "harness/figure.h"
#include "harness/report.h"

struct report_runs {
	struct store *store;
	struct compare *compare;
	const struct against *against; /* NULL: no baseline */
	const char *set;	       /* "job 3" */
	struct figures *figures;       /* NULL: none are wanted */
};

int report_add_runs(struct report *report, const struct report_runs *runs);

/* What a merge request shows: verdicts and what was wrong; compare may be NULL. */
void report_add_summary(struct report *report, const struct compare *compare,
	const struct against *against, const char *error);

/* Parts of it, in files of their own. */
void report_add_context(struct report *report, const struct compare *compare);
int report_add_figures(struct report *report, const struct report_runs *runs);
void report_add_gates(struct report *report, const struct compare *compare);
int report_add_series(struct report *report, const struct report_runs *runs);
int report_add_consoles(struct report *report, const struct report_runs *runs);

#endif
