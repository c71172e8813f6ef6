/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_POWER_WEB_H
#define BOARDCTL_POWER_WEB_H

#include <cjson/cJSON.h>

#include "boardctl/drivers.h"

/* What drivers of plugs in a network have in common. Errors are power_fail()'s. */

/* How to ask: a password goes into HTTP's own fields, or stands in `path` already. */
struct power_web_request {
	const char *path; /* behind the configured url, "/relay/0" */
	const char *body; /* NULL: GET */
	const char *user; /* when the configuration names none; NULL: no authentication */
};

/*
 * Ask, and leave the answer in text[size]. Any status but 2xx is an error:
 * -EACCES for 401 and 403, else -EIO.
 */
int power_web_ask(
	struct power *power, const struct power_web_request *request, char *text, size_t size);

/* The same with an answer of JSON, which is the caller's. */
int power_web_ask_json(struct power *power, const struct power_web_request *request, cJSON **json);

/* -EPROTO with the answer quoted. Deletes json. */
int power_web_fail_answer(struct power *power, cJSON *json, const char *expected);

#endif
