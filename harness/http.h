/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's sockets, spoken through libmicrohttpd in the daemon's own loop.
 * What is asked for is in harness/api.h; here is what a client may do to the
 * daemon: at most so many connections, so large requests, so much time for
 * them, and views that end when their reader is too slow.
 */
#ifndef SAMEBOARD_HARNESS_HTTP_H
#define SAMEBOARD_HARNESS_HTTP_H

#include <poll.h>
#include <stdint.h>

#include "harness/stream.h"

#define HTTP_CONNECTIONS_MAX 64
#define HTTP_VIEWS_MAX	     32		   /* of the connections */
#define HTTP_HEADERS_MAX     (32 * 1024)   /* bytes */
#define HTTP_BODY_MAX	     (1024 * 1024) /* bytes */
#define HTTP_REQUEST_MS	     10000	   /* from its first byte to its last */
#define HTTP_IDLE_S	     30		   /* nothing moves */
#define HTTP_POLLS	     2

struct daemon;
struct http;

/* Takes the daemon's listening sockets.  0 or -EIO; *http is set even then. */
int http_open(struct http **http, struct daemon *daemon);
void http_close(struct http *http);

/* Descriptors to poll for input, at most HTTP_POLLS; their number. */
unsigned http_get_polls(struct http *http, struct pollfd *polls);

/* How long the loop may wait, in ms; at most `timeout_ms`. */
int http_get_timeout(struct http *http, int timeout_ms);

/* Does what can be done without waiting. */
void http_run(struct http *http);

/* Once a second: ends what is too slow. */
void http_tick(struct http *http, uint64_t now_ms);

/* There is something new in the stream, or it has ended.  http may be NULL. */
void http_wake(struct http *http, const struct stream *stream);

#endif
