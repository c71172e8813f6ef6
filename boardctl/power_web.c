/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/power_web.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "boardctl/web.h"

#define ANSWER_MAX 16384
#define URL_MAX	   1024

/* How to spell the configured url: without a slash at its end. */
static int write_url(struct power *power, const char *path, char *url, size_t size)
{
	const char *base = power->config.url;
	size_t length = strlen(base);
	int put;

	while (length && base[length - 1] == '/')
		length--;
	put = snprintf(url, size, "%.*s%s", (int)length, base, path);
	return put > 0 && (size_t)put < size
		       ? 0
		       : power_fail(power, -ENAMETOOLONG, "the url %.60s... is too long", base);
}

int power_web_ask(
	struct power *power, const struct power_web_request *request, char *text, size_t size)
{
	char url[URL_MAX], error[FAIL_TEXT_SIZE];
	struct web_request ask = {
		.url = url, .body = request->body, .timeout_ms = power->config.answer_ms};
	long status;
	int ret = write_url(power, request->path, url, sizeof(url));

	if (ret)
		return ret;
	if (power->password[0] && request->user) {
		ask.user = power->config.user ? power->config.user : request->user;
		ask.password = power->password;
	}
	ret = web_ask(&ask, text, size, &status, error, sizeof(error));
	if (ret)
		return power_fail(power, ret, "%s: %s; is it in the network, and its url right?",
			power->place, error);
	if (status == 401 || status == 403)
		return power_fail(power, -EACCES, "%s refuses with HTTP status %ld: %s",
			power->place, status,
			power->password[0] ? "the user or the password is wrong"
					   : "it wants a password; name it by \"password_file\" "
					     "or \"password_env\"");
	if (status < 200 || status > 299)
		return power_fail(power, -EIO, "%s answered with HTTP status %ld: %.120s",
			power->place, status, text);
	return 0;
}

int power_web_ask_json(struct power *power, const struct power_web_request *request, cJSON **json)
{
	char text[ANSWER_MAX];
	int ret = power_web_ask(power, request, text, sizeof(text));

	*json = NULL;
	if (ret)
		return ret;
	*json = cJSON_Parse(text);
	if (*json)
		return 0;
	return power_fail(power, -EPROTO, "%s answered \"%.120s\", which is no JSON: is it a %s?",
		power->place, text, power->driver->name);
}

int power_web_fail_answer(struct power *power, cJSON *json, const char *expected)
{
	char text[160] = "";

	cJSON_PrintPreallocated(json, text, sizeof(text) - 8, 0);
	cJSON_Delete(json);
	return power_fail(power, -EPROTO, "%s answered %.150s; %s was expected", power->place,
		text[0] ? text : "much", expected);
}
