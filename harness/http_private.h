/* SPDX-License-Identifier: Apache-2.0 */
/* What http.c and http_view.c share; nobody else includes it. */
#ifndef SAMEBOARD_HARNESS_HTTP_PRIVATE_H
#define SAMEBOARD_HARNESS_HTTP_PRIVATE_H

#include <microhttpd.h>

#include "harness/api.h"
#include "harness/http.h"

/* One connection. */
struct http_client {
	struct http_client *next;
	struct MHD_Connection *connection;
	int fd;
	bool is_tcp;
	bool is_receiving; /* a request, or waiting for one */
	uint64_t since_ms; /* that, monotonic */
};

/* One reader of a stream. */
struct http_view {
	struct http_view *next;
	struct http *http;
	struct MHD_Connection *connection;
	int fd;
	struct api_view of;
	bool is_suspended;
	bool is_gone;	    /* ends at its next step */
	bool wants_beat;    /* a comment, so that a dead connection shows */
	uint64_t active_ms; /* when it got something last */
};

struct http {
	struct daemon *daemon;
	struct MHD_Daemon *sockets[HTTP_POLLS]; /* Unix, TCP */
	struct http_client *clients;
	struct http_view *views;
	unsigned view_count;
	bool must_run; /* a view was resumed */
};

/* The response that reads a view; NULL without memory, or when there are too many. */
struct MHD_Response *http_view_new(
	struct http *http, struct http_client *client, const struct api_view *of);
void http_view_tick(struct http *http, uint64_t now_ms);

/* Ends all of them at their next step. */
void http_view_end_all(struct http *http);

#endif
