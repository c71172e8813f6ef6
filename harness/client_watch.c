/* SPDX-License-Identifier: Apache-2.0 */
/* The event stream of a job. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boardctl/monotonic.h"
#include "harness/cli.h"
#include "harness/client_private.h"
#include "harness/stop.h"

/* How long a daemon may be away, as when it is restarted. */
#define AWAY_MS	     30000
#define AWAY_STEP_US 250000

struct watch {
	struct client *client;
	const struct client_events *events;
	char line[65536];
	size_t line_size;
	char event[32], id[32], last_id[32];
	char *data;
	size_t data_size;
	long status;
	bool is_over;
	bool has_moved; /* something came in this connection */
	int exit_code;
};

static void add_data(struct watch *watch, const char *text)
{
	size_t length = strlen(text);
	char *grown = realloc(watch->data, watch->data_size + length + 2);

	if (!grown)
		return;
	if (watch->data_size)
		grown[watch->data_size++] = '\n';
	memcpy(grown + watch->data_size, text, length + 1);
	watch->data = grown;
	watch->data_size += length;
}

static void dispatch(struct watch *watch)
{
	const char *data = watch->data ? watch->data : "";

	if (watch->event[0]) {
		watch->has_moved = true;
		watch->events->see(watch->events->context, watch->event, data);
	}
	if (watch->id[0])
		memcpy(watch->last_id, watch->id, sizeof(watch->last_id));
	if (strcmp(watch->event, "end") == 0) {
		cJSON *json = cJSON_Parse(data);
		const cJSON *code = cJSON_GetObjectItem(json, "exit_code");

		watch->is_over = true;
		watch->exit_code = cJSON_IsNumber(code) ? code->valueint : CLI_LAB;
		cJSON_Delete(json);
	}
	watch->event[0] = watch->id[0] = '\0';
	free(watch->data);
	watch->data = NULL;
	watch->data_size = 0;
}

static void take_line(struct watch *watch)
{
	const char *line = watch->line;

	if (!*line)
		dispatch(watch);
	else if (strncmp(line, "event: ", 7) == 0)
		snprintf(watch->event, sizeof(watch->event), "%.31s", line + 7);
	else if (strncmp(line, "id: ", 4) == 0)
		snprintf(watch->id, sizeof(watch->id), "%.31s", line + 4);
	else if (strncmp(line, "data: ", 6) == 0)
		add_data(watch, line + 6);
}

static size_t take_bytes(char *data, size_t unit, size_t count, void *context)
{
	struct watch *watch = context;
	size_t size = unit * count;

	if (watch->status == 0)
		curl_easy_getinfo(watch->client->curl, CURLINFO_RESPONSE_CODE, &watch->status);
	for (size_t i = 0; i < size && watch->status == 200; i++) {
		if (data[i] == '\n') {
			watch->line[watch->line_size] = '\0';
			take_line(watch);
			watch->line_size = 0;
		} else if (watch->line_size + 1 < sizeof(watch->line)) {
			watch->line[watch->line_size++] = data[i];
		}
	}
	return size;
}

static int see_progress(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	(void)context;
	(void)a;
	(void)b;
	(void)c;
	(void)d;
	return stop_requested() != 0;
}

/* One connection, as long as it lasts. */
static CURLcode listen_once(struct watch *watch, int64_t job)
{
	CURL *curl = watch->client->curl;
	struct curl_slist *headers = NULL;
	char path[64], header[64];
	CURLcode result;

	snprintf(path, sizeof(path), "/v1/jobs/%lld/events", (long long)job);
	client_prepare(watch->client, path);
	if (watch->last_id[0]) {
		snprintf(header, sizeof(header), "Last-Event-ID: %s", watch->last_id);
		headers = curl_slist_append(headers, header);
		curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	}
	watch->status = 0;
	watch->line_size = 0;
	watch->has_moved = false;
	watch->event[0] = watch->id[0] = '\0';
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_bytes);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, watch);
	curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, see_progress);
	/* The daemon sends at least a comment every 15 s. */
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, 60L);
	result = curl_easy_perform(curl);
	curl_slist_free_all(headers);
	return result;
}

int client_watch(
	struct client *client, int64_t job, const struct client_events *events, int *exit_code)
{
	struct watch *watch = calloc(1, sizeof(*watch));
	uint64_t heard_ms = monotonic_get_ms();
	CURLcode result;
	int rc = 0;

	*exit_code = CLI_LAB;
	if (!watch)
		return client_fail(client, CLI_LAB, "out of memory");
	watch->client = client;
	watch->events = events;
	while (rc == 0 && !watch->is_over) {
		result = listen_once(watch, job);
		if (watch->has_moved)
			heard_ms = monotonic_get_ms();
		if (watch->is_over)
			break;
		if (stop_requested())
			rc = client_fail(client, CLI_LAB, "stopped watching; the job goes on");
		else if (watch->status == 404)
			rc = client_fail(
				client, CLI_USAGE, "the daemon has no job %lld", (long long)job);
		else if (monotonic_get_ms() - heard_ms > AWAY_MS)
			rc = client_fail(client, CLI_LAB, "the daemon at %s has gone: %s",
				client->socket, curl_easy_strerror(result));
		else
			usleep(AWAY_STEP_US);
	}
	*exit_code = watch->exit_code;
	free(watch->data);
	free(watch);
	return rc;
}
