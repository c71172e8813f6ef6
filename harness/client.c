/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/client.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boardctl/monotonic.h"
#include "harness/access.h"
#include "harness/cli.h"
#include "harness/client_private.h"
#include "harness/paths.h"

#define CONNECT_MS 5000
#define ANSWER_S   60
#define ANSWER_MAX (64u * 1024 * 1024)

int client_fail(struct client *client, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(client->error, sizeof(client->error), format, args);
	va_end(args);
	return code;
}

const char *client_error(const struct client *client)
{
	return client ? client->error : "out of memory";
}

int client_find_socket(const char *given, char *path, size_t size)
{
	const char *set = getenv("SAMEBOARD_SOCKET"), *run = getenv("XDG_RUNTIME_DIR");
	const char *state = getenv("SAMEBOARD_STATE");
	int length;

	if (given || (set && *set))
		length = snprintf(path, size, "%s", given ? given : set);
	else if ((!state || !*state) && run && *run)
		length = snprintf(path, size, "%s/sameboard.sock", run);
	else
		return paths_state_file("sameboard.sock", path, size);
	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

/* ----------------------------------------------------------------- request */

struct answer {
	char *text;
	size_t size;
};

static size_t take_answer(char *data, size_t unit, size_t count, void *context)
{
	struct answer *answer = context;
	size_t size = unit * count;
	char *grown;

	if (answer->size + size > ANSWER_MAX)
		return 0;
	grown = realloc(answer->text, answer->size + size + 1);
	if (!grown)
		return 0;
	memcpy(grown + answer->size, data, size);
	answer->text = grown;
	answer->size += size;
	answer->text[answer->size] = '\0';
	return size;
}

static struct curl_slist *make_headers(const struct client *client, const char *accept)
{
	char line[ACCESS_TOKEN_MAX + 64];
	struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");

	headers = curl_slist_append(headers, "Expect:");
	headers = curl_slist_append(headers, accept);
	if (client->access.token[0]) {
		snprintf(line, sizeof(line), "Authorization: Bearer %s", client->access.token);
		headers = curl_slist_append(headers, line);
	}
	return headers;
}

void client_prepare(struct client *client, const char *path)
{
	char url[1024];

	curl_easy_reset(client->curl);
	snprintf(url, sizeof(url), "%s%s", client->is_tcp ? client->socket : "http://localhost",
		path);
	curl_easy_setopt(client->curl, CURLOPT_URL, url);
	curl_easy_setopt(client->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(client->curl, CURLOPT_PROXY, "");
	curl_easy_setopt(client->curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	if (!client->is_tcp)
		curl_easy_setopt(client->curl, CURLOPT_UNIX_SOCKET_PATH, client->socket);
}

/* The daemon's own words for a refusal, and what the command ends with. */
static int take_refusal(struct client *client, long status, const char *text)
{
	cJSON *json = cJSON_Parse(text ? text : "");
	const char *error = cJSON_GetStringValue(cJSON_GetObjectItem(json, "error"));
	const cJSON *code = cJSON_GetObjectItem(json, "exit_code");
	int exit_code = cJSON_IsNumber(code) ? code->valueint : CLI_LAB;

	if (error)
		client_fail(client, exit_code, "%s", error);
	else
		client_fail(
			client, exit_code, "the daemon at %s answered %ld", client->socket, status);
	cJSON_Delete(json);
	return exit_code;
}

static int perform(struct client *client, const char *method, const char *path, const char *accept,
	const cJSON *body, char **text)
{
	struct answer answer = {0};
	struct curl_slist *headers = make_headers(client, accept);
	char *sent = body ? cJSON_PrintUnformatted(body) : NULL;
	long status = 0;
	CURLcode result;
	int rc = 0;

	*text = NULL;
	client_prepare(client, path);
	curl_easy_setopt(client->curl, CURLOPT_CUSTOMREQUEST, method);
	curl_easy_setopt(client->curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(client->curl, CURLOPT_TIMEOUT, (long)ANSWER_S);
	curl_easy_setopt(client->curl, CURLOPT_WRITEFUNCTION, take_answer);
	curl_easy_setopt(client->curl, CURLOPT_WRITEDATA, &answer);
	if (strcmp(method, "GET") != 0)
		curl_easy_setopt(client->curl, CURLOPT_POSTFIELDS, sent ? sent : "");
	result = curl_easy_perform(client->curl);
	curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &status);
	if (result != CURLE_OK)
		rc = client_fail(client, CLI_LAB, "the daemon at %s: %s", client->socket,
			curl_easy_strerror(result));
	else if (status < 200 || status > 299)
		rc = take_refusal(client, status, answer.text);
	curl_slist_free_all(headers);
	cJSON_free(sent);
	if (rc != 0) {
		free(answer.text);
		return rc;
	}
	*text = answer.text ? answer.text : strdup("");
	return *text ? 0 : client_fail(client, CLI_LAB, "out of memory");
}

int client_get_text(struct client *client, const char *path, char **text)
{
	return perform(client, "GET", path, "Accept: text/plain", NULL, text);
}

int client_ask(struct client *client, const char *method, const char *path, const cJSON *body,
	cJSON **json)
{
	char *text;
	int rc = perform(client, method, path, "Accept: application/json", body, &text);

	*json = NULL;
	if (rc != 0)
		return rc;
	*json = cJSON_Parse(text);
	free(text);
	return *json ? 0
		     : client_fail(client, CLI_LAB, "the daemon at %s answered no JSON",
			       client->socket);
}

/* -------------------------------------------------------------------- open */

static int read_token(struct client *client)
{
	const char *path = getenv("SAMEBOARD_TOKEN_FILE");

	if (!client->is_tcp || !path || !*path)
		return 0;
	return access_read_token(&client->access, path, client->error, sizeof(client->error)) == 0
		       ? 0
		       : CLI_USAGE;
}

int client_open(struct client **opened, const char *socket)
{
	struct client *client = calloc(1, sizeof(*client));
	int rc;

	*opened = client;
	if (!client)
		return CLI_LAB;
	snprintf(client->socket, sizeof(client->socket), "%s", socket);
	client->is_tcp = strncmp(socket, "http://", 7) == 0;
	/* Known before libcurl is loaded with it: most commands find no daemon. */
	if (!client->is_tcp && access(socket, F_OK) != 0)
		return client_fail(client, CLI_LAB,
			"no daemon: there is no socket %s; start sameboardd, or name its socket by "
			"--socket or $SAMEBOARD_SOCKET",
			socket);
	client->curl = curl_easy_init();
	if (!client->curl)
		return client_fail(client, CLI_LAB, "libcurl cannot be used");
	rc = read_token(client);
	return rc ? rc : client_ask(client, "GET", "/v1", NULL, &client->facts);
}

void client_close(struct client *client)
{
	if (!client)
		return;
	cJSON_Delete(client->facts);
	curl_easy_cleanup(client->curl);
	free(client);
}

const char *client_get_fact(const struct client *client, const char *name)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(client->facts, name));

	return text ? text : "";
}
