/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/import.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results.h"
#include "harness/stats.h"

#define THREADS_MAX 64

static int fail(char *error, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(char *error, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error, size, format, args);
	va_end(args);
	return -EINVAL;
}

/* ------------------------------------------------------------- histograms */

struct bin {
	int64_t value;
	uint64_t count;
};

/* One thread's samples by value. */
struct histogram {
	struct bin *bins;
	size_t count, capacity;
	uint64_t samples;  /* in the bins */
	uint64_t overflow; /* beyond the last bin */
	double min, max;   /* as the tool says; NaN: it does not */
};

static bool add_bin(struct histogram *h, int64_t value, uint64_t count)
{
	if (count == 0)
		return true;
	if (h->count == h->capacity) {
		size_t capacity = h->capacity * 2 + 64;
		struct bin *grown = realloc(h->bins, capacity * sizeof(*grown));

		if (!grown)
			return false;
		h->bins = grown;
		h->capacity = capacity;
	}
	h->bins[h->count++] = (struct bin){value, count};
	h->samples += count;
	return true;
}

static int compare_bins(const void *a, const void *b)
{
	const struct bin *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

/* The value at this rank; false where it lies beyond the histogram. */
static bool find_quantile(const struct histogram *h, double p, int64_t *value)
{
	uint64_t n = h->samples + h->overflow, seen = 0;
	uint64_t rank = (uint64_t)ceil(p * (double)n - 1e-9 * (double)n);

	rank = rank < 1 ? 1 : rank;
	for (size_t i = 0; i < h->count; i++) {
		seen += h->bins[i].count;
		if (seen >= rank) {
			*value = h->bins[i].value;
			return true;
		}
	}
	return false;
}

static void add_figure(cJSON *row, const char *key, int digits, double value)
{
	char text[40];

	snprintf(text, sizeof(text), "%.*f", digits, value);
	cJSON_AddStringToObject(row, key, text);
}

/* Mean and sd only where every sample is in a bin. */
static void add_moments(cJSON *row, const struct histogram *h)
{
	double mean = 0, squares = 0, n = (double)h->samples;

	if (h->overflow || h->samples == 0)
		return;
	for (size_t i = 0; i < h->count; i++)
		mean += (double)h->bins[i].value * (double)h->bins[i].count / n;
	for (size_t i = 0; i < h->count; i++) {
		double delta = (double)h->bins[i].value - mean;

		squares += delta * delta * (double)h->bins[i].count;
	}
	add_figure(row, "mean", 3, mean);
	if (h->samples > 1)
		add_figure(row, "sd", 3, sqrt(squares / (n - 1)));
}

static void add_histogram(cJSON *rows, const char *name, struct histogram *h)
{
	cJSON *row = cJSON_CreateObject();
	uint64_t n = h->samples + h->overflow;

	qsort(h->bins, h->count, sizeof(*h->bins), compare_bins);
	cJSON_AddStringToObject(row, "row", name);
	cJSON_AddStringToObject(row, "system", "imported");
	add_figure(row, "n", 0, (double)n);
	if (!isnan(h->min) || h->count)
		add_figure(row, "min", 0, isnan(h->min) ? (double)h->bins[0].value : h->min);
	add_moments(row, h);
	for (int q = 0; q < STATS_QUANTILES; q++) {
		int64_t value;

		if (!stats_quantile_is_few((enum stats_quantile)q, n) &&
			find_quantile(h, stats_quantile_p((enum stats_quantile)q), &value))
			add_figure(
				row, stats_quantile_name((enum stats_quantile)q), 0, (double)value);
	}
	if (!isnan(h->max))
		add_figure(row, "max", 0, h->max);
	else if (!h->overflow && h->count)
		add_figure(row, "max", 0, (double)h->bins[h->count - 1].value);
	cJSON_AddItemToArray(rows, row);
}

/* ---------------------------------------------------------------- results */

static cJSON *begin_results(const struct import_request *request, const char *unit)
{
	cJSON *json = cJSON_CreateObject();
	char text[512];

	cJSON_AddStringToObject(json, "name", request->name);
	snprintf(text, sizeof(text), "%s, imported", request->name);
	cJSON_AddStringToObject(json, "title", text);
	cJSON_AddStringToObject(json, "origin", "imported");
	snprintf(text, sizeof(text), "file %.400s", request->path);
	cJSON_AddStringToObject(json, "citation", request->citation ? request->citation : text);
	cJSON_AddStringToObject(json, "unit", unit);
	cJSON_AddArrayToObject(json, "notes");
	return json;
}

static void add_note(cJSON *json, const char *text)
{
	cJSON_AddItemToArray(cJSON_GetObjectItem(json, "notes"), cJSON_CreateString(text));
}

static void add_cyclictest_notes(cJSON *json, uint64_t overflow)
{
	char text[200];

	add_note(json, "cyclictest skips releases that a late one has passed: a stall of many "
		       "periods is one sample, so percentiles come out lower than on a full grid.");
	if (overflow == 0)
		return;
	snprintf(text, sizeof(text),
		"%llu samples lie beyond the histogram: they are in n, and percentiles that would lie "
		"there are left out.",
		(unsigned long long)overflow);
	add_note(json, text);
}

/* ------------------------------------------------------- cyclictest --json */

/* Older versions wrote the colon into the key. */
static const cJSON *find_either(const cJSON *json, const char *key)
{
	char with_colon[40];
	const cJSON *found = cJSON_GetObjectItemCaseSensitive(json, key);

	snprintf(with_colon, sizeof(with_colon), "%s:", key);
	return found ? found : cJSON_GetObjectItemCaseSensitive(json, with_colon);
}

static int read_thread(
	const cJSON *thread, struct histogram *h, const char *path, char *error, size_t size)
{
	double cycles = cJSON_GetNumberValue(cJSON_GetObjectItem(thread, "cycles"));
	const cJSON *bin;

	*h = (struct histogram){.min = cJSON_GetNumberValue(cJSON_GetObjectItem(thread, "min")),
		.max = cJSON_GetNumberValue(cJSON_GetObjectItem(thread, "max"))};
	cJSON_ArrayForEach(bin, cJSON_GetObjectItem(thread, "histogram"))
	{
		char *end;
		long long value = strtoll(bin->string ? bin->string : "", &end, 10);

		if (!cJSON_IsNumber(bin) || *end || end == bin->string || bin->valuedouble < 0 ||
			bin->valuedouble > 1e15)
			return fail(error, size, "%s: thread %s: \"%s\" is no bin of a histogram",
				path, thread->string, bin->string ? bin->string : "");
		if (!add_bin(h, value, (uint64_t)bin->valuedouble))
			return -ENOMEM;
	}
	/* It has no count of what did not fit: cycles tell. */
	if (!isnan(cycles) && cycles > (double)h->samples)
		h->overflow = (uint64_t)cycles - h->samples;
	if (h->samples + h->overflow == 0)
		return fail(error, size, "%s: thread %s has no samples", path, thread->string);
	return 0;
}

static int convert_cyclictest(const struct import_request *request, const cJSON *file,
	cJSON **results, char *error, size_t size)
{
	const cJSON *threads = cJSON_GetObjectItem(file, "thread"), *thread;
	const char *command = cJSON_GetStringValue(find_either(file, "cmdline"));
	const char *version = cJSON_GetStringValue(find_either(file, "rt_test_version"));
	cJSON *json = begin_results(request, "us"), *rows = cJSON_AddArrayToObject(json, "rows");
	uint64_t overflow = 0;
	char text[600];
	int rc = 0;

	if (cJSON_GetArraySize(threads) == 0 || cJSON_GetArraySize(threads) > THREADS_MAX)
		rc = fail(error, size, "%s: \"thread\" has no threads, or more than %d",
			request->path, THREADS_MAX);
	for (thread = rc == 0 ? threads->child : NULL; rc == 0 && thread; thread = thread->next) {
		struct histogram h;

		rc = read_thread(thread, &h, request->path, error, size);
		snprintf(text, sizeof(text), "thread %s", thread->string ? thread->string : "?");
		if (rc == 0)
			add_histogram(rows, text, &h);
		overflow += h.overflow;
		free(h.bins);
	}
	if (command || version) {
		snprintf(text, sizeof(text), "rt-tests %.60s: %.400s", version ? version : "",
			command ? command : "");
		add_note(json, text);
	}
	add_cyclictest_notes(json, overflow);
	*results = json;
	return rc;
}

/* ------------------------------------------------------- histogram as text */

struct columns {
	struct histogram of[THREADS_MAX];
	size_t count;
};

/* "# Histogram Overflows: 00001 00000": a number a thread, in the columns' order. */
static void read_comment(struct columns *columns, const char *line)
{
	static const struct {
		const char *word;
		int what;
	} words[] = {{"Histogram Overflows:", 0}, {"Max Latencies:", 1}, {"Min Latencies:", 2}};

	for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
		const char *at = strstr(line, words[w].word);

		if (!at)
			continue;
		at += strlen(words[w].word);
		for (size_t c = 0; c < THREADS_MAX; c++) {
			char *end;
			unsigned long long value = strtoull(at, &end, 10);

			if (end == at)
				break;
			if (words[w].what == 0)
				columns->of[c].overflow = value;
			else if (words[w].what == 1)
				columns->of[c].max = (double)value;
			else
				columns->of[c].min = (double)value;
			at = end;
		}
	}
}

/* "000012 000345 000007": a value and a count a thread. */
static int read_bins(struct columns *columns, const char *line)
{
	char *end;
	long long value = strtoll(line, &end, 10);
	size_t count = 0;

	if (end == line || (*end && !isspace((unsigned char)*end)))
		return -EINVAL;
	for (const char *at = end; count < THREADS_MAX; at = end) {
		unsigned long long samples;

		at += strspn(at, " \t\r");
		if (!*at)
			break;
		if (!isdigit((unsigned char)*at))
			return -EINVAL;
		samples = strtoull(at, &end, 10);
		if (*end && !isspace((unsigned char)*end))
			return -EINVAL;
		if (!add_bin(&columns->of[count++], value, samples))
			return -ENOMEM;
	}
	if (count == 0 || (columns->count && columns->count != count))
		return -EINVAL;
	columns->count = count;
	return 0;
}

static int convert_text(
	const struct import_request *request, char *text, cJSON **results, char *error, size_t size)
{
	const char *unit = request->unit ? request->unit : "us";
	cJSON *json = begin_results(request, unit), *rows = cJSON_AddArrayToObject(json, "rows");
	struct columns *columns = calloc(1, sizeof(*columns));
	uint64_t overflow = 0, samples = 0;
	unsigned number = 0;
	int rc = columns ? 0 : -ENOMEM;
	char *line;

	for (size_t c = 0; columns && c < THREADS_MAX; c++)
		columns->of[c].min = columns->of[c].max = NAN;
	while (rc == 0 && (line = strsep(&text, "\n"))) {
		number++;
		if (strspn(line, " \t\r") == strlen(line) || line[0] == '/')
			continue;
		if (strchr(line, '#'))
			read_comment(columns, line);
		else if (line[0] != 'T') /* cyclictest's own status line */
			rc = read_bins(columns, line);
		if (rc == -EINVAL)
			fail(error, size,
				"%s:%u: \"%.40s\" is no line of a histogram; expected a value and a "
				"count, like \"12 345\"",
				request->path, number, line);
	}
	for (size_t c = 0; rc == 0 && c < columns->count; c++) {
		char name[32];

		overflow += columns->of[c].overflow;
		samples += columns->of[c].samples + columns->of[c].overflow;
		snprintf(name, sizeof(name), "thread %zu", c);
		if (columns->of[c].samples + columns->of[c].overflow)
			add_histogram(rows, name, &columns->of[c]);
	}
	if (rc == 0 && samples == 0)
		rc = fail(error, size, "%s: the histogram has no samples", request->path);
	add_cyclictest_notes(json, overflow);
	for (size_t c = 0; columns && c < THREADS_MAX; c++)
		free(columns->of[c].bins);
	free(columns);
	*results = json;
	return rc;
}

/* ----------------------------------------------------------------- convert */

static int keep_summary(const struct import_request *request, const char *text, size_t size,
	char **results, char *error, size_t error_size)
{
	struct results *parsed;
	int rc = results_parse(&parsed, request->path, text, size);

	if (rc != 0)
		snprintf(error, error_size, "%s", results_error(parsed));
	else
		*results = strdup(text);
	results_close(parsed);
	return rc == 0 && !*results ? -ENOMEM : rc;
}

int import_convert(const struct import_request *request, const char *text, size_t size,
	char **results, const char **format, char *error, size_t error_size)
{
	const char *first = text + strspn(text, " \t\r\n");
	bool is_json = *first == '{' || *first == '/';
	cJSON *file = is_json ? cJSON_ParseWithLength(text, size) : NULL, *json = NULL;
	char *copy = NULL;
	int rc;

	*results = NULL;
	error[0] = '\0';
	if (memchr(text, '\0', size)) {
		*format = "unknown";
		rc = fail(error, error_size, "%s: no text file", request->path);
	} else if (cJSON_GetObjectItem(file, "thread")) {
		*format = "cyclictest-json";
		rc = convert_cyclictest(request, file, &json, error, error_size);
	} else if (is_json) {
		*format = "results";
		rc = keep_summary(request, text, size, results, error, error_size);
	} else {
		*format = "histogram";
		copy = strdup(text);
		rc = copy ? convert_text(request, copy, &json, error, error_size) : -ENOMEM;
	}
	if (rc == 0 && json)
		*results = cJSON_Print(json);
	cJSON_Delete(json);
	cJSON_Delete(file);
	free(copy);
	if (rc == 0 && !*results)
		rc = -ENOMEM;
	if (rc == -ENOMEM)
		snprintf(error, error_size, "out of memory");
	return rc;
}
