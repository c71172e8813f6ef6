/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traps: systems that are wrong on purpose, and what must tell them from clean
 * ones.  Either a gate of the run fails, or, where nothing but a comparison can
 * show it, a row lies above that of a clean system of the same job by as much
 * as was planted.  Judged from what is stored.
 */
#ifndef SAMEBOARD_HARNESS_TRAP_H
#define SAMEBOARD_HARNESS_TRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/query.h"

#define TRAP_EXPECTED                                                                              \
	"the id of a gate, or \"ROW/STATISTIC is LEAST to MOST us above SYSTEM\" "                 \
	"(\"wake.idle aligned/p50 is 4 to 6 us above baremetal\")"

struct trap {
	const char *system;
	const char *expected; /* as written, one of the two of TRAP_EXPECTED */
	bool is_rise;	      /* else `expected` is the gate */
	char row[96];	      /* as rows_name_figures() has it */
	char statistic[8];    /* "p50" */
	char clean[64];	      /* the system that it is above of */
	double least_us, most_us;
};

/* Fills what follows `expected`; -EINVAL: it is neither. */
int trap_parse(struct trap *trap);

enum trap_outcome {
	TRAP_MISSED,
	TRAP_CAUGHT,
	TRAP_NOT_JUDGED, /* these runs cannot show it, and say nothing about the instrument */
};

/* What was found, with a sentence for people. */
struct trap_finding {
	enum trap_outcome outcome;
	char text[320];
};

/* Whether the trap's gate failed in this run.  0, or the store's negative errno. */
int trap_judge_run(
	const struct trap *trap, struct store *store, int64_t run_id, struct trap_finding *finding);

/*
 * The job's valid runs of the trap's system against those of the clean one,
 * medians over runs.  Where clean runs differ among themselves by as much as
 * the least that was planted nothing is caught.  Emulated runs are judged only
 * in repeatable time: else their microseconds mean nothing.  As above.
 */
int trap_judge_rise(const struct trap *trap, struct store *store, int64_t job_id, bool is_icount,
	struct trap_finding *finding);

#endif
