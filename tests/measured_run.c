/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/measured_run.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/stats.h"
#include "tests/samples.h"

int64_t measured_begin_job(struct store *store, const char *suite, const char *suite_json)
{
	const struct store_job job = {.command = "run measured",
		.suite = suite,
		.suite_json = suite_json,
		.plan = "",
		.version = "0.1.0",
		.started_ms = FIXTURE_T0};
	int64_t id;

	ck_assert_int_eq(store_begin_job(store, &job, &id), 0);
	return id;
}

static void add_metric(
	struct store *store, int64_t run, const char *series, const char *name, double value)
{
	const struct store_metric metric = {
		.series = series, .name = name, .value = value, .unit = "counts"};

	ck_assert_msg(store_add_metric(store, run, &metric) == 0, "%s", store_error(store));
}

void measured_add_metrics(struct store *store, int64_t run, const char *series,
	const int32_t *samples, size_t count, uint64_t period_counts)
{
	struct stats_summary s;

	ck_assert_int_eq(stats_summarise(samples, count, period_counts, &s), 0);
	add_metric(store, run, NULL, "counter_hz", MEASURED_HZ);
	add_metric(store, run, series, "n", (double)s.n);
	add_metric(store, run, series, "early", (double)s.early);
	add_metric(store, run, series, "missed", (double)s.missed);
	add_metric(store, run, series, "min", s.min);
	add_metric(store, run, series, "mean", s.mean);
	add_metric(store, run, series, "sd", s.sd);
	for (int q = 0; q < STATS_QUANTILES; q++)
		add_metric(store, run, series, stats_quantile_name((enum stats_quantile)q),
			s.quantiles[q]);
	add_metric(store, run, series, "max", s.max);
	add_metric(store, run, series, "max_index", (double)s.max_index);
}

void measured_add_window(struct store *store, int64_t run, const struct measured_window *w)
{
	struct store_window window = fixture_window(w->number);

	window.bench = w->bench;
	window.name = w->name;
	window.load = w->load ? w->load : "idle";
	window.phase = w->phase;
	window.n = (uint32_t)w->count;
	window.period_us = w->period_us ? w->period_us : 1000;
	ck_assert_msg(store_begin_window(store, run, &window) == 0, "%s", store_error(store));
	ck_assert_int_eq(store_add_series(store, &(struct store_series){.id = 1,
							 .name = w->series,
							 .kind = STORE_SERIES_COUNTS,
							 .data = w->samples,
							 .count = w->count}),
		0);
	measured_add_metrics(store, run, w->series, w->samples, w->count,
		(uint64_t)window.period_us * MEASURED_HZ / 1000000);
	add_metric(store, run, NULL, "floor", w->floor);
	if (w->bracket > 0)
		add_metric(store, run, NULL, "bracket", w->bracket);
	ck_assert_msg(store_commit_window(store) == 0, "%s", store_error(store));
}

int32_t *measured_read_series(int number, double scale, size_t *count)
{
	struct samples samples;
	char path[80];

	snprintf(path, sizeof(path), "tests/data/latency/R_idle_run%02d.ns.txt", number);
	ck_assert_msg(
		samples_read(&samples, path, MEASURED_HZ) == 0, "%s", samples_error(&samples));
	for (size_t i = 0; i < samples.count; i++)
		samples.values[i] = (int32_t)(samples.values[i] * scale);
	*count = samples.count;
	return samples.values;
}

void measured_close_with(
	struct store *store, int64_t run, int number, double scale, enum verdict verdict)
{
	size_t count;
	int32_t *samples = measured_read_series(number, scale, &count);

	measured_add_window(store, run,
		&(struct measured_window){.number = 1,
			.bench = 1,
			.name = "wake.idle",
			.phase = "arbitrary",
			.series = "latency",
			.samples = samples,
			.count = count,
			.floor = 9});
	free(samples);
	ck_assert_int_eq(store_end_run(store, run, verdict, "as told", FIXTURE_T0 + 1, NULL, 0), 0);
}
