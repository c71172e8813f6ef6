/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Systems side by side, from the valid runs of a selection.  Runs whose gates
 * failed are named with their reason and give no number.  Between boots the
 * median of each statistic is shown, of maxima the highest.
 *
 * Errors: 0 or a negative errno of the store, whose store_error() has the
 * text.  compare_fini() in every case.
 */
#ifndef SAMEBOARD_HARNESS_COMPARE_H
#define SAMEBOARD_HARNESS_COMPARE_H

#include <cjson/cJSON.h>

#include "db/query.h"

/*
 * One system in one row; values are in counts of that system's counter, and of
 * one operation: sums of a batch are divided.
 */
struct compare_cell {
	unsigned boots;		 /* valid runs that have this row; 0: none */
	const char *unsupported; /* why the system has no such row; NULL if it has */
	double floor;
	double bracket; /* within which its releases lie; NaN: it has none, or it is not known */
	double n;	/* samples of one run */
	double batch;	/* operations that a sample is the mean of; 1: no batch */
	double min, mean, sd; /* NaN where an older run has none */
	double p50, p90, p95, p99, p999, max;
	double missed, early; /* of all runs */
};

struct compare_row {
	char name[96];			  /* "wake.idle aligned", "mutex.pair plain" */
	const struct query_figures *like; /* of the first run that has it */
	struct compare_cell *cells;	  /* one a system */
	const char *unit;		  /* of its values; NULL: counts, shown as us */
};

struct compare_system {
	const char *name;
	const char *protection, *address_space, *version;
	const char *mode; /* of its rows: "S-flat", "U+MMU thread" */
	double counter_hz;
	double clock_ppm; /* NaN: not audited */
	bool is_emulated;
	unsigned runs, valid;
	int64_t last_run_id; /* of the valid ones; 0: none, and no facts */
	const struct query_fact *facts;
	int fact_count;
	unsigned gates_passed, gates_not_applicable, gates_unknown; /* of valid runs */
};

struct compare {
	struct store *store;
	struct query_run **runs; /* the selection, oldest first */
	size_t run_count;
	struct compare_system *systems;
	size_t system_count;
	struct compare_row *rows;
	size_t row_count;
	struct compare_loaded *loaded; /* what the strings live in */
};

int compare_init(
	struct compare *compare, struct store *store, const int64_t *run_ids, size_t count);
void compare_fini(struct compare *compare);

/*
 * A row in the valid runs of one system: how many have it.  `found` has room for
 * all runs; borrowed like the arrays of the next two, whose `run` is an index.
 */
size_t compare_collect(const struct compare *compare, const struct compare_row *row, size_t system,
	const struct query_figures **found);
size_t compare_events(const struct compare *compare, size_t run, const struct query_event **events);
size_t compare_gates(const struct compare *compare, size_t run, const struct query_gate **gates);

/* For people; free() it.  NULL without memory. */
char *compare_to_text(const struct compare *compare);
cJSON *compare_to_json(const struct compare *compare);

#endif
