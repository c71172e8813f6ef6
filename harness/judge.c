/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/stats.h"

static const char *const names[JUDGEMENTS] = {
	[JUDGEMENT_TOO_FEW] = "too few runs",
	[JUDGEMENT_NOT_POSITIVE] = "no ratio",
	[JUDGEMENT_EQUAL] = "equal",
	[JUDGEMENT_NO_CHANGE] = "no change shown",
	[JUDGEMENT_SUSPECT] = "suspect",
	[JUDGEMENT_REGRESSION] = "regression",
	[JUDGEMENT_IMPROVEMENT] = "improvement",
};

const char *judge_name(enum judgement judgement)
{
	return names[judgement];
}

static double median_of(const double *values, size_t count)
{
	double sorted[INFERENCE_RUNS_MAX];

	memcpy(sorted, values, count * sizeof(*values));
	return stats_median(sorted, count);
}

static bool has_only_positive(const double *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!(values[i] > 0))
			return false;
	return true;
}

static struct inference_sides sides_of(const struct judge_row *row)
{
	return (struct inference_sides){
		row->before, row->after, row->before_count, row->after_count};
}

static int measure_row(struct judge_row *row)
{
	const struct inference_sides sides = sides_of(row);

	row->change = (struct inference_change){NAN, NAN, NAN, NAN};
	row->p_adjusted = row->detectable = NAN;
	if (row->before_count > INFERENCE_RUNS_MAX || row->after_count > INFERENCE_RUNS_MAX)
		return -EINVAL;
	row->median_before = median_of(row->before, row->before_count);
	row->median_after = median_of(row->after, row->after_count);
	row->judgement = JUDGEMENT_TOO_FEW;
	if (row->before_count < INFERENCE_RUNS_MIN || row->after_count < INFERENCE_RUNS_MIN)
		return 0;
	row->judgement = JUDGEMENT_NOT_POSITIVE;
	if (!has_only_positive(row->before, row->before_count) ||
		!has_only_positive(row->after, row->after_count))
		return 0;
	row->judgement = JUDGEMENT_NO_CHANGE;
	return inference_compare(&sides, &row->change);
}

/* Adjusts p over the rows of one kind that have one. */
static int adjust(struct judge_row *rows, size_t count, bool is_primary)
{
	double *p = malloc((count ? count : 1) * sizeof(*p));
	size_t used = 0;

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (rows[i].is_primary == is_primary && !isnan(rows[i].change.p))
			p[used++] = rows[i].change.p;
	if (is_primary)
		inference_adjust_holm(p, used);
	else
		inference_adjust_benjamini_hochberg(p, used);
	used = 0;
	for (size_t i = 0; i < count; i++)
		if (rows[i].is_primary == is_primary && !isnan(rows[i].change.p))
			rows[i].p_adjusted = p[used++];
	free(p);
	return 0;
}

static int judge_row(struct judge_row *row)
{
	const struct inference_sides sides = sides_of(row);
	double difference = fabs(row->median_after - row->median_before);
	bool is_up = row->change.ratio > 1;
	int rc;

	if (row->judgement != JUDGEMENT_NO_CHANGE)
		return 0;
	if (difference <= JUDGE_CHANGE_COUNTS * row->resolution) {
		row->judgement = JUDGEMENT_EQUAL;
		return 0;
	}
	if (!(row->p_adjusted < INFERENCE_ALPHA) || fabs(row->change.ratio - 1) <= JUDGE_CHANGE_MIN)
		return 0;
	rc = inference_find_interval(&sides, &row->change);
	if (rc != 0 || !(is_up ? row->change.ratio_low > 1 : row->change.ratio_high < 1))
		return rc;
	if (is_up == row->is_higher_better)
		row->judgement = JUDGEMENT_IMPROVEMENT;
	else
		row->judgement = row->is_primary ? JUDGEMENT_REGRESSION : JUDGEMENT_SUSPECT;
	return 0;
}

int judge_rows(struct judge_row *rows, size_t count)
{
	size_t primary = 0;
	int rc = 0;

	for (size_t i = 0; i < count; i++)
		primary += rows[i].is_primary;
	if (primary > JUDGE_PRIMARY_MAX)
		return -EINVAL;
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = measure_row(&rows[i]);
	if (rc == 0)
		rc = adjust(rows, count, true);
	if (rc == 0)
		rc = adjust(rows, count, false);
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = judge_row(&rows[i]);
	return rc;
}

int judge_find_bounds(struct judge_row *rows, size_t count)
{
	size_t of_kind[2] = {0, 0};
	int rc = 0;

	for (size_t i = 0; i < count; i++)
		of_kind[rows[i].is_primary] += !isnan(rows[i].change.p);
	for (size_t i = 0; rc == 0 && i < count; i++) {
		struct judge_row *row = &rows[i];
		const struct inference_sides sides = sides_of(row);

		if (isnan(row->change.p))
			continue;
		rc = inference_find_interval(&sides, &row->change);
		/* As the first step of either adjustment, the strictest. */
		if (rc == 0)
			rc = inference_detectable(&sides,
				INFERENCE_ALPHA / (double)of_kind[row->is_primary],
				&row->detectable);
		row->detectable = fmax(row->detectable,
			1 + fmax(JUDGE_CHANGE_MIN,
				    JUDGE_CHANGE_COUNTS * row->resolution / row->median_before));
	}
	return rc;
}
