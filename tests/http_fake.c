/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/http_fake.h"

#include <arpa/inet.h>
#include <check.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define LATE_MS 500

static struct {
	int listener, stop_fd;
	char url[64];
	pthread_t thread;
	http_fake_handler *handler;
	void *context;
	struct http_fake_request last;
	_Atomic unsigned count, after, lasting;
	_Atomic enum http_fake_fault fault;
} server = {.listener = -1};

/* Waits for the descriptor, or for the stop: false. */
static bool wait_for(int fd, int timeout_ms)
{
	struct pollfd entries[] = {
		{.fd = fd, .events = POLLIN}, {.fd = server.stop_fd, .events = POLLIN}};

	return poll(entries, 2, timeout_ms) > 0 && !entries[1].revents;
}

static size_t body_length(const char *headers)
{
	const char *at = strcasestr(headers, "\r\nContent-Length:");

	return at ? strtoul(at + 17, NULL, 10) : 0;
}

/* The whole request is in text; false when the client went away before. */
static bool receive(int fd, char *text, size_t size)
{
	size_t used = 0;

	for (;;) {
		char *end = strstr(text, "\r\n\r\n");
		ssize_t got;

		if (end && used >= (size_t)(end + 4 - text) + body_length(text))
			return true;
		if (!wait_for(fd, -1))
			return false;
		got = recv(fd, text + used, size - 1 - used, 0);
		if (got <= 0)
			return false;
		used += (size_t)got;
		text[used] = '\0';
	}
}

static void parse(char *text)
{
	struct http_fake_request *request = &server.last;
	char *headers = strstr(text, "\r\n"), *body = strstr(text, "\r\n\r\n");

	memset(request, 0, sizeof(*request));
	sscanf(text, "%7s %511s", request->method, request->target);
	snprintf(request->body, sizeof(request->body), "%s", body + 4);
	body[2] = '\0';
	snprintf(request->headers, sizeof(request->headers), "%s", headers);
}

static void put(int fd, const void *data, size_t size)
{
	if (send(fd, data, size, MSG_NOSIGNAL) != (ssize_t)size)
		return; /* the client has given up, as it may */
}

static void respond(int fd, enum http_fake_fault fault)
{
	static struct http_fake_answer answer;
	const void *bytes;
	char head[768];
	size_t size;
	int length;

	memset(&answer, 0, sizeof(answer));
	server.handler(server.context, &server.last, &answer);
	bytes = answer.bytes ? answer.bytes : answer.body;
	size = answer.bytes ? answer.size : strlen(answer.body);
	length = snprintf(head, sizeof(head),
		"HTTP/1.1 %d Whatever\r\nContent-Length: %zu\r\nConnection: close\r\n%s\r\n",
		answer.status ? answer.status : 200, size, answer.headers);
	put(fd, head, (size_t)length);
	put(fd, bytes, fault == HTTP_FAKE_HALF ? size / 2 : size);
}

static void serve(int fd)
{
	static char text[8192];
	enum http_fake_fault fault = server.fault;

	text[0] = '\0';
	if (!receive(fd, text, sizeof(text)))
		return;
	parse(text);
	server.count++;
	if (server.after) {
		server.after--;
		fault = HTTP_FAKE_HEALTHY;
	}
	if (server.lasting && --server.lasting == 0)
		server.fault = HTTP_FAKE_HEALTHY;
	switch (fault) {
	case HTTP_FAKE_SILENT:
		wait_for(fd, -1);
		return;
	case HTTP_FAKE_GARBAGE:
		put(fd, "\xff\xfb\x01 login: ", 11);
		return;
	case HTTP_FAKE_CLOSES:
		return;
	case HTTP_FAKE_LATE:
		/* Only the client's patience is at stake, so any wait does. */
		poll(&(struct pollfd){.fd = server.stop_fd, .events = POLLIN}, 1, LATE_MS);
		break;
	case HTTP_FAKE_HEALTHY:
	case HTTP_FAKE_HALF:
		break;
	}
	respond(fd, fault);
}

static void *run(void *unused)
{
	(void)unused;
	while (wait_for(server.listener, -1)) {
		int fd = accept(server.listener, NULL, NULL);

		if (fd < 0)
			break;
		serve(fd);
		close(fd);
	}
	return NULL;
}

const char *http_fake_start(http_fake_handler *handler, void *context)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);

	server.handler = handler;
	server.context = context;
	server.fault = HTTP_FAKE_HEALTHY;
	server.after = 0;
	server.lasting = 0;
	server.count = 0;
	server.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	server.stop_fd = eventfd(0, EFD_CLOEXEC);
	ck_assert_int_eq(bind(server.listener, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(server.listener, 8), 0);
	ck_assert_int_eq(getsockname(server.listener, (struct sockaddr *)&address, &size), 0);
	snprintf(server.url, sizeof(server.url), "http://127.0.0.1:%u",
		(unsigned)ntohs(address.sin_port));
	ck_assert_int_eq(pthread_create(&server.thread, NULL, run, NULL), 0);
	return server.url;
}

void http_fake_stop(void)
{
	const uint64_t one = 1;

	if (server.listener < 0)
		return;
	ck_assert_int_eq(write(server.stop_fd, &one, sizeof(one)), sizeof(one));
	pthread_join(server.thread, NULL);
	close(server.listener);
	close(server.stop_fd);
	server.listener = -1;
}

void http_fake_set_fault(enum http_fake_fault fault, unsigned after)
{
	server.after = after;
	server.lasting = 0;
	server.fault = fault;
}

void http_fake_fail_next(enum http_fake_fault fault, unsigned count)
{
	http_fake_set_fault(fault, 0);
	server.lasting = count;
}

unsigned http_fake_count(void)
{
	return server.count;
}

const struct http_fake_request *http_fake_last(void)
{
	return &server.last;
}
