/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the store.  Each list comes as one array in one allocation that also
 * holds its strings: the caller frees it with free(), nothing else.  Functions
 * return the number of rows (the array is NULL at 0) or a negative errno as in
 * db/store.h, with the text in store_error().  Strings that are NULL in the
 * database are "" here.  Same thread rule as the store.
 */
#ifndef SAMEBOARD_DB_QUERY_H
#define SAMEBOARD_DB_QUERY_H

#include "db/store.h"

struct query_job {
	int64_t id;
	const char *command, *suite, *suite_json, *plan, *version;
	int64_t started_ms, ended_ms; /* ended 0: still open */
	int64_t exit_code;	      /* -1: still open */
	int64_t runs;
};

struct query_run {
	int64_t id, job_id;
	const char *board, *model, *system, *suite;
	const char *image_version, *image_file, *image_sha256;
	int64_t boot;
	uint64_t seed;
	int64_t session;
	bool emulated;
	enum verdict verdict; /* RUNNING: not closed */
	const char *reason;
	int64_t started_ms, ended_ms; /* ended 0: not closed */
	int64_t windows;	      /* committed ones */
};

struct query_window {
	int64_t id, run_id; /* id: of the row, for the functions below */
	int64_t number, bench;
	const char *name, *load, *phase;
	int64_t n, period_us, settle_ms, duration_ms, seed;
	int64_t started_ms, ended_ms;
};

struct query_series {
	int64_t id;	   /* of the row, for query_samples() */
	int64_t window_id; /* of the row */
	int64_t number;	   /* as on the wire */
	const char *name;
	int64_t kind; /* enum store_series_kind */
	int64_t count, clipped;
	int64_t crc32c;	      /* of the samples as little-endian bytes */
	int64_t stored_bytes; /* compressed */
};

struct query_metric {
	int64_t window_id;  /* 0: of the run */
	const char *series; /* "" if of no series */
	const char *name;
	double value; /* NaN: no value */
	const char *unit;
};

/* What was reckoned of one series of samples; values as stored, NaN where there is none. */
struct query_figures {
	int64_t run_id, number, bench; /* number: of the window */
	const char *window;	       /* its name */
	const char *phase, *load, *series;
	int64_t window_id, series_id, period_us; /* ids: of the rows */
	double counter_hz, floor;		 /* of its window */
	double bracket; /* within which a release of that window lies, in counts */
	double batch;	/* operations a sample is of; 1: one */
	double n, early, missed;
	double min, mean, sd;
	double p50, p90, p95, p99, p999, p9999, max, max_index;
};

/* One statistic of one series over many runs, oldest first. */
struct query_point {
	int64_t run_id, started_ms;
	const char *system, *image_version, *image_sha256;
	enum verdict verdict;
	double value; /* as stored */
	double counter_hz, batch;
};

/* Which points; NULL, 0: any. */
struct query_points {
	const char *window, *series, *metric; /* required */
	const char *phase, *load;
	const char *board, *suite, *system;
	int64_t job_id;
	size_t limit; /* the newest ones */
};

struct query_evidence {
	int64_t window; /* number; 0: of the run */
	const char *text;
};

struct query_import {
	const char *name, *format, *results, *source_name, *source_sha256;
	int64_t imported_ms;
};

struct query_gate {
	const char *id;
	int64_t window; /* number; 0: of the run */
	enum gate_verdict verdict;
	const char *evidence, *threshold;
};

struct query_event {
	int64_t at_ms;
	int64_t window; /* number; 0: outside any */
	const char *kind, *text;
};

struct query_fact {
	const char *key, *value;
};

struct query_baseline {
	const char *name, *note;
	int64_t created_ms;
	int64_t run_id; /* one row a run */
};

/* NULL, 0: any.  `verdicts` is a set of bits, 1u << enum verdict. */
struct query_filter {
	const char *system, *suite, *board, *baseline;
	int64_t job_id;
	unsigned verdicts;
	int64_t since_ms; /* started at or after */
	size_t limit;
};

/* Newest first.  `filter` may be NULL. */
int query_runs(struct store *store, const struct query_filter *filter, struct query_run **runs);

/* Of a job, oldest first: their number.  The caller frees *run_ids. */
int query_job_runs(struct store *store, int64_t job_id, int64_t **run_ids);

/* One row: returns 0 and *run or *job (free() it), or -ENOENT. */
int query_run(struct store *store, int64_t run_id, struct query_run **run);
int query_job(struct store *store, int64_t job_id, struct query_job **job);

/* The image manifest's text as stored with the run; "" if none.  0 or negative; free() it. */
int query_manifest(struct store *store, int64_t run_id, char **text);

/* Ordered by number, series number, name, time, key. */
int query_windows(struct store *store, int64_t run_id, struct query_window **windows);
int query_series(struct store *store, int64_t window_id, struct query_series **series);
int query_metrics(struct store *store, int64_t run_id, struct query_metric **metrics);
int query_figures(struct store *store, int64_t run_id, struct query_figures **figures);
int query_gates(struct store *store, int64_t run_id, struct query_gate **gates);
int query_events(struct store *store, int64_t run_id, struct query_event **events);
int query_facts(struct store *store, int64_t run_id, struct query_fact **facts);
int query_baselines(struct store *store, struct query_baseline **baselines);
int query_evidence(struct store *store, int64_t run_id, struct query_evidence **evidence);

/* By name; all of them where name is NULL. */
int query_imports(struct store *store, const char *name, struct query_import **imports);

/* Of closed runs. */
int query_points(
	struct store *store, const struct query_points *which, struct query_point **points);

/* The newest valid run that has such a window; phase, load, series and metric don't matter. */
int query_newest_with(struct store *store, const struct query_points *which, int64_t *run_id);

/* The value of a run's metric of this name, of no series; NaN where there is none. */
int query_metric(struct store *store, int64_t run_id, const char *name, double *value);

/* Value of `key` among `count` facts, or `fallback`; borrowed from the array. */
const char *query_find_fact(
	const struct query_fact *facts, int count, const char *key, const char *fallback);

/*
 * Samples of a series as int32_t, uint64_t or char by `kind`, host byte order;
 * text is also NUL-terminated.  Returns 0; the caller frees *data.  -EINVAL:
 * the series is of another kind; -EBADMSG: the blob or its checksum is wrong, or
 * it would be more than STORE_SERIES_MAX bytes.
 */
int query_samples(struct store *store, int64_t series_id, enum store_series_kind kind, void **data,
	size_t *count);

/* The same by name: -ENOENT if the window has no such series. */
int query_samples_named(struct store *store, int64_t window_id, const char *name,
	enum store_series_kind kind, void **data, size_t *count);

/* The whole console log and its marks, exactly as given; -EFBIG above 1 GiB.  0; the caller frees
 * both. */
int query_console(struct store *store, int64_t run_id, char **data, size_t *size,
	struct store_mark **marks, size_t *mark_count);

/*
 * "LAST", "LAST~N" (the Nth before it, by start) or a decimal id to a run or job
 * that exists.  -EINVAL not such a word, -ENOENT; the text says what there is.
 */
int query_resolve_run(struct store *store, const char *word, int64_t *run_id);
int query_resolve_job(struct store *store, const char *word, int64_t *job_id);

#endif
