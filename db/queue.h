/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The jobs that a daemon was given, and the health of the boards.  A job keeps
 * the number that it gets here: its worker begins it under that number in
 * jobs.  Errors, texts and threads as in db/store.h; lists as in db/query.h.
 */
#ifndef SAMEBOARD_DB_QUEUE_H
#define SAMEBOARD_DB_QUEUE_H

#include "db/store.h"

enum queue_state {
	QUEUE_STATE_QUEUED,
	QUEUE_STATE_RUNNING,   /* has, or had, a worker */
	QUEUE_STATE_DONE,      /* its worker has ended, in whatever way */
	QUEUE_STATE_CANCELLED, /* somebody asked; never begun, or ended in the rest state */
	QUEUE_STATES,
};

/* "queued", "running", "done", "cancelled". */
const char *queue_state_name(enum queue_state state);

struct queue_job {
	const char *board;
	const char *client;	/* whose turn it is: jobs of one client wait for each other */
	int64_t uid, pid;	/* of the process that submitted it; -1: unknown */
	const char *suite;	/* its name */
	const char *suite_json; /* the file's text */
	const char *systems;	/* between commas; "": those of the suite */
	int64_t boots;		/* 0: as the suite says */
	int64_t seed;
	const char *baseline; /* name or run that it is held against; "" or NULL: none */
	const char *command;  /* as the person typed it */
	int64_t submitted_ms;
};

struct queue_row {
	int64_t id;
	struct queue_job job; /* its strings live as long as the list */
	enum queue_state state;
	int64_t turn; /* 0: not taken yet */
	int64_t worker_pid;
	bool worker_is_alive;
	int64_t started_ms, ended_ms; /* 0: not yet */
	int64_t exit_code;	      /* -1: none */
	const char *error;	      /* "" if none */
};

/* Puts a job at the end of its client's queue; *id >= 1. */
int queue_add(struct store *store, const struct queue_job *job, int64_t *id);

/*
 * The next job of a board becomes running: of the client that was served
 * longest ago its oldest one.  *id is 0 when nothing waits.
 */
int queue_take(struct store *store, const char *board, int64_t now_ms, int64_t *id);

/* The process that works on it: so that a later daemon can tell whether it lives. */
int queue_set_worker(struct store *store, int64_t id, int64_t pid);

/*
 * Ends a job as DONE or CANCELLED; one that has ended stays as it is and
 * gives -EALREADY.  error may be NULL.
 */
int queue_end(struct store *store, int64_t id, enum queue_state state, int exit_code,
	const char *error, int64_t now_ms);

/* One row: 0 and *row (free() it), or -ENOENT. */
int queue_get(struct store *store, int64_t id, struct queue_row **row);

/* All that wait or run, in the order of their numbers. */
int queue_list_open(struct store *store, struct queue_row **rows);

/* ---------------------------------------------------------------- health */

/* So many lab failures in a row put a board in quarantine. */
#define QUEUE_LAB_FAILURES_MAX 2

struct queue_health {
	const char *board;
	int64_t lab_failures;	/* in a row */
	int64_t quarantined_ms; /* 0: in use */
	const char *reason;	/* of the last lab failure */
};

/*
 * What a run, or the attempt at one, said about its board.  A result of any
 * kind from the system proves the lab good: lab_failed false.
 */
int queue_note_health(struct store *store, const char *board, bool lab_failed, const char *reason,
	int64_t now_ms);

/* Puts a board in quarantine at once: it could not be brought to its rest state. */
int queue_quarantine(struct store *store, const char *board, const char *reason, int64_t now_ms);

/* Ends the quarantine.  0, or -ENOENT if there was none. */
int queue_release(struct store *store, const char *board);

/* 0 and *health (free() it); a board without a row is healthy: NULL. */
int queue_get_health(struct store *store, const char *board, struct queue_health **health);

#endif
