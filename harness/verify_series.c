/* SPDX-License-Identifier: Apache-2.0 */
/* The samples: are they those that were stored, and do the figures follow from them? */
#include <endian.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boardctl/sha256.h"
#include "harness/catalogue.h"
#include "harness/counters.h"
#include "harness/export.h"
#include "harness/gates.h"
#include "harness/rows.h"
#include "harness/stats.h"
#include "harness/suite.h"
#include "harness/verify_private.h"
#include "protocol/crc32c.h"

static const size_t element_sizes[] = {0, 4, 8, 1};

static const cJSON *find_series(const cJSON *window, const char *name)
{
	const cJSON *series;

	cJSON_ArrayForEach(series, cJSON_GetObjectItem(window, "series"))
	{
		if (strcmp(verify_string(series, "name"), name) == 0)
			return series;
	}
	return NULL;
}

void *verify_samples(const cJSON *window, const char *name, int kind, size_t *count)
{
	const cJSON *series = find_series(window, name);
	size_t size = 0;
	void *data = NULL;

	*count = 0;
	if (!series || verify_number(series, "kind") != kind)
		return NULL;
	data = export_unpack(verify_string(series, "data"), &size);
	*count = data ? size / element_sizes[kind] : 0;
	for (size_t i = 0; i < *count; i++) {
		if (kind == 1)
			((uint32_t *)data)[i] = le32toh(((uint32_t *)data)[i]);
		else if (kind == 2)
			((uint64_t *)data)[i] = le64toh(((uint64_t *)data)[i]);
	}
	return data;
}

static void check_bytes(struct verify *verify, const cJSON *window, const cJSON *series)
{
	double kind = verify_number(series, "kind");
	const char *name = verify_string(series, "name");
	char hex[SHA256_HEX_SIZE] = "", crc[16] = "";
	size_t size = 0;
	char *data = export_unpack(verify_string(series, "data"), &size);
	bool is_whole =
		data && (kind == 1 || kind == 2 || kind == 3) &&
		verify_number(series, "count") * (double)element_sizes[(int)kind] == (double)size;

	if (is_whole) {
		sha256_buffer(data, size, hex);
		snprintf(crc, sizeof(crc), "%08x", crc32c_update(0, (uint8_t *)data, size));
		is_whole = strcmp(hex, verify_string(series, "sha256")) == 0 &&
			   strcmp(crc, verify_string(series, "crc32c")) == 0;
	}
	verify_note(verify, VERIFY_SERIES, is_whole,
		"window %.0f, series %.60s: the samples are not those that were hashed",
		verify_number(window, "number"), name);
	free(data);
}

/* ---------------------------------------------------------------- figures */

static bool find_figure(const struct stats_summary *s, const char *name, double *value)
{
	const struct {
		const char *name;
		double value;
	} figures[] = {{"n", (double)s->n}, {"early", (double)s->early},
		{"missed", (double)s->missed}, {"min", s->min}, {"mean", s->mean}, {"sd", s->sd},
		{"max", s->max}, {"max_index", (double)s->max_index}};
	int quantile = stats_quantile_find(name);

	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		if (strcmp(figures[i].name, name) == 0) {
			*value = figures[i].value;
			return true;
		}
	if (quantile < 0)
		return false;
	*value = s->quantiles[quantile];
	return true;
}

static bool is_near(double a, double b)
{
	return a == b || fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

static double counter_of(const cJSON *window)
{
	const cJSON *metric;

	cJSON_ArrayForEach(metric, cJSON_GetObjectItem(window, "metrics"))
	{
		if (strcmp(verify_string(metric, "name"), "counter_hz") == 0)
			return verify_number(metric, "value");
	}
	return NAN;
}

static uint64_t period_of(const cJSON *window, const char *series)
{
	const struct catalogue_bench *bench = catalogue_find(verify_string(window, "bench"));
	double hz = counter_of(window), period_us = rows_period_us(series);

	if (!(period_us > 0) && bench && bench->has_grid && rows_is_lateness(series))
		period_us = verify_number(window, "period_us");
	if (!(period_us > 0) || !(hz > 0))
		return 0;
	return (uint64_t)period_us * (uint64_t)hz / 1000000;
}

/* Of releases that were never served there is no sample: the target has counted them. */
static void take_missed(const cJSON *window, const char *series, struct stats_summary *summary)
{
	size_t size;
	char *counters = verify_samples(window, "counters", 3, &size), key[96];
	uint64_t missed;

	snprintf(key, sizeof(key), "missed.%s", series);
	missed = counters_get_count(counters ? counters : "", key);
	if (missed < GATE_COUNTER_NONE)
		summary->missed = (size_t)missed;
	free(counters);
}

static void check_figures(struct verify *verify, const cJSON *window, const cJSON *series)
{
	const char *name = verify_string(series, "name");
	struct stats_summary summary;
	const cJSON *metric;
	size_t count;
	int32_t *samples = verify_samples(window, name, 1, &count);

	if (!samples || stats_summarise(samples, count, period_of(window, name), &summary) != 0) {
		free(samples);
		return;
	}
	take_missed(window, name, &summary);
	cJSON_ArrayForEach(metric, cJSON_GetObjectItem(window, "metrics"))
	{
		const char *figure = verify_string(metric, "name");
		double value;

		if (strcmp(verify_string(metric, "series"), name) != 0 ||
			!find_figure(&summary, figure, &value))
			continue;
		verify_note(verify, VERIFY_FIGURES, is_near(value, verify_number(metric, "value")),
			"window %.0f, %s of %.60s: the samples give %.9g, the file says %.9g",
			verify_number(window, "number"), figure, name, value,
			verify_number(metric, "value"));
	}
	free(samples);
}

void verify_windows(struct verify *verify, const cJSON *windows)
{
	const cJSON *window, *series;

	cJSON_ArrayForEach(window, windows)
	{
		cJSON_ArrayForEach(series, cJSON_GetObjectItem(window, "series"))
		{
			check_bytes(verify, window, series);
			check_figures(verify, window, series);
		}
	}
}

/* ------------------------------------------------------------------ suite */

static bool is_asked_for(const struct suite *suite, const cJSON *window)
{
	const char *bench = verify_string(window, "bench");
	double n = verify_number(window, "n"), period_us = verify_number(window, "period_us");

	for (size_t i = 0; i < suite->window_count; i++)
		if (strcmp(suite->windows[i].name, bench) == 0 && suite->windows[i].n == n &&
			suite->windows[i].period_us == period_us)
			return true;
	return false;
}

void verify_suite(struct verify *verify, const cJSON *json)
{
	const char *text = verify_string(cJSON_GetObjectItem(json, "configuration"), "suite");
	const cJSON *window;
	struct suite *suite = NULL;

	if (!text[0])
		return;
	if (suite_parse(&suite, "suite", text, strlen(text)) != 0)
		verify_note(verify, VERIFY_CONFIGURATION, false, "the suite: %.200s",
			suite_error(suite));
	cJSON_ArrayForEach(window, cJSON_GetObjectItem(cJSON_GetObjectItem(json, "run"), "windows"))
	{
		const struct catalogue_bench *bench =
			catalogue_find(verify_string(window, "bench"));

		/* Every run has those of the gates, asked for or not. */
		if (suite->error[0] || (bench && rows_is_gate_bench(bench->id)))
			continue;
		verify_note(verify, VERIFY_CONFIGURATION, is_asked_for(suite, window),
			"window %.0f, %.60s: the suite asks for no such window",
			verify_number(window, "number"), verify_string(window, "bench"));
	}
	suite_close(suite);
}
