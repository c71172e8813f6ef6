/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a job has told so far, as the event stream that its viewers get: lines
 * of progress, errors, states, and at last the end.  Each event's id is the
 * place behind it, so that a viewer that lost its connection goes on where it
 * was.  Memory only; one thread.
 */
#ifndef SAMEBOARD_HARNESS_JOB_LOG_H
#define SAMEBOARD_HARNESS_JOB_LOG_H

#include "harness/stream.h"

#define JOB_LOGS_MAX 64 /* of ended jobs without viewers the oldest go first */

struct job_log {
	int64_t job;
	struct stream events;
	unsigned viewers;
	struct job_log *next;
};

struct job_logs {
	struct job_log *first; /* newest first */
};

/* The log of a job, made if there is none; NULL without memory. */
struct job_log *job_logs_get(struct job_logs *logs, int64_t job);
struct job_log *job_logs_find(struct job_logs *logs, int64_t job);
void job_logs_fini(struct job_logs *logs);

/* One event; `text` may have several lines. */
void job_log_add(struct job_log *log, const char *kind, const char *text);

/* The last event: nothing is added after it. */
void job_log_end(struct job_log *log, const char *text);

/*
 * Where a viewer begins that has seen the events up to `last_id` (0: none):
 * there, or at the oldest event that is kept if it is not one of ours.
 */
uint64_t job_log_find_place(const struct job_log *log, uint64_t last_id);

#endif
