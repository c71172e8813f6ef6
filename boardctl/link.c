/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boardctl/drivers.h"
#include "boardctl/monotonic.h"

#define DEFAULT_BAUD	115200u
#define REOPEN_PAUSE_US 100000u

/* What link_error() answers without a handle: only memory can be the reason. */
static const char no_memory[] = "out of memory";

static int copy_string(const char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return from && !*to ? -ENOMEM : 0;
}

static int copy_config(struct link_config *to, const struct link_config *from)
{
	*to = *from;
	to->driver = to->path = to->usb = to->usb_serial = to->usb_path = to->address = NULL;
	if (copy_string(&to->driver, from->driver) || copy_string(&to->path, from->path) ||
		copy_string(&to->usb, from->usb) ||
		copy_string(&to->usb_serial, from->usb_serial) ||
		copy_string(&to->usb_path, from->usb_path) ||
		copy_string(&to->address, from->address))
		return -ENOMEM;
	return 0;
}

static void free_config(struct link_config *config)
{
	free((char *)config->driver);
	free((char *)config->path);
	free((char *)config->usb);
	free((char *)config->usb_serial);
	free((char *)config->usb_path);
	free((char *)config->address);
}

static int open_port(struct link *link)
{
	int ret = link->driver->resolve(
		&link->config, link->path, sizeof(link->path), link->error, sizeof(link->error));

	if (ret)
		return ret;
	ret = link->driver->open(link);
	link->is_open = !ret;
	return ret;
}

int link_open(struct link **out, const struct link_config *config)
{
	char error[FAIL_TEXT_SIZE] = "";
	const struct link_driver *driver = drivers_find_link(config->driver, error, sizeof(error));
	struct link *link = calloc(1, driver ? driver->instance_size : sizeof(*link));

	*out = link;
	if (!link)
		return -ENOMEM;
	if (!driver)
		return fail_format(link->error, sizeof(link->error), -EINVAL, "%s", error);
	if (copy_config(&link->config, config))
		return fail_format(link->error, sizeof(link->error), -ENOMEM, no_memory);
	link->driver = driver;
	link->baud = config->baud ? config->baud : DEFAULT_BAUD;
	return open_port(link);
}

void link_close(struct link *link)
{
	if (!link)
		return;
	if (link->is_open)
		link->driver->close(link);
	free_config(&link->config);
	free(link);
}

enum link_place link_find_place(const char *name)
{
	char ignored[FAIL_TEXT_SIZE];
	const struct link_driver *driver = drivers_find_link(name, ignored, sizeof(ignored));

	return driver ? driver->place : LINK_PLACE_PATH;
}

const char *link_error(const struct link *link)
{
	return link ? link->error : no_memory;
}

const char *link_path(const struct link *link)
{
	return link->path;
}

int link_resolve(
	const struct link_config *config, char *path, size_t size, char *error, size_t error_size)
{
	const struct link_driver *driver = drivers_find_link(config->driver, error, error_size);

	if (size)
		path[0] = '\0';
	if (!driver)
		return -EINVAL;
	return driver->resolve(config, path, size, error, error_size);
}

void link_set_tap(struct link *link, const struct link_tap *tap)
{
	link->tap = tap ? *tap : (struct link_tap){.see = NULL};
}

void link_set_monitor(struct link *link, const struct link_tap *tap)
{
	link->monitor = tap ? *tap : (struct link_tap){.see = NULL};
}

static void show_tap(
	struct link *link, enum link_direction direction, const void *data, size_t size)
{
	uint64_t now_us = monotonic_get_us();

	if (link->tap.see && size)
		link->tap.see(link->tap.ctx, direction, now_us, data, size);
	if (link->monitor.see && size)
		link->monitor.see(link->monitor.ctx, direction, now_us, data, size);
}

static int check_open(struct link *link)
{
	if (link->is_open)
		return 0;
	return fail_format(
		link->error, sizeof(link->error), -ENODEV, "port %s is not open", link->path);
}

/* How long a read waits before the guard is asked again. */
#define GUARD_MS 100

/* A port that is gone: wait for it, if that is wanted. 0 or the error it went with. */
static int come_back(struct link *link)
{
	uint64_t deadline_us = monotonic_get_us() + (uint64_t)link->config.reopen_ms * 1000u;
	char error[FAIL_TEXT_SIZE];
	int ret = -ENODEV;

	if (!link->config.reopen_ms)
		return ret;
	snprintf(error, sizeof(error), "%s", link->error);
	do {
		if (link->guard.check && link->guard.check(link->guard.ctx))
			break;
		ret = link_reopen(link, GUARD_MS);
	} while (ret && monotonic_get_us() < deadline_us);
	if (!ret) {
		link->reopen_count++;
		return 0;
	}
	return fail_format(link->error, sizeof(link->error), -ENODEV,
		"%.300s, and did not come back within %u ms", error, link->config.reopen_ms);
}

unsigned link_count_reopens(const struct link *link)
{
	return link ? link->reopen_count : 0;
}

void link_set_guard(struct link *link, const struct link_guard *guard)
{
	if (link)
		link->guard = guard ? *guard : (struct link_guard){NULL, NULL};
}

ssize_t link_read(struct link *link, void *buffer, size_t size, unsigned timeout_ms)
{
	uint64_t deadline_ms = monotonic_get_ms() + timeout_ms;
	ssize_t got = check_open(link);

	if (got)
		return got;
	for (;;) {
		uint64_t now_ms = monotonic_get_ms();
		uint64_t left_ms = deadline_ms > now_ms ? deadline_ms - now_ms : 0;
		int ret = link->guard.check ? link->guard.check(link->guard.ctx) : 0;

		if (ret)
			return fail_format(link->error, sizeof(link->error), ret,
				"reading %s was ended: %s", link->path, strerror(-ret));
		got = link->driver->read(
			link, buffer, size, left_ms > GUARD_MS ? GUARD_MS : (unsigned)left_ms);
		if (got == -ENODEV)
			got = come_back(link);
		if (got != 0 || left_ms <= GUARD_MS)
			break;
	}
	if (got > 0)
		show_tap(link, LINK_DIRECTION_RX, buffer, (size_t)got);
	return got;
}

int link_write(struct link *link, const void *data, size_t size)
{
	uint64_t start_us = monotonic_get_us();
	int ret = check_open(link);

	if (ret || !size)
		return ret;
	ret = link->driver->write(link, data, size);
	/* Not written again: whoever asks and gets no answer asks again by himself. */
	if (ret == -ENODEV)
		return come_back(link);
	if (ret)
		return ret;
	ret = link->driver->drain(link);
	if (ret)
		return ret;
	/* A USB adapter and a pty say "sent" while bytes still wait in them. */
	monotonic_sleep_until_us(start_us + (uint64_t)size * 10u * 1000000u / link->baud + 1u);
	show_tap(link, LINK_DIRECTION_TX, data, size);
	return 0;
}

int link_set_baud(struct link *link, uint32_t baud)
{
	int ret = check_open(link);

	if (ret)
		return ret;
	if (!baud)
		return fail_format(link->error, sizeof(link->error), -EINVAL, "rate of 0 baud");
	ret = link->driver->set_baud(link, baud);
	if (!ret)
		link->baud = baud;
	return ret;
}

uint32_t link_get_baud(const struct link *link)
{
	return link->baud;
}

int link_break(struct link *link, bool on)
{
	int ret = check_open(link);

	if (ret)
		return ret;
	if (!link->driver->set_break)
		return fail_format(link->error, sizeof(link->error), -ENOTSUP,
			"the %s driver cannot hold a break", link->driver->name);
	return link->driver->set_break(link, on);
}

int link_flush(struct link *link)
{
	int ret = check_open(link);

	return ret ? ret : link->driver->flush(link);
}

int link_reopen(struct link *link, unsigned timeout_ms)
{
	uint64_t deadline_us = monotonic_get_us() + (uint64_t)timeout_ms * 1000u;
	int ret;

	if (!link->driver)
		return -EINVAL;
	if (link->is_open)
		link->driver->close(link);
	link->is_open = false;
	while ((ret = open_port(link))) {
		uint64_t now_us = monotonic_get_us();

		if (now_us >= deadline_us)
			return ret;
		monotonic_sleep_until_us(now_us + REOPEN_PAUSE_US);
	}
	return 0;
}
