/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_WEB_H
#define BOARDCTL_WEB_H

#include <stddef.h>

/*
 * One request to a device in the lab's network, by libcurl: no proxy, no
 * redirect, a time limit for all of it. Nothing of the URL's query is in error
 * texts.
 */
struct web_request {
	const char *url;  /* "http://plug.lab/relay/0?turn=on" */
	const char *user; /* NULL: no authentication; else Basic or Digest, as asked for */
	const char *password;
	const char *body; /* JSON to POST; NULL: GET */
	unsigned timeout_ms;
};

/*
 * *status is the HTTP status; the body comes to answer[size], cut, ended by 0.
 * 0 when there was an answer, whatever it says; -ETIMEDOUT when it did not come
 * in time, -ECONNREFUSED, -ENOENT (no such host), -EPROTO (it broke off in the
 * middle, or is no HTTP).
 */
int web_ask(const struct web_request *request, char *answer, size_t size, long *status, char *error,
	size_t error_size);

#endif
