/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/http.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "boardctl/monotonic.h"
#include "boardctl/utf8.h"
#include "harness/daemon.h"
#include "harness/http_private.h"

/* One request while it comes in. */
struct http_request {
	const struct api_route *route;
	struct api_call call;
	char word[API_WORD_SIZE];
	char *body;
	size_t size;
	bool is_too_large;
};

/* ------------------------------------------------------------- connections */

static void see_connection(void *context, struct MHD_Connection *connection, void **socket_context,
	enum MHD_ConnectionNotificationCode code)
{
	struct http *http = context;
	struct http_client *client = *socket_context, **at = &http->clients;
	const union MHD_ConnectionInfo *info;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		client = calloc(1, sizeof(*client));
		*socket_context = client;
		if (!client)
			return;
		info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
		*client = (struct http_client){.next = http->clients,
			.connection = connection,
			.fd = info ? info->connect_fd : -1,
			.is_receiving = true,
			.since_ms = monotonic_get_ms()};
		info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_DAEMON);
		client->is_tcp = !info || info->daemon != http->sockets[0];
		http->clients = client;
		return;
	}
	while (*at && *at != client)
		at = &(*at)->next;
	if (*at)
		*at = client->next;
	free(client);
	*socket_context = NULL;
}

static void end_request(void *context, struct MHD_Connection *connection, void **request_context,
	enum MHD_RequestTerminationCode code)
{
	struct http_request *request = *request_context;
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct http_client *client = info ? info->socket_context : NULL;

	(void)context;
	(void)code;
	if (client) {
		client->is_receiving = true;
		client->since_ms = monotonic_get_ms();
	}
	if (request)
		free(request->body);
	free(request);
	*request_context = NULL;
}

/* ------------------------------------------------------------------ answer */

static enum MHD_Result send_reply(
	struct http *http, struct http_client *client, struct api_reply *reply)
{
	struct MHD_Response *response = NULL;
	enum MHD_Result result = MHD_NO;
	char *text = NULL;

	if (reply->view.stream) {
		response = http_view_new(http, client, &reply->view);
		if (!response)
			api_fail(reply, 503, "too many viewers; try again later");
	}
	if (!response) {
		text = reply->text ? reply->text : cJSON_Print(reply->json);
		if (text) /* names in requests and texts of boards may be any bytes */
			utf8_mend(text);
		response = text ? MHD_create_response_from_buffer(
					  strlen(text), text, MHD_RESPMEM_MUST_FREE)
				: NULL;
		if (response)
			MHD_add_response_header(response, "Content-Type",
				reply->text ? "text/plain; charset=utf-8" : "application/json");
		reply->text = NULL;
	}
	cJSON_Delete(reply->json);
	reply->json = NULL;
	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	if (reply->allow)
		MHD_add_response_header(response, "Allow", reply->allow);
	if (reply->status == 401)
		MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
	client->is_receiving = false;
	result = MHD_queue_response(client->connection, reply->status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result refuse(
	struct http *http, struct http_client *client, unsigned status, const char *why)
{
	struct api_reply reply = {0};

	api_fail(&reply, status, "%s", why);
	return send_reply(http, client, &reply);
}

/* ----------------------------------------------------------------- request */

static const char *header(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static void identify(struct http_client *client, struct api_call *call)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	call->is_tcp = client->is_tcp;
	call->uid = call->pid = -1;
	if (!client->is_tcp && getsockopt(client->fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0) {
		call->uid = peer.uid;
		call->pid = peer.pid;
	}
}

/* Everything that its first lines can be refused for. */
static enum MHD_Result begin_request(struct http *http, struct http_client *client, const char *url,
	const char *method, void **context)
{
	struct MHD_Connection *connection = client->connection;
	struct api_reply reply = {0};
	struct access_request asked = {
		.is_tcp = client->is_tcp,
		.is_change = strcmp(method, "GET") != 0,
		.host = header(connection, "Host"),
		.origin = header(connection, "Origin"),
		.authorization = header(connection, "Authorization"),
	};
	const char *why, *length = header(connection, "Content-Length");
	struct http_request *request;
	unsigned status = access_check(&http->daemon->access, &asked, &why);

	if (status)
		return refuse(http, client, status, why);
	if (length && strtoull(length, NULL, 10) > HTTP_BODY_MAX)
		return refuse(http, client, 413, "the request is larger than 1 MiB");
	request = calloc(1, sizeof(*request));
	if (!request)
		return MHD_NO;
	*context = request;
	request->route = api_find_route(method, url, request->word, &reply);
	if (!request->route)
		return send_reply(http, client, &reply);
	request->call = (struct api_call){.daemon = http->daemon, .word = request->word};
	identify(client, &request->call);
	return MHD_YES;
}

static enum MHD_Result take_body(struct http_request *request, const char *data, size_t *size)
{
	char *grown;

	/* Too much is read to its end, so that the answer can be; but not for ever. */
	if (request->size + *size > HTTP_BODY_MAX) {
		request->is_too_large = true;
		request->size += *size;
		*size = 0;
		return request->size > 8u * HTTP_BODY_MAX ? MHD_NO : MHD_YES;
	}
	grown = realloc(request->body, request->size + *size + 1);
	if (!grown)
		return MHD_NO;
	memcpy(grown + request->size, data, *size);
	request->body = grown;
	request->size += *size;
	request->body[request->size] = '\0';
	*size = 0;
	return MHD_YES;
}

static enum MHD_Result take_request(void *context, struct MHD_Connection *connection,
	const char *url, const char *method, const char *version, const char *data, size_t *size,
	void **request_context)
{
	struct http *http = context;
	struct http_request *request = *request_context;
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct http_client *client = info ? info->socket_context : NULL;
	struct api_reply reply = {.status = 200};
	const char *accept, *last_id;

	(void)version;
	if (!client)
		return MHD_NO;
	if (!request)
		return begin_request(http, client, url, method, request_context);
	if (*size)
		return take_body(request, data, size);
	if (request->is_too_large)
		return refuse(http, client, 413, "the request is larger than 1 MiB");
	accept = header(connection, "Accept");
	last_id = header(connection, "Last-Event-ID");
	request->call.wants_text = accept && strcmp(accept, "text/plain") == 0;
	request->call.last_event = last_id ? strtoull(last_id, NULL, 10) : 0;
	request->call.body = request->body ? request->body : "";
	request->call.body_size = request->size;
	request->route->answer(&request->call, &reply);
	return send_reply(http, client, &reply);
}

/* -------------------------------------------------------------------- loop */

static void see_nothing(void *context, const char *format, va_list args)
{
	(void)context;
	(void)format;
	(void)args; /* what clients do wrong is their business */
}

static struct MHD_Daemon *start(struct http *http, int socket)
{
	return MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0,
		NULL, NULL, take_request, http, MHD_OPTION_EXTERNAL_LOGGER, see_nothing, NULL,
		MHD_OPTION_LISTEN_SOCKET, socket, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned)HTTP_CONNECTIONS_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)HTTP_HEADERS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)HTTP_IDLE_S,
		MHD_OPTION_NOTIFY_CONNECTION, see_connection, http, MHD_OPTION_NOTIFY_COMPLETED,
		end_request, http, MHD_OPTION_END);
}

int http_open(struct http **opened, struct daemon *daemon)
{
	struct http *http = calloc(1, sizeof(*http));

	*opened = http;
	if (!http)
		return -ENOMEM;
	http->daemon = daemon;
	http->sockets[0] = start(http, daemon->unix_socket);
	if (!http->sockets[0])
		return -EIO;
	daemon->unix_socket = -1; /* the library closes it */
	if (daemon->tcp_socket < 0)
		return 0;
	http->sockets[1] = start(http, daemon->tcp_socket);
	if (!http->sockets[1])
		return -EIO;
	daemon->tcp_socket = -1;
	return 0;
}

void http_close(struct http *http)
{
	if (!http)
		return;
	http_view_end_all(http);
	http_run(http);
	for (size_t i = 0; i < HTTP_POLLS; i++)
		if (http->sockets[i])
			MHD_stop_daemon(http->sockets[i]);
	free(http);
}

unsigned http_get_polls(struct http *http, struct pollfd *polls)
{
	unsigned count = 0;

	for (size_t i = 0; i < HTTP_POLLS; i++) {
		const union MHD_DaemonInfo *info;

		if (!http->sockets[i])
			continue;
		info = MHD_get_daemon_info(http->sockets[i], MHD_DAEMON_INFO_EPOLL_FD);
		polls[count++] = (struct pollfd){.fd = info->epoll_fd, .events = POLLIN};
	}
	return count;
}

int http_get_timeout(struct http *http, int timeout_ms)
{
	MHD_UNSIGNED_LONG_LONG wait_ms;

	if (http->must_run)
		return 0;
	for (size_t i = 0; i < HTTP_POLLS; i++)
		if (http->sockets[i] && MHD_get_timeout(http->sockets[i], &wait_ms) == MHD_YES &&
			wait_ms < (unsigned long long)timeout_ms)
			timeout_ms = (int)wait_ms;
	return timeout_ms;
}

void http_run(struct http *http)
{
	http->must_run = false;
	for (size_t i = 0; i < HTTP_POLLS; i++)
		if (http->sockets[i])
			MHD_run(http->sockets[i]);
}

void http_tick(struct http *http, uint64_t now_ms)
{
	http_view_tick(http, now_ms);
	/* The library's own limit begins anew with each byte. */
	for (struct http_client *client = http->clients; client; client = client->next)
		if (client->is_receiving && now_ms - client->since_ms > HTTP_REQUEST_MS)
			shutdown(client->fd, SHUT_RDWR);
}
