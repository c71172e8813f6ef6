/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store: every job, run, window, sample, gate and console byte in one
 * SQLite file (WAL).  This header opens and writes; db/query.h reads.
 *
 * Errors: 0 or a negative errno; the text is in store_error() until the next
 * call.  -ENOSPC disk full, -EROFS read-only file, -EISDIR
 * a directory, -EBUSY another process held
 * the write lock for longer than the busy timeout (10 s), -ENOENT no such file
 * or row, -ENOTDIR/-EACCES from the path, -EPROTO not a sameboard database or
 * one of a newer version, -EBADMSG damaged file or blob, -EEXIST there already,
 * -EINVAL wrong use, -EIO anything else that the disk did.
 * After an error inside a window transaction the window is rolled back: call
 * store_abort_window() (harmless if done already) and carry on.
 *
 * Threads: a store belongs to the thread that opened it; open one a thread.
 * Several processes may write to one file, each transaction is IMMEDIATE.
 * Times are UTC in milliseconds since 1970.  Strings and data given in are
 * copied.  NULL strings are stored as NULL.
 */
#ifndef SAMEBOARD_DB_STORE_H
#define SAMEBOARD_DB_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/verdict.h"

struct store;

/* The newest schema this program knows (PRAGMA user_version). */
#define STORE_SCHEMA_VERSION 6

enum store_flag {
	STORE_READ_ONLY = 1, /* never creates, migrates or writes */
	STORE_NO_CREATE = 2, /* -ENOENT where there is no file */
};

/*
 * Opens (creating, and migrating an older version in one transaction a step)
 * the database at `path` or ":memory:".  *store is set even on failure (unless
 * memory is out: then NULL, which every function here takes for -ENOMEM), so
 * that its error can be asked; the caller always closes.
 */
int store_open(struct store **store, const char *path, unsigned flags);

/* Rolls back an open window; NULL is fine. */
void store_close(struct store *store);

/* Text of the last error, "" if none; valid until the next call. */
const char *store_error(const struct store *store);

/* Path as it was opened; valid until close. */
const char *store_path(const struct store *store);

/* How long to wait for another process' write lock before -EBUSY; 10 s at first. */
int store_set_patience(struct store *store, unsigned timeout_ms);

/* Now, UTC in milliseconds. */
int64_t store_now_ms(void);

/* ------------------------------------------------------------------ jobs */

struct store_job {
	const char *command;	/* what the person typed, e.g. "run demo" */
	const char *suite;	/* suite name or NULL */
	const char *suite_json; /* the suite file's text or NULL */
	const char *plan;	/* the plan as printed or NULL */
	const char *version;	/* of sameboard */
	int64_t started_ms;
	int64_t id; /* one that queue_add() gave, 0: the next */
};

/*
 * Adds a job of this process; *job_id >= 1.  Process id, its start time and the
 * machine's boot id are recorded so that store_recover() can tell whether the
 * job still lives.
 */
int store_begin_job(struct store *store, const struct store_job *job, int64_t *job_id);

/* `exit_code` as in DESIGN.md's table.  -ENOENT: no such job. */
int store_end_job(struct store *store, int64_t job_id, int exit_code, int64_t ended_ms);

/*
 * Marks every run of a board (NULL: of all) without an end, whose job's process is
 * gone, `interrupted` with a reason, and ends those jobs without an exit code; a job
 * with open runs on other boards stays open.  Returns the number of runs marked.
 * Processes are known by boot id, PID namespace, PID and start time: a file is used
 * from one machine and one PID namespace.
 */
int store_recover(struct store *store, const char *board, int64_t now_ms);

/* ------------------------------------------------------------------ runs */

struct store_run {
	int64_t job_id;
	const char *board;	    /* name in the lab file; required */
	const char *model;	    /* e.g. "lichee-rv-86-panel" or NULL */
	const char *system;	    /* e.g. "linux"; required */
	const char *image_version;  /* of the manifest; NULL allowed in all image_* */
	const char *image_file;	    /* base name */
	const char *image_sha256;   /* hex */
	const char *image_manifest; /* the manifest's text */
	unsigned boot;		    /* 1.. within the job and system */
	uint64_t seed;
	uint32_t session; /* nonce the host will assign, 0 if not chosen yet */
	int64_t started_ms;
};

/* Adds a run (with its board and image where new); *run_id >= 1. */
int store_begin_run(struct store *store, const struct store_run *run, int64_t *run_id);

/* The session nonce in use; committed at once (needed after a host crash). */
int store_set_session(struct store *store, int64_t run_id, uint32_t session);

/* Whether the numbers of this run are emulated; a run starts as `true`. */
int store_set_emulated(struct store *store, int64_t run_id, bool emulated);

/* One fact of a run, e.g. ("protection", "process"); a later one replaces. */
int store_set_fact(struct store *store, int64_t run_id, const char *key, const char *value);

/* All facts of an agent's text: `key=value\n` lines; others are kept as ("line.N", text). */
int store_set_facts(struct store *store, int64_t run_id, const char *text, size_t size);

/*
 * A point in time.  With a window open on this run it joins the window's
 * transaction and belongs to the window, else it is committed alone.
 * `kind` is a short word: "state", "reset", "lab", "warning", ...
 */
int store_add_event(
	struct store *store, int64_t run_id, int64_t at_ms, const char *kind, const char *text);

/*
 * From byte `offset` of the run's console log on, bytes arrived (or were sent)
 * at `at_ms`, until the next mark.  Offsets count from 0 over the whole run.
 */
struct store_mark {
	uint64_t offset;
	int64_t at_ms;
	bool sent; /* host to board; false: board to host */
};

/*
 * Appends raw console bytes with their marks (offsets as above, ascending).
 * Call as often as wished; joins an open window's transaction.
 */
int store_append_console(struct store *store, int64_t run_id, const void *data, size_t size,
	const struct store_mark *marks, size_t mark_count);

/* --------------------------------------------------------------- windows */

struct store_window {
	unsigned number;   /* 1..65535, as on the wire */
	unsigned bench;	   /* catalogue id */
	const char *name;  /* catalogue name, e.g. "wake.cpu"; required */
	const char *load;  /* "idle", "cpu", ... */
	const char *phase; /* "aligned", "arbitrary" or NULL */
	uint32_t n;
	uint32_t period_us;
	uint32_t settle_ms;
	uint32_t duration_ms;
	uint32_t seed;
	int64_t started_ms;
	int64_t ended_ms;
};

/* Kinds and their numbers are those of the wire (PROTOCOL.md). */
enum store_series_kind {
	STORE_SERIES_COUNTS = 1, /* int32_t */
	STORE_SERIES_STAMPS = 2, /* uint64_t */
	STORE_SERIES_TEXT = 3,	 /* char, UTF-8 */
};

struct store_series {
	unsigned id;	  /* as on the wire, unique in the window */
	const char *name; /* e.g. "latency"; unique in the window */
	enum store_series_kind kind;
	const void *data; /* `count` elements, host byte order; may be NULL if count is 0 */
	size_t count;
	uint64_t clipped;
};

struct store_metric {
	const char *series; /* series of the open window that it was made from, or NULL */
	const char *name;   /* e.g. "p99" */
	double value;	    /* NaN is kept as "no value" */
	const char *unit;   /* e.g. "counts", "us", "ppm" */
};

/*
 * Opens the window's transaction; one at a time, and short, since it holds the
 * file's write lock: pull first, then store.  -EEXIST: this number of this
 * run is committed already and stays as it is (nothing was opened): so a
 * window pulled twice is stored once.
 */
int store_begin_window(struct store *store, int64_t run_id, const struct store_window *window);

#define STORE_SERIES_MAX ((int64_t)1 << 28) /* bytes of the samples of one series */

/*
 * Samples, stored losslessly, compressed and with a CRC.  Needs an open window.
 * -EFBIG: more than STORE_SERIES_MAX.
 */
int store_add_series(struct store *store, const struct store_series *series);

/* A metric of the open window, or with none open of the run (committed alone). */
int store_add_metric(struct store *store, int64_t run_id, const struct store_metric *metric);

/* On disk (synchronous=FULL) when this returns 0: now the board may RELEASE. */
int store_commit_window(struct store *store);

/* Forgets the open window; nothing happens if none is open. */
void store_abort_window(struct store *store);

/* ----------------------------------------------------------------- close */

struct store_gate {
	const char *id;	 /* e.g. "silence" */
	unsigned window; /* number of a committed window, 0: of the run */
	enum gate_verdict verdict;
	const char *evidence;  /* what was seen, with numbers and units */
	const char *threshold; /* what was asked, e.g. "<= 20 ppm" or NULL */
};

/*
 * The closing transaction: gates and verdict (anything but RUNNING) with its
 * reason.  Aborts an open window first.  -EEXIST: the run is closed already.
 */
int store_end_run(struct store *store, int64_t run_id, enum verdict verdict, const char *reason,
	int64_t ended_ms, const struct store_gate *gates, size_t gate_count);

/*
 * The valid runs of a job become INVALID with this reason, and an event each:
 * what they measured is kept and not compared.  Their number, or an error.
 */
int store_void_runs(struct store *store, int64_t job_id, const char *reason, int64_t now_ms);

/*
 * What the host saw of a window (0: of the run) and gates are judged by, as JSON.
 * Joins an open window's transaction; a later one replaces.
 */
int store_set_evidence(struct store *store, int64_t run_id, unsigned window, const char *text);

/* --------------------------------------------------------------- imports */

/* Results of others: kept beside the runs, never among them. */
struct store_import {
	const char *name;
	const char *format;  /* of the file that was read */
	const char *results; /* as JSON */
	const char *source_name, *source_sha256;
	int64_t imported_ms;
};

/* One of the same name is replaced. */
int store_set_import(struct store *store, const struct store_import *import);

/* ------------------------------------------------------------- baselines */

/* Names a set of runs to compare with; replaces one of the same name. */
int store_set_baseline(struct store *store, const char *name, const char *note,
	const int64_t *run_ids, size_t run_count, int64_t now_ms);

#endif
