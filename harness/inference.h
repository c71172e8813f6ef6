/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the runs of two sides say about a change.  The run is the replicate,
 * never the sample: each value here is one statistic of one run, and positive.
 * Everything is computed exactly or from a fixed seed, so the same runs always
 * give the same answer.  No state.
 *
 * Sources: Mann and Whitney 1947 (midranks for ties, conditional distribution);
 * Hodges and Lehmann 1963; Holm 1979; Benjamini and Hochberg 1995.
 */
#ifndef SAMEBOARD_HARNESS_INFERENCE_H
#define SAMEBOARD_HARNESS_INFERENCE_H

#include <stddef.h>

#define INFERENCE_RUNS_MAX 60 /* a side */
#define INFERENCE_RUNS_MIN 5  /* a side, for a verdict */
#define INFERENCE_ALPHA	   0.05

struct inference_sides {
	const double *before, *after;
	size_t before_count, after_count; /* 1..INFERENCE_RUNS_MAX */
};

struct inference_change {
	double ratio;		      /* after / before, Hodges-Lehmann of the logarithms */
	double ratio_low, ratio_high; /* of inference_find_interval() */
	double p;		      /* exact Mann-Whitney, two-sided */
};

/* 0; -EINVAL: a side is empty or too large, or a value is not positive; -ENOMEM. */
int inference_compare(const struct inference_sides *sides, struct inference_change *change);

/* The ratio's 95 % interval, a bootstrap over runs: a thousand times the work.  As above. */
int inference_find_interval(const struct inference_sides *sides, struct inference_change *change);

/*
 * The smallest increase, as a ratio above 1, that so many runs with this spread
 * would have shown at this level in 8 of 10 repetitions.  INFINITY: none, the
 * runs are too few for the level.  -EINVAL, -ENOMEM as above.
 */
int inference_detectable(const struct inference_sides *sides, double alpha, double *ratio);

/* Adjusted in place, in the order given. */
void inference_adjust_holm(double *p, size_t count);
void inference_adjust_benjamini_hochberg(double *p, size_t count);

#endif
