/* SPDX-License-Identifier: Apache-2.0 */
/* What client.c and client_watch.c share; nobody else includes it. */
#ifndef SAMEBOARD_HARNESS_CLIENT_PRIVATE_H
#define SAMEBOARD_HARNESS_CLIENT_PRIVATE_H

#include <curl/curl.h>

#include "harness/access.h"
#include "harness/client.h"

struct client {
	char socket[512];
	bool is_tcp;
	struct access access;
	CURL *curl;
	cJSON *facts;
	char error[2048];
};

int client_fail(struct client *client, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A fresh request to this path. */
void client_prepare(struct client *client, const char *path);

#endif
