/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs held against a baseline: by the EXACT rule where time repeats or one
 * run was named, else over runs.  The same for who runs a job here and for who
 * gave it to the daemon.  No errors but against->error; one thread.
 */
#ifndef SAMEBOARD_HARNESS_AGAINST_H
#define SAMEBOARD_HARNESS_AGAINST_H

#include <cjson/cJSON.h>

#include "harness/baseline.h"
#include "harness/change.h"
#include "harness/exact.h"

struct against {
	bool is_exact;
	struct exact exact;
	struct change change;
	int exit_code;	 /* 0; 1: a regression; 2: they cannot be compared so; 3: the store */
	char error[420]; /* "" if they were judged */
};

/*
 * The exit code.  A baseline that is NULL or without runs finds nothing and is 0.
 * against_fini() in every case.
 */
int against_init(struct against *against, struct store *store, const struct baseline *baseline,
	const int64_t *ids, size_t count);
void against_fini(struct against *against);

/* For people; free() it.  NULL where nothing was judged, and without memory. */
char *against_to_text(const struct against *against);

/* Adds "exact" or "change", where there was something to judge. */
void against_add_json(const struct against *against, cJSON *json);

#endif
