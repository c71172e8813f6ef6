/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a change between two sides of runs is one.  A row fails only if all
 * hold: it was named as primary beforehand, its p, adjusted (Holm) over the
 * primary rows, is below 0.05, the interval of its ratio excludes 1, and it
 * changed by more than 5 % and more than two counts.  What shows the same in
 * another row (Benjamini-Hochberg) is a suspect: to be repeated.  A maximum is
 * never judged.
 */
#ifndef SAMEBOARD_HARNESS_JUDGE_H
#define SAMEBOARD_HARNESS_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "harness/inference.h"

#define JUDGE_PRIMARY_MAX   6
#define JUDGE_CHANGE_MIN    0.05 /* of the value */
#define JUDGE_CHANGE_COUNTS 2.0

enum judgement {
	JUDGEMENT_TOO_FEW,	/* fewer runs on a side than INFERENCE_RUNS_MIN */
	JUDGEMENT_NOT_POSITIVE, /* a value of 0 or below: ratios say nothing */
	JUDGEMENT_EQUAL,	/* at most two counts apart */
	JUDGEMENT_NO_CHANGE,	/* none shown; see detectable */
	JUDGEMENT_SUSPECT,
	JUDGEMENT_REGRESSION,
	JUDGEMENT_IMPROVEMENT,
	JUDGEMENTS,
};

struct judge_row {
	const char *name;
	const double *before, *after; /* one value a run, all in one unit */
	double resolution;	      /* of one count, in that unit */
	size_t before_count, after_count;
	bool is_primary;
	bool is_higher_better;
	/* What judge_rows() finds; NaN where too few. */
	enum judgement judgement;
	double median_before, median_after;
	struct inference_change change;
	double p_adjusted;
	double detectable; /* of judge_find_bounds(), a ratio; INFINITY: none */
};

/* 0; -EINVAL: more than JUDGE_PRIMARY_MAX primary rows, or more than INFERENCE_RUNS_MAX runs;
 * -ENOMEM. */
int judge_rows(struct judge_row *rows, size_t count);

/*
 * Once they are judged, for people: the interval of each row's ratio, and the
 * smallest increase that it could have shown.  Takes milliseconds a row.
 */
int judge_find_bounds(struct judge_row *rows, size_t count);

/* "regression"; for people and JSON. */
const char *judge_name(enum judgement judgement);

#endif
