/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <libserialport.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "boardctl/drivers.h"
#include "boardctl/portmatch.h"
#include "boardctl/tty.h"

#define CANDIDATES_MAX 64

struct link_serial {
	struct link base;
	struct sp_port *port;
	int fd; /* the port's own */
};

static struct link_serial *serial_of(struct link *link)
{
	return (struct link_serial *)link;
}

static int say(struct link *link, int ret, const char *what)
{
	if (ret == -EACCES)
		return fail_format(link->error, sizeof(link->error), ret,
			"cannot %s %s: permission denied; be in the group that it belongs to "
			"(dialout), or install the udev rules (60-sameboard.rules)",
			what, link->path);
	return fail_format(link->error, sizeof(link->error), ret, "cannot %s %s: %s", what,
		link->path, ret == -ENODEV ? "the adapter is gone" : strerror(-ret));
}

static int errno_of(enum sp_return ret)
{
	switch (ret) {
	case SP_OK:
		return 0;
	case SP_ERR_ARG:
		return -EINVAL;
	case SP_ERR_MEM:
		return -ENOMEM;
	case SP_ERR_SUPP:
		return -ENOTSUP;
	case SP_ERR_FAIL:
	default:
		switch (sp_last_error_code()) {
		case 0:
			return -EIO;
		case EIO:
		case ENXIO:
		case ENODEV:
			return -ENODEV;
		default:
			return -sp_last_error_code();
		}
	}
}

static int find_port(
	const struct link_config *config, char *path, size_t size, char *error, size_t error_size)
{
	struct portmatch_candidate *candidates = calloc(CANDIDATES_MAX, sizeof(*candidates));
	int count = candidates ? portmatch_list(candidates, CANDIDATES_MAX) : -ENOMEM;
	int ret = count;

	if (count < 0)
		fail_format(
			error, error_size, ret, "cannot list the serial ports: %s", strerror(-ret));
	else
		ret = portmatch_choose(config, candidates, (size_t)count, error, error_size);
	if (ret >= 0) {
		snprintf(path, size, "%s", candidates[ret].path);
		ret = 0;
	}
	free(candidates);
	return ret;
}

static int serial_resolve(
	const struct link_config *config, char *path, size_t size, char *error, size_t error_size)
{
	char real[PATH_MAX], found[PATH_MAX] = "";
	bool has_match = config->usb || config->usb_serial || config->usb_path;
	int ret;

	if (!has_match && !config->path)
		return fail_format(error, error_size, -EINVAL,
			"the serial driver needs a match: usb \"vendor:product\", serial or path");
	if (has_match) {
		ret = find_port(config, found, sizeof(found), error, error_size);
		if (ret)
			return ret;
	}
	if (!realpath(config->path ? config->path : found, real))
		return fail_format(error, error_size, -errno, "no port %s: %s",
			config->path ? config->path : found, strerror(errno));
	if (has_match && config->path && strcmp(real, found))
		return fail_format(error, error_size, -ENOENT, "%s is %s, but the match finds %s",
			config->path, real, found);
	if (strlen(real) >= size)
		return fail_format(error, error_size, -ENAMETOOLONG, "path too long: %s", real);
	strcpy(path, real);
	return 0;
}

static int set_up(struct link_serial *serial)
{
	struct link *link = &serial->base;
	int ret = errno_of(sp_get_port_handle(serial->port, &serial->fd));

	if (ret)
		return say(link, ret, "use");
	/* First of all, before anything on the line can act on them. */
	sp_set_dtr(serial->port, link->config.dtr ? SP_DTR_ON : SP_DTR_OFF);
	sp_set_rts(serial->port, link->config.rts ? SP_RTS_ON : SP_RTS_OFF);
	ret = tty_lock(serial->fd);
	if (ret == -EBUSY)
		return fail_format(link->error, sizeof(link->error), ret,
			"port %s is held by another process", link->path);
	if (!ret)
		ret = tty_set_raw(serial->fd, link->baud);
	if (ret)
		return say(link, ret, "set up");
	/* Keeps brltty, ModemManager and a second terminal out; not root. */
	ioctl(serial->fd, TIOCEXCL);
	tty_flush_input(serial->fd);
	return 0;
}

static int serial_open(struct link *link)
{
	struct link_serial *serial = serial_of(link);
	int ret = errno_of(sp_get_port_by_name(link->path, &serial->port));

	if (ret)
		return say(link, ret, "use as a serial port");
	ret = errno_of(sp_open(serial->port, SP_MODE_READ_WRITE));
	if (ret) {
		say(link, ret, "open");
		goto free_port;
	}
	ret = set_up(serial);
	if (!ret)
		return 0;
	sp_close(serial->port);
free_port:
	sp_free_port(serial->port);
	serial->port = NULL;
	return ret;
}

static void serial_close(struct link *link)
{
	struct link_serial *serial = serial_of(link);

	sp_close(serial->port);
	sp_free_port(serial->port);
	serial->port = NULL;
}

static ssize_t serial_read(struct link *link, void *buffer, size_t size, unsigned timeout_ms)
{
	ssize_t got = tty_read(serial_of(link)->fd, buffer, size, timeout_ms);

	return got < 0 ? say(link, (int)got, "read from") : got;
}

static int serial_write(struct link *link, const void *data, size_t size)
{
	int ret = tty_write(serial_of(link)->fd, data, size, link->baud);

	return ret ? say(link, ret, "write to") : 0;
}

static int serial_drain(struct link *link)
{
	int ret = errno_of(sp_drain(serial_of(link)->port));

	return ret ? say(link, ret, "drain") : 0;
}

static int serial_set_baud(struct link *link, uint32_t baud)
{
	int ret = tty_set_baud(serial_of(link)->fd, baud);

	return ret ? say(link, ret, "set the rate of") : 0;
}

static int serial_flush(struct link *link)
{
	int ret = errno_of(sp_flush(serial_of(link)->port, SP_BUF_INPUT));

	return ret ? say(link, ret, "flush") : 0;
}

static int serial_set_break(struct link *link, bool on)
{
	struct sp_port *port = serial_of(link)->port;
	int ret = errno_of(on ? sp_start_break(port) : sp_end_break(port));

	return ret ? say(link, ret, "hold a break on") : 0;
}

const struct link_driver link_serial_driver = {
	.name = "serial",
	.instance_size = sizeof(struct link_serial),
	.place = LINK_PLACE_MATCH,
	.resolve = serial_resolve,
	.open = serial_open,
	.close = serial_close,
	.read = serial_read,
	.write = serial_write,
	.drain = serial_drain,
	.set_baud = serial_set_baud,
	.flush = serial_flush,
	.set_break = serial_set_break,
};
