/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/web.h"

#include <curl/curl.h>
#include <errno.h>
#include <string.h>

#include "boardctl/fail.h"

struct answer {
	char *text;
	size_t size, used;
};

static size_t take(char *data, size_t unit, size_t count, void *context)
{
	struct answer *answer = context;
	size_t size = unit * count, room = answer->size - 1 - answer->used;
	size_t fit = size < room ? size : room;

	memcpy(answer->text + answer->used, data, fit);
	answer->used += fit;
	answer->text[answer->used] = '\0';
	return size;
}

static int errno_of(CURLcode code)
{
	switch ((int)code) {
	case CURLE_OK:
		return 0;
	case CURLE_OPERATION_TIMEDOUT:
		return -ETIMEDOUT;
	case CURLE_COULDNT_CONNECT:
		return -ECONNREFUSED;
	case CURLE_COULDNT_RESOLVE_HOST:
		return -ENOENT;
	case CURLE_OUT_OF_MEMORY:
		return -ENOMEM;
	case CURLE_URL_MALFORMAT:
		return -EINVAL;
	default:
		return -EPROTO;
	}
}

static void prepare(CURL *curl, const struct web_request *request, struct answer *answer,
	struct curl_slist *headers)
{
	curl_easy_setopt(curl, CURLOPT_URL, request->url);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)request->timeout_ms);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)request->timeout_ms);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "sameboard");
	if (request->user) {
		curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BASIC | CURLAUTH_DIGEST);
		curl_easy_setopt(curl, CURLOPT_USERNAME, request->user);
		curl_easy_setopt(
			curl, CURLOPT_PASSWORD, request->password ? request->password : "");
	}
	if (request->body) {
		curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body);
	}
}

int web_ask(const struct web_request *request, char *text, size_t size, long *status, char *error,
	size_t error_size)
{
	struct answer answer = {.text = text, .size = size};
	struct curl_slist *headers = NULL;
	CURL *curl = curl_easy_init();
	int ret = -ENOMEM;
	CURLcode code;

	text[0] = '\0';
	*status = 0;
	if (curl)
		headers = curl_slist_append(NULL, "Content-Type: application/json");
	if (!headers) {
		fail_format(error, error_size, ret, "out of memory");
		goto out;
	}
	prepare(curl, request, &answer, headers);
	code = curl_easy_perform(curl);
	ret = errno_of(code);
	if (ret == -ETIMEDOUT)
		fail_format(error, error_size, ret, "no answer within %u ms", request->timeout_ms);
	else if (code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_WEIRD_SERVER_REPLY)
		fail_format(error, error_size, ret, "what it answers is no HTTP");
	else if (ret)
		fail_format(error, error_size, ret, "%s", curl_easy_strerror(code));
	else
		curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, status);
out:
	curl_slist_free_all(headers);
	curl_easy_cleanup(curl);
	return ret;
}
