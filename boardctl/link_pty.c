/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boardctl/drivers.h"
#include "boardctl/tty.h"

/* Any tty by its path: a pty's slave, or a port that needs no finding. */
struct link_pty {
	struct link base;
	int fd;
};

static int fd_of(const struct link *link)
{
	return ((const struct link_pty *)link)->fd;
}

static int say(struct link *link, int ret, const char *what)
{
	if (ret == -ENODEV)
		return fail_format(link->error, sizeof(link->error), ret,
			"cannot %s %s: the other side is gone", what, link->path);
	return fail_format(link->error, sizeof(link->error), ret, "cannot %s %s: %s", what,
		link->path, strerror(-ret));
}

static int pty_resolve(
	const struct link_config *config, char *path, size_t size, char *error, size_t error_size)
{
	char real[PATH_MAX];

	if (!config->path)
		return fail_format(
			error, error_size, -EINVAL, "the pty driver needs the path of a tty");
	if (!realpath(config->path, real))
		return fail_format(
			error, error_size, -errno, "no port %s: %s", config->path, strerror(errno));
	if (strlen(real) >= size)
		return fail_format(error, error_size, -ENAMETOOLONG, "path too long: %s", real);
	strcpy(path, real);
	return 0;
}

static int pty_open(struct link *link)
{
	struct link_pty *pty = (struct link_pty *)link;
	int fd = open(link->path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return say(link, -errno, "open");
	/* Not TIOCEXCL: on a pty it would outlive a killed owner. */
	ret = tty_lock(fd);
	if (ret == -EBUSY) {
		close(fd);
		return fail_format(link->error, sizeof(link->error), ret,
			"port %s is held by another process", link->path);
	}
	if (!ret)
		ret = tty_set_raw(fd, link->baud);
	if (ret) {
		close(fd);
		return say(link, ret, ret == -ENOTTY ? "use as a tty" : "set up");
	}
	pty->fd = fd;
	return 0;
}

static void pty_close(struct link *link)
{
	close(fd_of(link));
}

static ssize_t pty_read(struct link *link, void *buffer, size_t size, unsigned timeout_ms)
{
	ssize_t got = tty_read(fd_of(link), buffer, size, timeout_ms);

	return got < 0 ? say(link, (int)got, "read from") : got;
}

static int pty_write(struct link *link, const void *data, size_t size)
{
	int ret = tty_write(fd_of(link), data, size, link->baud);

	return ret ? say(link, ret, "write to") : 0;
}

static int pty_drain(struct link *link)
{
	int ret = tty_drain(fd_of(link));

	return ret ? say(link, ret, "drain") : 0;
}

static int pty_set_baud(struct link *link, uint32_t baud)
{
	int ret = tty_set_baud(fd_of(link), baud);

	return ret ? say(link, ret, "set the rate of") : 0;
}

static int pty_flush(struct link *link)
{
	int ret = tty_flush_input(fd_of(link));

	return ret ? say(link, ret, "flush") : 0;
}

const struct link_driver link_pty_driver = {
	.name = "pty",
	.instance_size = sizeof(struct link_pty),
	.place = LINK_PLACE_PATH,
	.resolve = pty_resolve,
	.open = pty_open,
	.close = pty_close,
	.read = pty_read,
	.write = pty_write,
	.drain = pty_drain,
	.set_baud = pty_set_baud,
	.flush = pty_flush,
};
