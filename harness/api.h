/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the daemon can be asked over HTTP, as one table of routes.  Answers are
 * JSON; an error is {"error": text, "exit_code": what a command ends with}.
 *
 *	GET  /v1                    the daemon: version, lab, database, images
 *	GET  /v1/boards             boards, their holders and health
 *	GET  /v1/queue              what waits and runs
 *	GET  /v1/jobs/N             one job and its runs
 *	GET  /v1/jobs/N/events      its progress as it comes (text/event-stream)
 *	GET  /v1/jobs/N/comparison  systems side by side; text for Accept: text/plain
 *	GET  /v1/runs, /v1/runs/N   as `list` and `show`
 *	GET  /v1/boards/B/console   raw console as it comes, from the job's beginning
 *	POST /v1/jobs               submit, see api_submit.c; 201 {"job": N}
 *	POST /v1/jobs/N/cancel, DELETE /v1/jobs/N
 *	POST /v1/boards/B/release   ends a quarantine
 */
#ifndef SAMEBOARD_HARNESS_API_H
#define SAMEBOARD_HARNESS_API_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/stream.h"

#define API_WORD_SIZE 64

struct daemon;

struct api_call {
	struct daemon *daemon;
	const char *word; /* of the path: a number, a board's name; "" if none */
	const char *body; /* NUL-terminated */
	size_t body_size;
	bool wants_text;
	uint64_t last_event; /* 0: from the beginning */
	bool is_tcp;
	int64_t uid, pid; /* of the client; -1: unknown */
};

/* A stream that the client reads as it grows. */
struct api_view {
	struct stream *stream;
	uint64_t place;	   /* where it begins */
	unsigned *viewers; /* is counted while it reads */
	bool is_events;
};

/* One of json, text and view. */
struct api_reply {
	unsigned status;
	cJSON *json;
	char *text;
	struct api_view view;
	const char *allow; /* methods, for 405 */
};

struct api_route {
	const char *method;
	const char *path; /* one part may be "*" */
	void (*answer)(struct api_call *call, struct api_reply *reply);
};

/*
 * The route of a request, its word into word[API_WORD_SIZE]; NULL with the
 * refusal in *reply (404, 405).
 */
const struct api_route *api_find_route(
	const char *method, const char *path, char *word, struct api_reply *reply);

/* Makes the reply an error. */
void api_fail(struct api_reply *reply, unsigned status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* POST /v1/jobs. */
void api_submit(struct api_call *call, struct api_reply *reply);

#endif
