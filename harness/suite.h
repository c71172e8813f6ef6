/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Suites: which systems are booted how often, which windows are measured, and
 * which rows are primary.  JSON with comments, see harness/schema/suite.json.
 *
 * Errors: 0 or a negative errno, text in suite_error() ("FILE:LINE: KEY: ...").
 * Everything in the struct lives until suite_close(); one thread a suite.
 */
#ifndef SAMEBOARD_HARNESS_SUITE_H
#define SAMEBOARD_HARNESS_SUITE_H

#include "harness/catalogue.h"
#include "harness/document.h"
#include "harness/trap.h"

enum suite_phase {
	SUITE_PHASE_ALIGNED,   /* deadlines on a tick */
	SUITE_PHASE_ARBITRARY, /* seeded random phase */
	SUITE_PHASE_BOTH,      /* in the file only: it becomes two windows */
};

/* The board's clock that a suite is for; the words are those of a lab file. */
enum suite_time {
	SUITE_TIME_REAL,
	SUITE_TIME_ICOUNT,
};

/* One window to measure; `both` phases are two entries already. */
struct suite_window {
	const struct catalogue_bench *bench;
	const char *name; /* bench->name */
	uint32_t n;	  /* 1..100000, or 0 where the bench runs for a time */
	uint32_t period_us;
	enum catalogue_load load;
	uint32_t settle_ms;
	enum suite_phase phase; /* ALIGNED or ARBITRARY; meaningless without a grid */
	uint32_t duration_ms;
	uint32_t seed;
	const struct document_node *node;
};

/* "wake.cpu/p99": fixed beforehand, at most SUITE_PRIMARY_MAX. */
struct suite_primary {
	const struct catalogue_bench *bench;
	const char *statistic; /* "p50" "p90" "p95" "p99" "p99.9" */
	const char *text;      /* as written */
};

#define SUITE_PRIMARY_MAX 6
#define SUITE_WINDOWS_MAX 200

struct suite_clock_error {
	const char *system;
	double ppm; /* a known clock error that is accepted and shown with the rows */
};

/* A fact that a system must report: "touch", or of one system only "linux:touch". */
struct suite_required {
	const char *fact;
	const char *value; /* "*": anything but nothing, none and unknown */
};

struct suite {
	const char *name;	 /* "name" of the file, or its base name without ".json" */
	const char *description; /* "" if none */
	const char **systems;
	size_t system_count;
	unsigned boots; /* 5 or more give verdicts */
	enum suite_time time;
	const char *golden; /* a system booted once more, first and last; NULL if none */
	unsigned soak_s;    /* uptime that the soak gate asks for */
	struct suite_primary *primary;
	size_t primary_count;
	const char **allow_unknown; /* gate ids */
	size_t allow_unknown_count;
	struct suite_clock_error *accept_clock_ppm;
	size_t accept_clock_count;
	struct trap *traps;
	size_t trap_count;
	struct suite_required *required;
	size_t required_count;
	struct suite_window *windows;
	size_t window_count;
	const char *text; /* the file, for the store */
	const char *path;
	struct document *document;
	char error[512];
};

/*
 * Opens a suite file: `name` with a slash or ".json" is a path; otherwise
 * NAME.json is looked up in $SAMEBOARD_SUITES and, beside the running program,
 * in ../harness/suites (the tree) and ../share/sameboard/suites (installed);
 * -ENOENT names the suites there are.  *suite is set even on
 * failure (NULL only without memory); always close it.
 */
int suite_open(struct suite **suite, const char *name);

/* The same from text; `name` stands for the file. */
int suite_parse(struct suite **suite, const char *name, const char *text, size_t size);
void suite_close(struct suite *suite);
const char *suite_error(const struct suite *suite);

/* "aligned", "arbitrary", "both". */
const char *suite_phase_name(enum suite_phase phase);

/* What the suite expects of this system; NULL: it is no trap. */
const struct trap *suite_get_trap(const struct suite *suite, const char *system);

/* Whether the suite lets this gate be unknown; the accepted clock error of a system (0 if none). */
bool suite_allows_unknown(const struct suite *suite, const char *gate);
double suite_accepted_ppm(const struct suite *suite, const char *system);

/* The table that the file is read by (compared with the JSON schema by a test). */
extern const struct document_shape suite_shape;

#endif
