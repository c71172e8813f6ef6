/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's HTTP and everything that answers it, over real sockets, in this
 * process.  No board is ever touched: both are held as if they had to recover.
 * The first byte says which socket and whether the bytes come in pieces.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "boardctl/monotonic.h"
#include "db/handle.h"
#include "harness/daemon.h"
#include "harness/document_scan.h"
#include "harness/http_private.h"
#include "tests/fuzz/fuzz.h"

#define TOKEN	     "0123456789abcdef-of-a-fuzzer"
#define ANSWER_MAX   65536u
#define ROUNDS_QUIET 4 /* without anything new: it waits for us */

static const char lab_text[] =
	"{\"boards\": {\"a\": {\"model\": \"m\", \"console\": {\"driver\": \"pty\", \"path\": \"/a\"},\n"
	"\"power\": {\"driver\": \"lcus\", \"port\": {\"driver\": \"pty\", \"path\": \"/b\"}}},\n"
	"\"b\": {\"model\": \"m\", \"console\": {\"driver\": \"pty\", \"path\": \"/c\"},\n"
	"\"power\": {\"driver\": \"lcus\", \"port\": {\"driver\": \"pty\", \"path\": \"/d\"}}}}}";

struct server {
	struct daemon daemon;
	struct sockaddr_un local;
	socklen_t local_size;
	struct sockaddr_in remote;
};

/* ------------------------------------------------------------------ daemon */

static void open_sockets(struct server *server)
{
	socklen_t size = sizeof(server->remote);

	server->daemon.unix_socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	server->local.sun_family = AF_UNIX;
	/* A name of the system's choice. */
	FUZZ_EXPECT(bind(server->daemon.unix_socket, (struct sockaddr *)&server->local,
			    sizeof(sa_family_t)) == 0);
	server->local_size = sizeof(server->local);
	FUZZ_EXPECT(getsockname(server->daemon.unix_socket, (struct sockaddr *)&server->local,
			    &server->local_size) == 0);
	server->daemon.tcp_socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	server->remote = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	FUZZ_EXPECT(bind(server->daemon.tcp_socket, (struct sockaddr *)&server->remote,
			    sizeof(server->remote)) == 0);
	FUZZ_EXPECT(getsockname(server->daemon.tcp_socket, (struct sockaddr *)&server->remote,
			    &size) == 0);
	FUZZ_EXPECT(listen(server->daemon.unix_socket, 8) == 0 &&
		    listen(server->daemon.tcp_socket, 8) == 0);
}

static struct server *get_server(void)
{
	static struct server server;
	struct daemon *daemon = &server.daemon;
	static struct daemon_worker workers[2];

	if (daemon->http)
		return &server;
	setenv("SAMEBOARD_SUITES", "harness/suites", 1);
	setenv("SAMEBOARD_STATE", "/nonexistent", 1);
	*daemon = (struct daemon){.locks = {-1, -1}, .signals = -1, .workers = workers};
	strcpy(daemon->access.token, TOKEN);
	strcpy(daemon->images_path, "tests/data/images");
	FUZZ_EXPECT(lab_parse(&daemon->lab, "lab", lab_text, sizeof(lab_text) - 1) == 0);
	FUZZ_EXPECT(store_open(&daemon->store, ":memory:", 0) == 0);
	for (size_t i = 0; i < 2; i++)
		workers[i] = (struct daemon_worker){.daemon = daemon,
			.board = &daemon->lab->boards[i],
			.report = -1,
			.needs_recovery = true,
			.retry_ms = UINT64_MAX};
	daemon->worker_count = 2;
	stream_append(&workers[0].console, "U-Boot 2023.01\r\n=> ", 19);
	open_sockets(&server);
	FUZZ_EXPECT(http_open(&daemon->http, daemon) == 0);
	return &server;
}

/* -------------------------------------------------------------------- client */

static int connect_to(const struct server *server, bool over_tcp)
{
	int fd = socket(over_tcp ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	/* Ports are not used up by connections that wait for late packets. */
	struct linger linger = {.l_onoff = 1};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	FUZZ_EXPECT(fd >= 0);
	if (over_tcp)
		FUZZ_EXPECT(connect(fd, (const struct sockaddr *)&server->remote,
				    sizeof(server->remote)) == 0);
	else
		FUZZ_EXPECT(connect(fd, (const struct sockaddr *)&server->local,
				    server->local_size) == 0);
	return fd;
}

struct answer {
	char bytes[ANSWER_MAX];
	size_t size;
	bool is_closed;
};

/* True when something came. */
static bool receive(int fd, struct answer *answer)
{
	size_t room = sizeof(answer->bytes) - 1 - answer->size;
	char rest[4096];
	ssize_t got = room ? recv(fd, answer->bytes + answer->size, room, MSG_DONTWAIT)
			   : recv(fd, rest, sizeof(rest), MSG_DONTWAIT);

	if (got > 0 && room)
		answer->size += (size_t)got;
	answer->bytes[answer->size] = '\0';
	answer->is_closed = got == 0 || (got < 0 && errno != EAGAIN);
	return got > 0;
}

static void send_all(struct server *server, int fd, const uint8_t *bytes, size_t size,
	bool in_pieces, struct answer *answer)
{
	uint32_t state = 3;

	while (size > 0 && !answer->is_closed) {
		size_t piece = in_pieces ? 1 + 16 * fuzz_piece(&state, size) : size;
		ssize_t sent =
			send(fd, bytes, piece < size ? piece : size, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent < 0 && errno != EAGAIN)
			return;
		sent = sent < 0 ? 0 : sent;
		bytes += sent;
		size -= (size_t)sent;
		http_run(server->daemon.http);
		receive(fd, answer);
	}
}

static void talk(struct server *server, const uint8_t *bytes, size_t size, uint8_t head,
	struct answer *answer)
{
	int fd = connect_to(server, head & 1);
	int quiet = 0;

	send_all(server, fd, bytes, size, head & 2, answer);
	shutdown(fd, SHUT_WR);
	while (!answer->is_closed && quiet < ROUNDS_QUIET) {
		http_run(server->daemon.http);
		http_tick(server->daemon.http, monotonic_get_ms());
		quiet = receive(fd, answer) ? 0 : quiet + 1;
	}
	close(fd);
	http_view_end_all(server->daemon.http);
	for (int i = 0; i < 3; i++)
		http_run(server->daemon.http);
}

/* The first answer, when all of it came and it says it is JSON. */
static void check_answer(struct answer *answer, bool is_head)
{
	char *body = strstr(answer->bytes, "\r\n\r\n");
	const char *type, *length;
	unsigned line;
	unsigned char byte;
	const char *what;
	cJSON *json;
	size_t size;

	FUZZ_EXPECT(answer->size == 0 || strncmp(answer->bytes, "HTTP/1.", 7) == 0);
	if (!body || is_head)
		return;
	*body = '\0';
	body += 4;
	type = strstr(answer->bytes, "Content-Type: application/json");
	length = strstr(answer->bytes, "Content-Length: ");
	size = length ? strtoul(length + 16, NULL, 10) : 0;
	if (!type || !length || size > answer->size - (size_t)(body - answer->bytes))
		return;
	FUZZ_EXPECT(!scan_find_bad_byte(body, size, &line, &byte, &what));
	json = cJSON_ParseWithLength(body, size);
	FUZZ_EXPECT(json != NULL);
	cJSON_Delete(json);
}

static void clean_up(struct server *server)
{
	job_logs_fini(&server->daemon.logs);
	server->daemon.logs = (struct job_logs){NULL};
	FUZZ_EXPECT(sqlite3_exec(server->daemon.store->db, "DELETE FROM queue", NULL, NULL, NULL) ==
		    SQLITE_OK);
}

int fuzz_http(const uint8_t *bytes, size_t size)
{
	static struct answer answer;
	struct server *server = get_server();
	sqlite3 *db = server->daemon.store->db;
	int changes = sqlite3_total_changes(db);

	if (size < 1)
		return 0;
	answer.size = 0;
	answer.is_closed = false;
	answer.bytes[0] = '\0';
	talk(server, bytes + 1, size - 1, bytes[0], &answer);
	FUZZ_EXPECT(!server->daemon.http->views && !server->daemon.http->clients);
	check_answer(&answer, size > 5 && memmem(bytes + 1, 5, "HEAD", 4));
	if ((bytes[0] & 1) && !memmem(bytes, size, TOKEN, sizeof(TOKEN) - 1))
		FUZZ_EXPECT(sqlite3_total_changes(db) == changes);
	FUZZ_EXPECT(server->daemon.workers[0].pid == 0 && server->daemon.workers[1].pid == 0);
	if (sqlite3_total_changes(db) != changes || server->daemon.logs.first)
		clean_up(server);
	return 0;
}

/* ------------------------------------------------------------------- seeds */

#define LOCAL	   "Host: 127.0.0.1\r\n"
#define RIGHT	   "Authorization: Bearer " TOKEN "\r\n"
#define AUTHORISED LOCAL RIGHT
#define SUBMISSION                                                                                 \
	"{\"suite\": \"own\", \"suite_text\": \"{\\\"systems\\\":[\\\"tiny\\\"],"                  \
	"\\\"windows\\\":[{\\\"bench\\\":\\\"wake.idle\\\"}]}\", \"board\": \"a\", "               \
	"\"boots\": 2, \"seed\": 7, \"client\": \"me\", \"command\": \"submit\"}"

/* Submitted, then looked at and cancelled. */
static size_t write_session(char *seed, size_t size, char head, const char *right)
{
	return (size_t)snprintf(seed, size,
		"%cPOST /v1/jobs HTTP/1.1\r\n" LOCAL "%sContent-Length: %zu\r\n\r\n%s"
		"GET /v1/jobs/1 HTTP/1.1\r\n" LOCAL "\r\n"
		"GET /v1/queue HTTP/1.1\r\n" LOCAL "\r\n"
		"POST /v1/jobs/1/cancel HTTP/1.1\r\n" LOCAL "%sContent-Length: 0\r\n\r\n"
		"GET /v1/jobs/1/events HTTP/1.1\r\n" LOCAL "\r\n",
		head, right, sizeof(SUBMISSION) - 1, SUBMISSION, right);
}

void fuzz_http_seeds(fuzz_visit *visit, void *context)
{
	static const char *const requests[] = {
		"GET /v1 HTTP/1.1\r\n" LOCAL "\r\n",
		"GET /v1/boards HTTP/1.1\r\n" LOCAL "Origin: http://127.0.0.1\r\n\r\n",
		"GET /v1/boards/a/console HTTP/1.1\r\n" LOCAL "\r\n",
		"GET /v1/boards/%ff%c3%28/console HTTP/1.1\r\n" LOCAL "\r\n",
		"GET /v1/\xc3\x28 HTTP/1.1\r\n" LOCAL "\r\n",
		"POST /v1/boards/a/release HTTP/1.1\r\n" AUTHORISED "Content-Length: 0\r\n\r\n",
		"GET /v1/queue HTTP/1.1\r\n" LOCAL "\r\nGET /v1/runs HTTP/1.1\r\n" LOCAL "\r\n",
		"GET /v1/runs/1 HTTP/1.0\r\n" LOCAL "Accept: text/plain\r\n\r\n",
		"GET /v1/jobs/1/events HTTP/1.1\r\n" LOCAL "Last-Event-ID: 5\r\n\r\n",
		"GET /v1/jobs/1/comparison HTTP/1.1\r\n" LOCAL "\r\n",
		"DELETE /v1/jobs/1 HTTP/1.1\r\n" LOCAL "\r\n",
		"HEAD /v1 HTTP/1.1\r\n" LOCAL "\r\n",
		"POST /v1/jobs HTTP/1.1\r\n" LOCAL
		"Content-Length: 18\r\n\r\n{\"suite\":\"smoke\"}\n",
		"POST /v1/jobs HTTP/1.1\r\n" AUTHORISED "Transfer-Encoding: chunked\r\n\r\n"
		"5\r\n{\"a\":\r\n3\r\n 1}\r\n0\r\n\r\n",
		"POST /v1/jobs HTTP/1.1\r\n" LOCAL "Transfer-Encoding: chunked\r\n"
		"Expect: 100-continue\r\n\r\nffffffffffffffff\r\n{}",
	};
	static const char *const rights[] = {
		RIGHT, "", "Authorization: Bearer x\r\n", "Origin: http://evil.example\r\n" RIGHT};
	char seed[2048];

	for (char head = '0'; head < '4'; head++) {
		for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
			visit(context, (const uint8_t *)seed,
				(size_t)snprintf(seed, sizeof(seed), "%c%s", head, requests[i]));
		for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++)
			visit(context, (const uint8_t *)seed,
				write_session(seed, sizeof(seed), head, rights[i]));
	}
}
