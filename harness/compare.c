/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/compare.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/rows.h"
#include "harness/stats.h"

/* Everything that was read of one run. */
struct loaded_run {
	struct query_run *run;
	struct query_window *windows;
	struct query_metric *metrics;
	struct query_gate *gates;
	struct query_fact *facts;
	struct query_event *events;
	int window_count, metric_count, gate_count, fact_count, event_count;
	size_t system;
};

struct compare_loaded {
	struct loaded_run *runs;
	size_t count;
};

/* ------------------------------------------------------------------- load */

static int load_run(struct store *store, int64_t run_id, struct loaded_run *loaded)
{
	int rc = query_run(store, run_id, &loaded->run);

	if (rc < 0)
		return rc;
	if ((rc = loaded->window_count = query_windows(store, run_id, &loaded->windows)) < 0)
		return rc;
	if ((rc = loaded->metric_count = query_metrics(store, run_id, &loaded->metrics)) < 0)
		return rc;
	if ((rc = loaded->gate_count = query_gates(store, run_id, &loaded->gates)) < 0)
		return rc;
	if ((rc = loaded->fact_count = query_facts(store, run_id, &loaded->facts)) < 0)
		return rc;
	rc = loaded->event_count = query_events(store, run_id, &loaded->events);
	return rc < 0 ? rc : 0;
}

static const struct query_metric *find_metric(
	const struct loaded_run *run, int64_t window_id, const char *series, const char *name)
{
	for (int i = 0; i < run->metric_count; i++)
		if (run->metrics[i].window_id == window_id &&
			strcmp(run->metrics[i].name, name) == 0 &&
			(!series || strcmp(run->metrics[i].series, series) == 0))
			return &run->metrics[i];
	return NULL;
}

static double metric_value(
	const struct loaded_run *run, int64_t window_id, const char *series, const char *name)
{
	const struct query_metric *metric = find_metric(run, window_id, series, name);

	return metric ? metric->value : NAN;
}

/* ---------------------------------------------------------------- systems */

static size_t find_system(struct compare *compare, const struct loaded_run *run)
{
	struct compare_system *system;

	for (size_t i = 0; i < compare->system_count; i++)
		if (strcmp(compare->systems[i].name, run->run->system) == 0)
			return i;
	system = &compare->systems[compare->system_count++];
	*system = (struct compare_system){
		.name = run->run->system,
		.protection = "",
		.address_space = "",
		.version = run->run->image_version,
		.clock_ppm = NAN,
	};
	return compare->system_count - 1;
}

static void add_run_to_system(struct compare_system *system, const struct loaded_run *run)
{
	system->runs++;
	if (run->run->verdict != VERDICT_PASS)
		return;
	system->valid++;
	system->is_emulated |= run->run->emulated;
	system->protection = query_find_fact(run->facts, run->fact_count, "protection", "");
	system->address_space = query_find_fact(run->facts, run->fact_count, "address_space", "");
	for (int i = 0; i < run->gate_count; i++) {
		system->gates_passed += run->gates[i].verdict == GATE_VERDICT_PASS;
		system->gates_unknown += run->gates[i].verdict == GATE_VERDICT_UNKNOWN;
		system->gates_not_applicable +=
			run->gates[i].verdict == GATE_VERDICT_NOT_APPLICABLE;
	}
	for (int i = 0; i < run->window_count; i++) {
		double hz = metric_value(run, run->windows[i].id, NULL, "counter_hz");
		double ppm = metric_value(run, run->windows[i].id, NULL, "clock");

		if (hz > 0)
			system->counter_hz = hz;
		if (!isnan(ppm))
			system->clock_ppm = ppm;
	}
}

/* ------------------------------------------------------------------- rows */

static struct compare_row *find_row(struct compare *compare, const char *name)
{
	struct compare_row *grown;

	for (size_t i = 0; i < compare->row_count; i++)
		if (strcmp(compare->rows[i].name, name) == 0)
			return &compare->rows[i];
	grown = realloc(compare->rows, (compare->row_count + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	compare->rows = grown;
	grown = &compare->rows[compare->row_count];
	snprintf(grown->name, sizeof(grown->name), "%s", name);
	grown->cells = calloc(compare->system_count, sizeof(*grown->cells));
	if (!grown->cells)
		return NULL;
	compare->row_count++;
	return grown;
}

/* Which rows there are, in the order of the first run that has them. */
static int find_rows(struct compare *compare, const struct loaded_run *run)
{
	for (int w = 0; w < run->window_count; w++) {
		const struct query_window *window = &run->windows[w];

		if (rows_is_gate_bench((unsigned)window->bench))
			continue;
		for (int m = 0; m < run->metric_count; m++) {
			const struct query_metric *metric = &run->metrics[m];
			char name[96];

			if (metric->window_id != window->id || strcmp(metric->name, "p50") != 0 ||
				!rows_is_measured(metric->series))
				continue;
			rows_name(name, sizeof(name), window->name, window->phase, metric->series);
			if (!find_row(compare, name))
				return -ENOMEM;
		}
	}
	return 0;
}

/* A statistic of one row over the valid runs of one system. */
static double over_runs(const struct compare *compare, const char *row, size_t system,
	const char *statistic, double (*combine)(double *values, size_t count), unsigned *boots)
{
	const struct compare_loaded *loaded = compare->loaded;
	double *values = calloc(loaded->count + 1, sizeof(*values));
	double combined;
	size_t count = 0;

	if (!values)
		return NAN;
	for (size_t r = 0; r < loaded->count; r++) {
		const struct loaded_run *run = &loaded->runs[r];
		bool found = false;

		if (run->system != system || run->run->verdict != VERDICT_PASS)
			continue;
		for (int m = 0; !found && m < run->metric_count; m++) {
			const struct query_metric *metric = &run->metrics[m];
			char name[96] = "";

			for (int w = 0; w < run->window_count; w++)
				if (run->windows[w].id == metric->window_id)
					rows_name(name, sizeof(name), run->windows[w].name,
						run->windows[w].phase, metric->series);
			if (strcmp(name, row) != 0)
				continue;
			if (strcmp(statistic, "floor") == 0) {
				values[count++] =
					metric_value(run, metric->window_id, NULL, "floor");
				found = true;
			} else if (strcmp(metric->name, statistic) == 0) {
				values[count++] = metric->value;
				found = true;
			}
		}
	}
	*boots = (unsigned)count;
	combined = count ? combine(values, count) : NAN;
	free(values);
	return combined;
}

static double highest(double *values, size_t count)
{
	double best = values[0];

	for (size_t i = 1; i < count; i++)
		best = fmax(best, values[i]);
	return best;
}

static double sum(double *values, size_t count)
{
	double total = 0;

	for (size_t i = 0; i < count; i++)
		total += values[i];
	return total;
}

/* Why a system that ran has no such row. */
static const char *find_unsupported(
	const struct compare *compare, const struct compare_row *row, size_t system)
{
	for (size_t r = 0; r < compare->loaded->count; r++) {
		const struct loaded_run *run = &compare->loaded->runs[r];

		if (run->system != system)
			continue;
		for (int e = 0; e < run->event_count; e++) {
			const char *text = run->events[e].text;
			const char *colon = strstr(text, ": ");
			size_t length = colon ? (size_t)(colon - text) : 0;

			if (strcmp(run->events[e].kind, "unsupported") == 0 && colon &&
				strncmp(row->name, text, length) == 0 &&
				(row->name[length] == ' ' || row->name[length] == '\0'))
				return colon + 2;
		}
	}
	return NULL;
}

static void fill_cell(struct compare *compare, struct compare_row *row, size_t system)
{
	struct compare_cell *cell = &row->cells[system];
	unsigned boots;

	cell->batch = over_runs(compare, row->name, system, "batch", stats_median, &boots);
	if (!(cell->batch >= 1)) /* runs of before this was stored */
		cell->batch = 1;
	cell->floor = over_runs(compare, row->name, system, "floor", stats_median, &boots);
	cell->n = over_runs(compare, row->name, system, "n", stats_median, &boots);
	cell->p50 = over_runs(compare, row->name, system, "p50", stats_median, &boots);
	cell->p99 = over_runs(compare, row->name, system, "p99", stats_median, &boots);
	cell->p999 = over_runs(compare, row->name, system, "p99.9", stats_median, &boots);
	cell->missed = over_runs(compare, row->name, system, "missed", sum, &boots);
	cell->early = over_runs(compare, row->name, system, "early", sum, &boots);
	cell->max = over_runs(compare, row->name, system, "max", highest, &boots);
	cell->floor /= cell->batch;
	cell->p50 /= cell->batch;
	cell->p99 /= cell->batch;
	cell->p999 /= cell->batch;
	cell->max /= cell->batch;
	cell->boots = boots;
	if (boots == 0)
		cell->unsupported = find_unsupported(compare, row, system);
}

int compare_init(struct compare *compare, struct store *store, const int64_t *run_ids, size_t count)
{
	int rc = 0;

	*compare = (struct compare){.store = store, .run_count = count};
	compare->loaded = calloc(1, sizeof(*compare->loaded));
	compare->runs = calloc(count + 1, sizeof(struct query_run *));
	compare->systems = calloc(count + 1, sizeof(*compare->systems));
	if (compare->loaded)
		compare->loaded->runs = calloc(count + 1, sizeof(*compare->loaded->runs));
	if (!compare->runs || !compare->systems || !compare->loaded || !compare->loaded->runs)
		return -ENOMEM;
	for (size_t i = 0; rc == 0 && i < count; i++) {
		struct loaded_run *run = &compare->loaded->runs[i];

		compare->loaded->count++;
		rc = load_run(store, run_ids[i], run);
		if (rc != 0)
			break;
		compare->runs[i] = run->run;
		run->system = find_system(compare, run);
		add_run_to_system(&compare->systems[run->system], run);
	}
	for (size_t i = 0; rc == 0 && i < compare->loaded->count; i++)
		if (compare->loaded->runs[i].run->verdict == VERDICT_PASS)
			rc = find_rows(compare, &compare->loaded->runs[i]);
	for (size_t r = 0; rc == 0 && r < compare->row_count; r++)
		for (size_t s = 0; s < compare->system_count; s++)
			fill_cell(compare, &compare->rows[r], s);
	return rc;
}

void compare_fini(struct compare *compare)
{
	for (size_t i = 0; compare->loaded && i < compare->loaded->count; i++) {
		struct loaded_run *run = &compare->loaded->runs[i];

		free(run->run);
		free(run->windows);
		free(run->metrics);
		free(run->gates);
		free(run->facts);
		free(run->events);
	}
	for (size_t i = 0; i < compare->row_count; i++)
		free(compare->rows[i].cells);
	if (compare->loaded)
		free(compare->loaded->runs);
	free(compare->loaded);
	free(compare->runs);
	free(compare->systems);
	free(compare->rows);
	*compare = (struct compare){0};
}
