/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small real HTTP server on the loopback for tests of what asks devices: it
 * checks what it is asked and answers as the test says, or goes wrong on
 * purpose.  One server a process; whatever cannot be set up fails the test.
 */
#ifndef TESTS_HTTP_FAKE_H
#define TESTS_HTTP_FAKE_H

#include <stdbool.h>
#include <stddef.h>

enum http_fake_fault {
	HTTP_FAKE_HEALTHY,
	HTTP_FAKE_SILENT,  /* takes the request and says nothing */
	HTTP_FAKE_HALF,	   /* ends in the middle of the body */
	HTTP_FAKE_GARBAGE, /* answers what is no HTTP */
	HTTP_FAKE_CLOSES,  /* ends the connection without a word */
	HTTP_FAKE_LATE,	   /* answers each request after half a second */
};

struct http_fake_request {
	char method[8], target[512]; /* path and query */
	char headers[2048], body[1024];
};

struct http_fake_answer {
	int status;	   /* 200 when 0 */
	char headers[512]; /* more of them, each ended by \r\n */
	char body[8192];
	const void *bytes; /* instead of body, when not NULL */
	size_t size;
};

/* Called in the server's thread, one request at a time. */
typedef void http_fake_handler(
	void *context, const struct http_fake_request *request, struct http_fake_answer *answer);

/* "http://127.0.0.1:PORT"; stop it in the same test. */
const char *http_fake_start(http_fake_handler *handler, void *context);
void http_fake_stop(void);

/* Takes effect at the next request; `after` healthy ones come before. */
void http_fake_set_fault(enum http_fake_fault fault, unsigned after);

/* The next so many requests, and then healthy again. */
void http_fake_fail_next(enum http_fake_fault fault, unsigned count);

/* How many were asked so far, and the last one; borrowed until the next. */
unsigned http_fake_count(void);
const struct http_fake_request *http_fake_last(void);

#endif
