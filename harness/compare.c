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
	struct query_figures *figures;
	struct query_gate *gates;
	struct query_fact *facts;
	struct query_event *events;
	int figure_count, gate_count, fact_count, event_count;
	double clock_ppm;
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
	if ((rc = loaded->figure_count = query_figures(store, run_id, &loaded->figures)) < 0)
		return rc;
	if ((rc = query_metric(store, run_id, "clock", &loaded->clock_ppm)) < 0)
		return rc;
	if ((rc = loaded->gate_count = query_gates(store, run_id, &loaded->gates)) < 0)
		return rc;
	if ((rc = loaded->fact_count = query_facts(store, run_id, &loaded->facts)) < 0)
		return rc;
	rc = loaded->event_count = query_events(store, run_id, &loaded->events);
	return rc < 0 ? rc : 0;
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
		.mode = "",
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
	system->mode = query_find_fact(run->facts, run->fact_count, "mode", "");
	system->address_space = query_find_fact(run->facts, run->fact_count, "address_space", "");
	for (int i = 0; i < run->gate_count; i++) {
		system->gates_passed += run->gates[i].verdict == GATE_VERDICT_PASS;
		system->gates_unknown += run->gates[i].verdict == GATE_VERDICT_UNKNOWN;
		system->gates_not_applicable +=
			run->gates[i].verdict == GATE_VERDICT_NOT_APPLICABLE;
	}
	if (run->figure_count > 0)
		system->counter_hz = run->figures[0].counter_hz;
	if (!isnan(run->clock_ppm))
		system->clock_ppm = run->clock_ppm;
	system->last_run_id = run->run->id;
	system->facts = run->facts;
	system->fact_count = run->fact_count;
}

/* ------------------------------------------------------------------- rows */

static struct compare_row *find_row(
	struct compare *compare, const char *name, const struct query_figures *like)
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
	grown->like = like;
	grown->cells = calloc(compare->system_count, sizeof(*grown->cells));
	if (!grown->cells)
		return NULL;
	compare->row_count++;
	return grown;
}

/* The row's name that a series has; false: it is none. */
static bool name_row(const struct query_figures *figures, char *name, size_t size)
{
	if (!rows_is_compared((unsigned)figures->bench, figures->series))
		return false;
	rows_name_figures(name, size, figures);
	return true;
}

/* Which rows there are, in the order of the first run that has them. */
static int find_rows(struct compare *compare, const struct loaded_run *run)
{
	for (int i = 0; i < run->figure_count; i++) {
		char name[96];

		struct compare_row *row;

		if (!name_row(&run->figures[i], name, sizeof(name)))
			continue;
		row = find_row(compare, name, &run->figures[i]);
		if (!row)
			return -ENOMEM;
		row->unit = rows_unit(run->figures[i].series);
	}
	return 0;
}

size_t compare_collect(const struct compare *compare, const struct compare_row *row, size_t system,
	const struct query_figures **found)
{
	size_t count = 0;

	for (size_t r = 0; r < compare->loaded->count; r++) {
		const struct loaded_run *run = &compare->loaded->runs[r];
		bool is_found = run->system != system || run->run->verdict != VERDICT_PASS;

		for (int i = 0; !is_found && i < run->figure_count; i++) {
			is_found = rows_is_same(&run->figures[i], row->like);
			if (is_found)
				found[count++] = &run->figures[i];
		}
	}
	return count;
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

/* One figure of a row over its runs. */
struct over_runs {
	const struct query_figures **found;
	double *values; /* room for one of each */
	size_t count;
};

static void take(struct over_runs *runs, size_t offset)
{
	for (size_t i = 0; i < runs->count; i++)
		memcpy(&runs->values[i], (const char *)runs->found[i] + offset, sizeof(double));
}

static double median_over(struct over_runs *runs, size_t offset)
{
	take(runs, offset);
	return stats_median(runs->values, runs->count);
}

static double sum_over(struct over_runs *runs, size_t offset)
{
	double total = 0;

	take(runs, offset);
	for (size_t i = 0; i < runs->count; i++)
		total += runs->values[i];
	return total;
}

static double highest_over(struct over_runs *runs, size_t offset)
{
	double best = NAN;

	take(runs, offset);
	for (size_t i = 0; i < runs->count; i++)
		best = fmax(best, runs->values[i]);
	return best;
}

static double lowest_over(struct over_runs *runs, size_t offset)
{
	double best = NAN;

	take(runs, offset);
	for (size_t i = 0; i < runs->count; i++)
		best = fmin(best, runs->values[i]);
	return best;
}

#define FIGURE(member) offsetof(struct query_figures, member)

static int fill_cell(struct compare *compare, struct compare_row *row, size_t system)
{
	struct compare_cell *cell = &row->cells[system];
	struct over_runs runs = {
		.found = calloc(compare->loaded->count + 1, sizeof(*runs.found)),
		.values = calloc(compare->loaded->count + 1, sizeof(*runs.values)),
	};
	int rc = runs.found && runs.values ? 0 : -ENOMEM;

	if (rc == 0)
		runs.count = compare_collect(compare, row, system, runs.found);
	cell->boots = (unsigned)runs.count;
	if (rc == 0 && runs.count > 0) {
		cell->batch = median_over(&runs, FIGURE(batch));
		cell->floor = median_over(&runs, FIGURE(floor)) / cell->batch;
		cell->bracket = median_over(&runs, FIGURE(bracket));
		cell->n = median_over(&runs, FIGURE(n));
		cell->min = lowest_over(&runs, FIGURE(min)) / cell->batch;
		cell->mean = median_over(&runs, FIGURE(mean)) / cell->batch;
		cell->sd = median_over(&runs, FIGURE(sd)) / cell->batch;
		cell->p50 = median_over(&runs, FIGURE(p50)) / cell->batch;
		cell->p90 = median_over(&runs, FIGURE(p90)) / cell->batch;
		cell->p95 = median_over(&runs, FIGURE(p95)) / cell->batch;
		cell->p99 = median_over(&runs, FIGURE(p99)) / cell->batch;
		cell->p999 = median_over(&runs, FIGURE(p999)) / cell->batch;
		cell->max = highest_over(&runs, FIGURE(max)) / cell->batch;
		cell->missed = sum_over(&runs, FIGURE(missed));
		cell->early = sum_over(&runs, FIGURE(early));
	} else if (rc == 0) {
		cell->unsupported = find_unsupported(compare, row, system);
	}
	free(runs.found);
	free(runs.values);
	return rc;
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
		for (size_t s = 0; rc == 0 && s < compare->system_count; s++)
			rc = fill_cell(compare, &compare->rows[r], s);
	return rc;
}

size_t compare_events(const struct compare *compare, size_t run, const struct query_event **events)
{
	*events = compare->loaded->runs[run].events;
	return (size_t)compare->loaded->runs[run].event_count;
}

size_t compare_gates(const struct compare *compare, size_t run, const struct query_gate **gates)
{
	*gates = compare->loaded->runs[run].gates;
	return (size_t)compare->loaded->runs[run].gate_count;
}

void compare_fini(struct compare *compare)
{
	for (size_t i = 0; compare->loaded && i < compare->loaded->count; i++) {
		struct loaded_run *run = &compare->loaded->runs[i];

		free(run->run);
		free(run->figures);
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
