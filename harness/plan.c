/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Measured on the virtual board; a real one is not slower by much. */
#define BOOT_S	     15
#define CARD_WRITE_S 10

static const char *const role_names[] = {
	[PLAN_ROLE_SLEEP] = "sleep",
	[PLAN_ROLE_REFERENCE_FIRST] = "reference-first",
	[PLAN_ROLE_AUDIT] = "audit",
	[PLAN_ROLE_MEASURE] = "measure",
	[PLAN_ROLE_REFERENCE_LAST] = "reference-last",
};

/* ---------------------------------------------------------------- windows */

static struct plan_window default_window(unsigned bench_id, enum plan_role role)
{
	const struct catalogue_bench *bench = catalogue_find_id(bench_id);

	return (struct plan_window){
		.role = role,
		.window = {.bench = bench,
			.name = bench->name,
			.n = bench->n,
			.duration_ms = bench->duration_ms,
			.load = bench->load,
			.period_us = 1000,
			.settle_ms = 200,
			.seed = 1},
	};
}

/* The suite's own window of a bench that the plan always has, else the default. */
static struct plan_window named_window(
	const struct suite *suite, unsigned bench_id, enum plan_role role)
{
	for (size_t i = 0; i < suite->window_count; i++)
		if (suite->windows[i].bench->id == bench_id)
			return (struct plan_window){suite->windows[i], role};
	return default_window(bench_id, role);
}

static bool is_always_there(const struct suite_window *window)
{
	return window->bench->id == CATALOGUE_SLEEP_ID || window->bench->id == CATALOGUE_AUDIT_ID ||
	       window->bench->id == CATALOGUE_REFERENCE_ID;
}

static int plan_windows(struct plan *plan, const struct suite *suite)
{
	struct plan_window *windows = calloc(suite->window_count + 4, sizeof(*windows));
	size_t count = 0;

	if (!windows)
		return -ENOMEM;
	windows[count++] = named_window(suite, CATALOGUE_SLEEP_ID, PLAN_ROLE_SLEEP);
	/* Where time follows from instructions, fixed work shows nothing, and takes minutes. */
	if (suite->time == SUITE_TIME_REAL)
		windows[count++] =
			named_window(suite, CATALOGUE_REFERENCE_ID, PLAN_ROLE_REFERENCE_FIRST);
	windows[count++] = named_window(suite, CATALOGUE_AUDIT_ID, PLAN_ROLE_AUDIT);
	for (size_t i = 0; i < suite->window_count; i++)
		if (!is_always_there(&suite->windows[i]))
			windows[count++] =
				(struct plan_window){suite->windows[i], PLAN_ROLE_MEASURE};
	if (suite->time == SUITE_TIME_REAL)
		windows[count++] =
			named_window(suite, CATALOGUE_REFERENCE_ID, PLAN_ROLE_REFERENCE_LAST);
	plan->windows = windows;
	plan->window_count = count;
	return 0;
}

/* Window, settling, floors and the pull of raw samples at 115200 baud. */
static unsigned window_ms(const struct suite_window *window)
{
	const struct catalogue_bench *bench = window->bench;
	unsigned samples_ms = window->duration_ms * (bench->parts ? bench->parts : 1);

	if (samples_ms == 0 && bench->sample_us)
		samples_ms = (unsigned)((uint64_t)window->n * bench->sample_us / 1000);
	else if (samples_ms == 0 && bench->has_grid)
		samples_ms = (unsigned)((uint64_t)window->n * window->period_us * 12 / 10 / 1000);
	else if (samples_ms == 0)
		samples_ms = window->n / 10;
	return samples_ms + window->settle_ms + 500 + (window->n + 2400) * 4 / 11;
}

/* ------------------------------------------------------------------- runs */

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u; /* splitmix64 */

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Boots of a system are counted in the order in which they come. */
static void number_boots(struct plan_run *runs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		runs[i].boot = 1;
		for (size_t k = 0; k < i; k++)
			runs[i].boot += strcmp(runs[k].system, runs[i].system) == 0;
	}
}

static int plan_runs(struct plan *plan, const char *const *systems, size_t system_count,
	unsigned boots, const char *golden, uint64_t seed)
{
	struct plan_run *runs = calloc(system_count * boots + 3, sizeof(*runs));
	size_t count = 0;

	if (!runs)
		return -ENOMEM;
	if (golden)
		runs[count++] = (struct plan_run){.system = golden, .is_golden = true};
	for (unsigned boot = 1; boot <= boots; boot++) {
		size_t first = count;

		for (size_t i = 0; i < system_count; i++)
			runs[count++] = (struct plan_run){.system = systems[i]};
		for (size_t left = system_count; left > 1; left--) {
			size_t pick = first + next_random(&seed) % left;
			struct plan_run swapped = runs[pick];

			runs[pick] = runs[first + left - 1];
			runs[first + left - 1] = swapped;
		}
	}
	if (golden)
		runs[count++] = (struct plan_run){.system = golden, .is_golden = true};
	number_boots(runs, count);
	for (size_t i = 0; i < count; i++) {
		runs[i].card_write = i == 0 || strcmp(runs[i].system, runs[i - 1].system) != 0;
		plan->card_writes += runs[i].card_write;
	}
	plan->runs = runs;
	plan->run_count = count;
	return 0;
}

int plan_init(struct plan *plan, const struct suite *suite, const char *const *systems,
	size_t system_count, unsigned boots, uint64_t seed)
{
	unsigned total_ms = 0;
	int rc;

	*plan = (struct plan){0};
	if (!systems) {
		systems = (const char *const *)suite->systems;
		system_count = suite->system_count;
	}
	rc = plan_windows(plan, suite);
	if (rc == 0)
		rc = plan_runs(plan, systems, system_count, boots ? boots : suite->boots,
			suite->golden, seed);
	if (rc != 0)
		return rc;
	for (size_t i = 0; i < plan->window_count; i++)
		total_ms += window_ms(&plan->windows[i].window);
	plan->run_s = BOOT_S + total_ms / 1000;
	if (suite->time == SUITE_TIME_REAL && plan->run_s < suite->soak_s)
		plan->run_s = suite->soak_s;
	plan->total_s = plan->run_s * (unsigned)plan->run_count + plan->card_writes * CARD_WRITE_S;
	return 0;
}

void plan_set_cards(struct plan *plan,
	struct plan_card (*card_of)(void *context, const char *system), void *context)
{
	const char *held = NULL;

	plan->total_s -= plan->card_writes * CARD_WRITE_S;
	plan->card_writes = 0;
	for (size_t i = 0; i < plan->run_count; i++) {
		struct plan_card card = card_of(context, plan->runs[i].system);

		plan->runs[i].card_write = !held || strcmp(held, card.sha256) != 0;
		plan->card_writes += plan->runs[i].card_write;
		held = card.is_spent ? NULL : card.sha256;
	}
	plan->total_s += plan->card_writes * CARD_WRITE_S;
}

void plan_drop_cards(struct plan *plan)
{
	for (size_t i = 0; i < plan->run_count; i++)
		plan->runs[i].card_write = false;
	plan->total_s -= plan->card_writes * CARD_WRITE_S;
	plan->card_writes = 0;
}

void plan_fini(struct plan *plan)
{
	free(plan->windows);
	free(plan->runs);
	*plan = (struct plan){0};
}

/* ----------------------------------------------------------------- output */

char *plan_to_text(const struct plan *plan, const struct suite *suite)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out,
		"plan of suite %s: %zu run%s, %u card write%s, about %u min %02u s "
		"(%u s a run)\n",
		suite->name, plan->run_count, plan->run_count == 1 ? "" : "s", plan->card_writes,
		plan->card_writes == 1 ? "" : "s", plan->total_s / 60, plan->total_s % 60,
		plan->run_s);
	fprintf(out, "runs:");
	for (size_t i = 0; i < plan->run_count; i++)
		fprintf(out, " %s#%u%s", plan->runs[i].system, plan->runs[i].boot,
			plan->runs[i].is_golden ? " (golden)" : "");
	fprintf(out, "\nwindows of each run:\n");
	for (size_t i = 0; i < plan->window_count; i++) {
		const struct suite_window *w = &plan->windows[i].window;

		fprintf(out, "  %2zu  %-16s %-15s load %-5s", i + 1, w->name,
			role_names[plan->windows[i].role], catalogue_load_name(w->load));
		if (w->n)
			fprintf(out, " n %u", w->n);
		if (w->duration_ms)
			fprintf(out, " %g s", w->duration_ms / 1e3);
		if (w->bench->has_grid)
			fprintf(out, " every %u us, %s", w->period_us, suite_phase_name(w->phase));
		fputc('\n', out);
	}
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

cJSON *plan_to_json(const struct plan *plan, const struct suite *suite)
{
	cJSON *json = cJSON_CreateObject();
	cJSON *runs = cJSON_AddArrayToObject(json, "runs");
	cJSON *windows = cJSON_AddArrayToObject(json, "windows");

	cJSON_AddStringToObject(json, "suite", suite->name);
	cJSON_AddNumberToObject(json, "card_writes", plan->card_writes);
	cJSON_AddNumberToObject(json, "run_s", plan->run_s);
	cJSON_AddNumberToObject(json, "total_s", plan->total_s);
	for (size_t i = 0; i < plan->run_count; i++) {
		cJSON *run = cJSON_CreateObject();

		cJSON_AddStringToObject(run, "system", plan->runs[i].system);
		cJSON_AddNumberToObject(run, "boot", plan->runs[i].boot);
		cJSON_AddBoolToObject(run, "card_write", plan->runs[i].card_write);
		cJSON_AddBoolToObject(run, "golden", plan->runs[i].is_golden);
		cJSON_AddItemToArray(runs, run);
	}
	for (size_t i = 0; i < plan->window_count; i++) {
		const struct suite_window *w = &plan->windows[i].window;
		cJSON *window = cJSON_CreateObject();

		cJSON_AddNumberToObject(window, "number", (double)i + 1);
		cJSON_AddStringToObject(window, "bench", w->name);
		cJSON_AddStringToObject(window, "role", role_names[plan->windows[i].role]);
		cJSON_AddStringToObject(window, "load", catalogue_load_name(w->load));
		cJSON_AddNumberToObject(window, "n", w->n);
		cJSON_AddNumberToObject(window, "duration_ms", w->duration_ms);
		if (w->bench->has_grid) {
			cJSON_AddNumberToObject(window, "period_us", w->period_us);
			cJSON_AddStringToObject(window, "phase", suite_phase_name(w->phase));
		}
		cJSON_AddItemToArray(windows, window);
	}
	return json;
}
