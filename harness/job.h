/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One command given to the harness: all runs of a suite on one board, under
 * the board's lock.  Everything that can be checked is checked before
 * anything moves.  Progress is printed; one thread.
 */
#ifndef SAMEBOARD_HARNESS_JOB_H
#define SAMEBOARD_HARNESS_JOB_H

#include "db/store.h"
#include "harness/lab.h"
#include "harness/manifest.h"
#include "harness/plan.h"

#define JOB_SYSTEMS_MAX 16

/* An image that was named by itself: its manifest lies beside it, FILE.json for FILE.img. */
struct job_image {
	const char *system, *path, *sha256;
};

struct job_request {
	struct store *store;
	const struct lab_board *board;
	const struct suite *suite;
	const char *images;  /* directory of images and manifests */
	const char *command; /* as typed, for the store */
	const char *systems[JOB_SYSTEMS_MAX];
	size_t system_count;	       /* 0: those of the suite */
	const struct job_image *given; /* instead of those in `images` */
	size_t given_count;
	unsigned boots;	       /* 0: as the suite says */
	uint64_t seed;	       /* of the order of systems */
	int64_t id;	       /* the number that the queue gave it; 0: the next */
	struct link_tap watch; /* sees the console; see NULL: nobody */
};

struct job {
	const struct job_request *request;
	struct plan plan;
	struct manifest *manifests[JOB_SYSTEMS_MAX];
	size_t manifest_count;
	int64_t id; /* in the store; 0: not begun */
	char error[768];
};

/* A suite for one clock says nothing on a board with the other: false, with the text. */
bool job_has_clock(
	const struct suite *suite, const struct lab_board *board, char *error, size_t size);

/*
 * Plan, read the manifests, hash the images.  0 or an exit code (2, 3) with
 * the text in job->error.  job_fini() in every case.
 */
int job_init(struct job *job, const struct job_request *request);
void job_fini(struct job *job);

/* All runs.  The exit code: 0, 1, 2 or 3; text of what stopped it in job->error ("" if nothing). */
int job_execute(struct job *job);

#endif
