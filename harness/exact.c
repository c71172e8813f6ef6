/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/exact.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/rows.h"

#define EXACT_SERIES "instret"

static int exact_fail(struct exact *exact, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int exact_fail(struct exact *exact, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(exact->error, sizeof(exact->error), format, args);
	va_end(args);
	return error;
}

/* What was read of one run. */
struct exact_run {
	struct query_run *run;
	struct query_window *windows;
	struct query_metric *metrics;
	struct query_fact *facts;
	int window_count, metric_count, fact_count;
	double rate; /* instret for each instruction */
};

static void free_run(struct exact_run *run)
{
	free(run->run);
	free(run->windows);
	free(run->metrics);
	free(run->facts);
}

/* Whether it counts: valid, in repeatable time, with an exact count. */
static int check_run(struct exact *exact, struct exact_run *run, int64_t id)
{
	const char *state = query_find_fact(run->facts, run->fact_count, "instret", "unsupported");
	const char *time = query_find_fact(run->facts, run->fact_count, "time", "real");

	run->rate = strtod(
		query_find_fact(run->facts, run->fact_count, "instret_per_instruction", "0"), NULL);
	if (run->run->verdict != VERDICT_PASS)
		return exact_fail(exact, -EINVAL, "run %lld is no valid run: %s: %s", (long long)id,
			verdict_name(run->run->verdict), run->run->reason);
	if (strcmp(time, "icount") != 0)
		return exact_fail(exact, -EINVAL,
			"run %lld was not in repeatable time (icount): its instructions say "
			"nothing exact",
			(long long)id);
	if (!(run->rate > 0))
		return exact_fail(exact, -EINVAL, "run %lld counts no instructions: %s",
			(long long)id, state);
	return 0;
}

static int load_run(struct exact *exact, struct store *store, int64_t id, struct exact_run *run)
{
	int rc;

	*run = (struct exact_run){0};
	rc = query_run(store, id, &run->run);
	if (rc == 0)
		rc = run->window_count = query_windows(store, id, &run->windows);
	if (rc >= 0)
		rc = run->metric_count = query_metrics(store, id, &run->metrics);
	if (rc >= 0)
		rc = run->fact_count = query_facts(store, id, &run->facts);
	if (rc < 0)
		return exact_fail(exact, rc, "%s", store_error(store));
	return check_run(exact, run, id);
}

/* In instructions; NaN where the window has none. */
static double find_median(
	const struct exact_run *run, const struct query_window *window, const char *metric)
{
	for (int i = 0; window && i < run->metric_count; i++)
		if (run->metrics[i].window_id == window->id &&
			strcmp(run->metrics[i].series, EXACT_SERIES) == 0 &&
			strcmp(run->metrics[i].name, metric) == 0)
			return run->metrics[i].value;
	return NAN;
}

/* The window that asks the same. */
static const struct query_window *find_window(
	const struct exact_run *run, const struct query_window *like)
{
	for (int i = 0; i < run->window_count; i++) {
		const struct query_window *window = &run->windows[i];

		if (window->bench == like->bench && strcmp(window->phase, like->phase) == 0 &&
			strcmp(window->load, like->load) == 0 && window->n == like->n &&
			window->period_us == like->period_us && window->seed == like->seed)
			return window;
	}
	return NULL;
}

static int compare_runs(
	struct exact *exact, const struct exact_run *baseline, const struct exact_run *run)
{
	struct exact_row *rows = realloc(exact->rows,
		(exact->row_count + (size_t)baseline->window_count + 1) * sizeof(*rows));

	if (!rows)
		return exact_fail(exact, -ENOMEM, "out of memory");
	exact->rows = rows;
	for (int i = 0; i < baseline->window_count; i++) {
		const struct query_window *window = &baseline->windows[i];
		const struct query_window *same = find_window(run, window);
		double before = find_median(baseline, window, "p50");
		struct exact_row *row = &exact->rows[exact->row_count];

		if (isnan(before))
			continue;
		*row = (struct exact_row){.run_id = run->run->id,
			.before = before / baseline->rate,
			.after = find_median(run, same, "p50") / run->rate,
			.n = find_median(baseline, window, "n")};
		rows_name(row->name, sizeof(row->name), window->name, window->phase, "latency");
		exact->changed += !(row->after == row->before);
		exact->row_count++;
	}
	return 0;
}

int exact_init(struct exact *exact, struct store *store, int64_t baseline_id,
	const int64_t *run_ids, size_t count)
{
	struct exact_run baseline, run;
	int rc;

	*exact = (struct exact){.baseline_id = baseline_id};
	rc = load_run(exact, store, baseline_id, &baseline);
	for (size_t i = 0; rc == 0 && i < count; i++) {
		if (run_ids[i] == baseline_id)
			continue;
		rc = load_run(exact, store, run_ids[i], &run);
		if (rc == 0)
			rc = compare_runs(exact, &baseline, &run);
		free_run(&run);
	}
	free_run(&baseline);
	if (rc == 0 && exact->row_count == 0)
		rc = exact_fail(exact, -EINVAL,
			"there is nothing to hold against run %lld: no other run, or no window "
			"that counts instructions",
			(long long)baseline_id);
	return rc;
}

void exact_fini(struct exact *exact)
{
	free(exact->rows);
	exact->rows = NULL;
	exact->row_count = 0;
}

static const char *judge(const struct exact_row *row)
{
	if (isnan(row->after))
		return "MISSING";
	return row->after == row->before ? "equal" : "REGRESSION";
}

char *exact_to_text(const struct exact *exact)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out,
		"\nEXACT rule against run %lld: median of retired instructions after warm-up\n",
		(long long)exact->baseline_id);
	for (size_t i = 0; i < exact->row_count; i++) {
		const struct exact_row *row = &exact->rows[i];

		fprintf(out, "  run %-4lld %-20s n %-5.0f %6.0f ->", (long long)row->run_id,
			row->name, row->n, row->before);
		if (isnan(row->after))
			fprintf(out, "      -         %s\n", judge(row));
		else
			fprintf(out, " %6.0f  %+5.0f  %s\n", row->after, row->after - row->before,
				judge(row));
	}
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

cJSON *exact_to_json(const struct exact *exact)
{
	cJSON *json = cJSON_CreateObject();
	cJSON *rows = cJSON_AddArrayToObject(json, "rows");

	cJSON_AddNumberToObject(json, "baseline", (double)exact->baseline_id);
	cJSON_AddNumberToObject(json, "changed", (double)exact->changed);
	for (size_t i = 0; i < exact->row_count; i++) {
		const struct exact_row *row = &exact->rows[i];
		cJSON *item = cJSON_CreateObject();

		cJSON_AddNumberToObject(item, "run", (double)row->run_id);
		cJSON_AddStringToObject(item, "row", row->name);
		cJSON_AddNumberToObject(item, "n", row->n);
		cJSON_AddNumberToObject(item, "before_instructions", row->before);
		if (!isnan(row->after))
			cJSON_AddNumberToObject(item, "after_instructions", row->after);
		cJSON_AddStringToObject(item, "verdict", judge(row));
		cJSON_AddItemToArray(rows, item);
	}
	return json;
}
