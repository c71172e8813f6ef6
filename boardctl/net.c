/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/net.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "boardctl/fail.h"
#include "boardctl/monotonic.h"
#include "boardctl/ready.h"

#define DRAIN_PAUSE_US 500u

static int gone_or(int error)
{
	switch (error) {
	case EPIPE:
	case ECONNRESET:
	case ENOTCONN:
	case ETIMEDOUT:
	case EHOSTUNREACH:
	case ENETUNREACH:
		return -ENODEV;
	default:
		return -error;
	}
}

int net_split_address(
	const char *address, char *host, size_t host_size, char *port, size_t port_size)
{
	const char *colon = address ? strrchr(address, ':') : NULL;
	const char *start = address;
	size_t host_length, port_length;

	if (!colon)
		return -EINVAL;
	host_length = (size_t)(colon - address);
	if (*start == '[' && host_length > 2 && start[host_length - 1] == ']') {
		start++;
		host_length -= 2;
	} else if (memchr(start, ':', host_length)) {
		return -EINVAL; /* an IPv6 address needs its brackets */
	}
	port_length = strlen(colon + 1);
	if (!host_length || host_length >= host_size || !port_length || port_length >= port_size ||
		strspn(colon + 1, "0123456789") != port_length)
		return -EINVAL;
	memcpy(host, start, host_length);
	host[host_length] = '\0';
	memcpy(port, colon + 1, port_length + 1);
	return 0;
}

static void set_options(int fd)
{
	static const struct {
		int level, name, value;
	} options[] = {
		{IPPROTO_TCP, TCP_NODELAY, 1},
		{SOL_SOCKET, SO_KEEPALIVE, 1},
		{IPPROTO_TCP, TCP_KEEPIDLE, 5},
		{IPPROTO_TCP, TCP_KEEPINTVL, 3},
		{IPPROTO_TCP, TCP_KEEPCNT, 3},
		{IPPROTO_TCP, TCP_USER_TIMEOUT, 15000},
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		setsockopt(fd, options[i].level, options[i].name, &options[i].value,
			sizeof(options[i].value));
}

/* The descriptor or a negative errno. */
static int connect_one(const struct addrinfo *info, uint64_t deadline_us)
{
	int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t size = sizeof(int);
	int error = 0, ready;

	if (fd < 0)
		return -errno;
	set_options(fd);
	if (!connect(fd, info->ai_addr, info->ai_addrlen))
		return fd;
	error = errno;
	if (error == EINPROGRESS) {
		ready = ready_wait(fd, POLLOUT, deadline_us);
		if (ready == 0)
			error = ETIMEDOUT;
		else if (ready < 0)
			error = -ready;
		else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size))
			error = errno;
	}
	if (!error)
		return fd;
	close(fd);
	return -error;
}

int net_connect(const char *address, unsigned timeout_ms, char *error, size_t error_size)
{
	const struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | AI_ADDRCONFIG};
	uint64_t deadline_us = monotonic_get_us() + (uint64_t)timeout_ms * 1000u;
	struct addrinfo *found = NULL;
	char host[256], port[8];
	int fd = -ECONNREFUSED, ret;

	if (net_split_address(address, host, sizeof(host), port, sizeof(port)))
		return fail_format(error, error_size, -EINVAL,
			"\"%s\" is no address; expected HOST:PORT", address ? address : "");
	ret = getaddrinfo(host, port, &hints, &found);
	if (ret == EAI_ADDRFAMILY || ret == EAI_NONAME) {
		/* A machine with nothing but a loopback has no "configured" address. */
		struct addrinfo any = hints;

		any.ai_flags &= ~AI_ADDRCONFIG;
		ret = getaddrinfo(host, port, &any, &found);
	}
	if (ret)
		return fail_format(error, error_size, -ENOENT, "cannot find host %s: %s", host,
			gai_strerror(ret));
	for (struct addrinfo *info = found; info && fd < 0; info = info->ai_next)
		fd = connect_one(info, deadline_us);
	freeaddrinfo(found);
	if (fd < 0)
		return fail_format(
			error, error_size, fd, "cannot connect to %s: %s", address, strerror(-fd));
	return fd;
}

ssize_t net_read(int fd, void *buffer, size_t size, unsigned timeout_ms)
{
	uint64_t deadline_us = monotonic_get_us() + (uint64_t)timeout_ms * 1000u;

	for (;;) {
		int ready = ready_wait(fd, POLLIN, deadline_us);
		ssize_t got;

		if (ready <= 0)
			return ready;
		got = recv(fd, buffer, size, MSG_DONTWAIT);
		if (got > 0)
			return got;
		if (!got)
			return -ENODEV;
		if (errno != EAGAIN && errno != EINTR)
			return gone_or(errno);
	}
}

int net_write(int fd, const void *data, size_t size, unsigned timeout_ms)
{
	const char *bytes = data;

	while (size) {
		ssize_t put = send(fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
		int ready;

		if (put > 0) {
			bytes += put;
			size -= (size_t)put;
			continue;
		}
		if (put < 0 && errno != EAGAIN && errno != EINTR)
			return gone_or(errno);
		ready = ready_wait(fd, POLLOUT, monotonic_get_us() + (uint64_t)timeout_ms * 1000u);
		if (ready < 0)
			return ready;
		if (!ready)
			return -ETIMEDOUT;
	}
	return 0;
}

int net_drain(int fd, unsigned timeout_ms)
{
	uint64_t deadline_us = monotonic_get_us() + (uint64_t)timeout_ms * 1000u;
	int left = 0;

	while (!ioctl(fd, SIOCOUTQ, &left) && left > 0) {
		uint64_t now_us = monotonic_get_us();

		if (now_us >= deadline_us)
			return -ETIMEDOUT;
		monotonic_sleep_until_us(now_us + DRAIN_PAUSE_US);
	}
	return 0;
}

int net_flush_input(int fd)
{
	char rest[4096];
	ssize_t got;

	while ((got = net_read(fd, rest, sizeof(rest), 0)) > 0)
		;
	return (int)got;
}
