/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "boardctl/drivers.h"
#include "boardctl/net.h"

#define CONNECT_MS 5000u
#define STUCK_MS   5000u

/* A console server's port that passes bytes as they are (ser2net `tcp`, a terminal server). */
struct link_tcp {
	struct link base;
	int fd;
};

static int fd_of(const struct link *link)
{
	return ((const struct link_tcp *)link)->fd;
}

static int say(struct link *link, int ret, const char *what)
{
	return fail_format(link->error, sizeof(link->error), ret, "cannot %s %s: %s", what,
		link->path,
		ret == -ENODEV ? "the connection is gone (the server ended it, or the network did)"
			       : strerror(-ret));
}

static int tcp_resolve(
	const struct link_config *config, char *path, size_t size, char *error, size_t error_size)
{
	char host[256], port[8];

	if (net_split_address(config->address, host, sizeof(host), port, sizeof(port)))
		return fail_format(error, error_size, -EINVAL,
			"the %s driver needs an address HOST:PORT, not \"%s\"", config->driver,
			config->address ? config->address : "");
	snprintf(path, size, "%s", config->address);
	return 0;
}

static int tcp_open(struct link *link)
{
	int fd = net_connect(link->config.address, CONNECT_MS, link->error, sizeof(link->error));

	if (fd < 0)
		return fd;
	((struct link_tcp *)link)->fd = fd;
	return 0;
}

static void tcp_close(struct link *link)
{
	close(fd_of(link));
}

static ssize_t tcp_read(struct link *link, void *buffer, size_t size, unsigned timeout_ms)
{
	ssize_t got = net_read(fd_of(link), buffer, size, timeout_ms);

	return got < 0 ? say(link, (int)got, "read from") : got;
}

static int tcp_write(struct link *link, const void *data, size_t size)
{
	int ret = net_write(fd_of(link), data, size, STUCK_MS);

	return ret ? say(link, ret, "write to") : 0;
}

static int tcp_drain(struct link *link)
{
	int ret = net_drain(fd_of(link), STUCK_MS);

	return ret ? say(link, ret, "drain") : 0;
}

static int tcp_set_baud(struct link *link, uint32_t baud)
{
	if (baud == link->baud)
		return 0;
	return fail_format(link->error, sizeof(link->error), -ENOTSUP,
		"%s has the one rate that its server gave it; the rfc2217 driver can change rates",
		link->path);
}

static int tcp_flush(struct link *link)
{
	int ret = net_flush_input(fd_of(link));

	return ret ? say(link, ret, "flush") : 0;
}

const struct link_driver link_tcp_driver = {
	.name = "tcp",
	.instance_size = sizeof(struct link_tcp),
	.place = LINK_PLACE_ADDRESS,
	.resolve = tcp_resolve,
	.open = tcp_open,
	.close = tcp_close,
	.read = tcp_read,
	.write = tcp_write,
	.drain = tcp_drain,
	.set_baud = tcp_set_baud,
	.flush = tcp_flush,
};
