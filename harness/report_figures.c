/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows get pictures, and the samples that they are drawn from. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/inference.h"
#include "harness/report_runs.h"
#include "harness/rows.h"

#define ROWS_MAX    6
#define SYSTEMS_MAX 8

/* Of one row: the samples of all valid runs of each system, one run behind the other. */
struct drawn {
	struct figure_series series[SYSTEMS_MAX];
	int32_t *pool[SYSTEMS_MAX];
	size_t first_run[SYSTEMS_MAX]; /* samples of the first run */
	size_t count;
};

static void drawn_free(struct drawn *drawn)
{
	for (size_t i = 0; i < drawn->count; i++)
		free(drawn->pool[i]);
	*drawn = (struct drawn){0};
}

static int append(struct drawn *drawn, size_t at, struct store *store, int64_t series_id)
{
	struct figure_series *series = &drawn->series[at];
	void *data = NULL;
	int32_t *grown;
	size_t count;
	int rc = query_samples(store, series_id, STORE_SERIES_COUNTS, &data, &count);

	if (rc != 0)
		return rc;
	grown = realloc(drawn->pool[at], (series->count + count + 1) * sizeof(*grown));
	if (!grown) {
		free(data);
		return -ENOMEM;
	}
	memcpy(grown + series->count, data, count * sizeof(*grown));
	free(data);
	drawn->pool[at] = grown;
	series->samples = grown;
	if (series->count == 0)
		drawn->first_run[at] = count;
	series->count += count;
	return 0;
}

static int load(struct drawn *drawn, const struct report_runs *runs, const struct compare_row *row)
{
	const struct compare *compare = runs->compare;
	const struct query_figures **found = calloc(compare->run_count + 1, sizeof(*found));
	int rc = found ? 0 : -ENOMEM;

	*drawn = (struct drawn){0};
	for (size_t s = 0; rc == 0 && s < compare->system_count && drawn->count < SYSTEMS_MAX;
		s++) {
		size_t count = compare_collect(compare, row, s, found);

		if (count == 0)
			continue;
		drawn->series[drawn->count] =
			(struct figure_series){.label = compare->systems[s].name,
				.us = 1e6 / found[0]->counter_hz / found[0]->batch};
		drawn->count++;
		for (size_t i = 0; rc == 0 && i < count; i++)
			rc = append(drawn, drawn->count - 1, runs->store, found[i]->series_id);
	}
	free(found);
	return rc;
}

/* p50 and p99 of each run, one dot each. */
static void add_strip(const struct report_runs *runs, const struct compare_row *row)
{
	const struct compare *compare = runs->compare;
	const struct query_figures **found = calloc(compare->run_count + 1, sizeof(*found));
	const char **labels = calloc(compare->run_count + 1, sizeof(*labels));
	double *values = calloc(compare->run_count + 1, sizeof(*values));
	size_t used = 0;
	char title[160];

	for (size_t s = 0; found && labels && values && s < compare->system_count; s++) {
		size_t count = compare_collect(compare, row, s, found);

		for (size_t i = 0; i < count; i++) {
			labels[used] = compare->systems[s].name;
			values[used++] =
				found[i]->p99 * 1e6 / found[i]->counter_hz / found[i]->batch;
		}
	}
	snprintf(title, sizeof(title), "%s: p99 of each run", row->name);
	figure_add_strip(runs->figures, title, labels, values, used);
	free(found);
	free(labels);
	free(values);
}

static int draw_row(const struct report_runs *runs, const struct compare_row *row)
{
	struct drawn drawn;
	char title[192];
	int rc = load(&drawn, runs, row);

	for (size_t i = 0; rc == 0 && i < drawn.count; i++) {
		struct figure_series first = drawn.series[i];

		snprintf(title, sizeof(title), "%s, %s: histogram", row->name,
			drawn.series[i].label);
		figure_add_histogram(runs->figures, title, &drawn.series[i]);
		first.count = drawn.first_run[i];
		snprintf(title, sizeof(title), "%s, %s: first run in time", row->name,
			drawn.series[i].label);
		figure_add_time(runs->figures, title, &first);
	}
	if (rc == 0 && drawn.count > 0) {
		snprintf(title, sizeof(title), "%s: how many are above", row->name);
		figure_add_ccdf(runs->figures, title, drawn.series, drawn.count);
		add_strip(runs, row);
	}
	if (rc == 0 && drawn.count > 1) {
		snprintf(title, sizeof(title), "%s: %s - %s, quantile by quantile", row->name,
			drawn.series[1].label, drawn.series[0].label);
		figure_add_difference(runs->figures, title, &drawn.series[0], &drawn.series[1]);
	}
	drawn_free(&drawn);
	return rc;
}

/* Wake-ups first, then handoffs; what the caller paid is in the tables. */
static int rank_of(const struct compare_row *row)
{
	if (row->unit || strncmp(row->like->series, "caller", 6) == 0 || row->like->bench == 0)
		return 3;
	if (rows_is_lateness(row->like->series))
		return strcmp(row->like->phase, "aligned") == 0 ? 1 : 0;
	return 2;
}

int report_add_figures(struct report *report, const struct report_runs *runs)
{
	size_t drawn = 0;

	if (!runs->figures || runs->compare->row_count == 0)
		return 0;
	report_add(report, REPORT_HEADING, "Figures");
	for (int rank = 0; rank < 3; rank++) {
		for (size_t r = 0; r < runs->compare->row_count && drawn < ROWS_MAX; r++) {
			const struct compare_row *row = &runs->compare->rows[r];
			int rc = 0;

			if (rank_of(row) != rank)
				continue;
			drawn++;
			rc = draw_row(runs, row);
			if (rc != 0)
				return rc;
		}
	}
	return 0;
}
