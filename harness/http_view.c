/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "boardctl/monotonic.h"
#include "harness/http_private.h"

#define BEAT_MS	   15000
#define BLOCK_SIZE 16384

static void resume(struct http_view *view)
{
	if (!view->is_suspended)
		return;
	view->is_suspended = false;
	view->http->must_run = true;
	MHD_resume_connection(view->connection);
}

static ssize_t read_view(void *context, uint64_t position, char *buffer, size_t size)
{
	static const char beat[] = ":\n\n";
	struct http_view *view = context;
	ssize_t got;

	(void)position;
	if (view->is_gone)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	got = stream_read(view->of.stream, &view->of.place, buffer, size);
	if (got == -ENODATA)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (got < 0)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	if (got == 0 && view->wants_beat && size >= sizeof(beat)) {
		memcpy(buffer, beat, sizeof(beat) - 1);
		got = sizeof(beat) - 1;
	}
	if (got > 0) {
		view->wants_beat = false;
		view->active_ms = monotonic_get_ms();
		return got;
	}
	view->is_suspended = true;
	MHD_suspend_connection(view->connection);
	return 0;
}

static void free_view(void *context)
{
	struct http_view *view = context;
	struct http_view **at = &view->http->views;

	while (*at && *at != view)
		at = &(*at)->next;
	if (*at)
		*at = view->next;
	view->http->view_count--;
	--*view->of.viewers;
	free(view);
}

struct MHD_Response *http_view_new(
	struct http *http, struct http_client *client, const struct api_view *of)
{
	struct http_view *view;
	struct MHD_Response *response;

	if (http->view_count >= HTTP_VIEWS_MAX)
		return NULL;
	view = calloc(1, sizeof(*view));
	if (!view)
		return NULL;
	*view = (struct http_view){.next = http->views,
		.http = http,
		.connection = client->connection,
		.fd = client->fd,
		.of = *of,
		.active_ms = monotonic_get_ms()};
	response = MHD_create_response_from_callback(
		MHD_SIZE_UNKNOWN, BLOCK_SIZE, read_view, view, free_view);
	if (!response) {
		free(view);
		return NULL;
	}
	http->views = view;
	http->view_count++;
	++*of->viewers;
	MHD_add_response_header(response, "Content-Type",
		of->is_events ? "text/event-stream" : "application/octet-stream");
	MHD_add_response_header(response, "Cache-Control", "no-store");
	return response;
}

void http_wake(struct http *http, const struct stream *stream)
{
	for (struct http_view *view = http ? http->views : NULL; view; view = view->next)
		if (view->of.stream == stream)
			resume(view);
}

/* A suspended connection is not looked at by the library: has its client left? */
static bool has_left(const struct http_view *view)
{
	char byte;
	ssize_t got = recv(view->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

	return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

void http_view_tick(struct http *http, uint64_t now_ms)
{
	for (struct http_view *view = http->views; view; view = view->next) {
		if (!view->is_suspended)
			continue;
		if (has_left(view))
			view->is_gone = true;
		else if (view->of.is_events && now_ms - view->active_ms > BEAT_MS)
			view->wants_beat = true;
		if (view->is_gone || view->wants_beat)
			resume(view);
	}
}

void http_view_end_all(struct http *http)
{
	for (struct http_view *view = http->views; view; view = view->next) {
		view->is_gone = true;
		resume(view);
	}
}
