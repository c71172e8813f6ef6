/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One row over many runs: where did it change, and is the newest run as those
 * before it?  Steps are fitted to the logarithms by absolute deviations (L1), so
 * that single bad runs make none: a step needs ten runs a side, more than 5 % and
 * two counts, and a fit that much better.  The newest run is held against the
 * runs since the last step by a 99 % prediction interval: outside it is a
 * suspect, to be measured 5 against 5; it is no verdict.
 *
 * 0 or -ENOMEM; no state.
 */
#ifndef SAMEBOARD_HARNESS_HISTORY_H
#define SAMEBOARD_HARNESS_HISTORY_H

#include <stddef.h>

#define HISTORY_SIDE_MIN   10
#define HISTORY_STEPS_MAX  64
#define HISTORY_CHANGE_MIN 0.05
#define HISTORY_COUNTS_MIN 2.0

enum history_newest {
	HISTORY_TOO_FEW, /* fewer than HISTORY_SIDE_MIN runs to hold it against */
	HISTORY_WITHIN,
	HISTORY_ABOVE,
	HISTORY_BELOW,
};

struct history {
	size_t steps[HISTORY_STEPS_MAX]; /* index of the first run behind each, ascending */
	size_t step_count;
	enum history_newest newest;
	double low, high; /* of the interval, in the values' unit; NaN: too few */
};

/* Values are positive, oldest first; `resolution` is one count in their unit. */
int history_find(struct history *history, const double *values, size_t count, double resolution);

/* Median of values[from..until). NaN for none, or without memory. */
double history_median(const double *values, size_t from, size_t until);

#endif
