/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "boardctl/drivers.h"
#include "boardctl/monotonic.h"

/*
 * LCUS relays: a CH340 at 9600 8N1. `A0 channel state sum` switches, without
 * an answer; `FF` asks, and relays of several channels answer with one line a
 * channel: "CH1:ON \r\n".
 */
#define LCUS_HEAD  0xa0
#define LCUS_QUERY 0xff
/* The lines of one answer follow each other at once. */
#define LCUS_QUIET_MS 100u

struct power_lcus {
	struct power base;
};

/* 1 found, 0 not there (yet). Takes only whole lines: "CH1:O" is not OFF. */
static int find_channel(const char *answer, unsigned channel, bool *on)
{
	char name[8];
	const char *line;

	snprintf(name, sizeof(name), "CH%u:", channel);
	line = strstr(answer, name);
	if (!line || !strpbrk(line, "\r\n"))
		return 0;
	line += strlen(name);
	line += strspn(line, " ");
	if (!strncmp(line, "ON", 2) && strchr(" \r\n", line[2]))
		*on = true;
	else if (!strncmp(line, "OFF", 3) && strchr(" \r\n", line[3]))
		*on = false;
	else
		return 0;
	return 1;
}

static int say_no_answer(struct power *power)
{
	return fail_format(power->error, sizeof(power->error), -ETIMEDOUT,
		"the relay at %s gave no answer to a status query (FF at 9600 baud) within %u ms; "
		"check that this port is the relay and not another CH340 adapter, that the relay "
		"has power, and that it has several channels (a single-channel one never answers: "
		"say so in the lab file)",
		link_path(power->port), power->config.answer_ms);
}

static int read_answer(struct power *power, bool *on)
{
	uint64_t deadline_us = monotonic_get_us() + (uint64_t)power->config.answer_ms * 1000u;
	char answer[256];
	size_t used = 0;
	uint64_t now_us;

	answer[0] = '\0';
	while (used < sizeof(answer) - 1 && (now_us = monotonic_get_us()) < deadline_us) {
		unsigned left_ms = (unsigned)((deadline_us - now_us) / 1000u) + 1u;
		ssize_t got =
			link_read(power->port, answer + used, sizeof(answer) - 1 - used, left_ms);

		if (got < 0)
			return fail_format(power->error, sizeof(power->error), (int)got, "%s",
				link_error(power->port));
		/* A zero byte would hide what comes behind it. */
		for (ssize_t i = 0; i < got; i++)
			if (!answer[used + (size_t)i])
				answer[used + (size_t)i] = '?';
		used += (size_t)got;
		answer[used] = '\0';
		if (find_channel(answer, power->config.channel, on))
			return 0;
	}
	if (!used)
		return say_no_answer(power);
	return fail_format(power->error, sizeof(power->error), -EPROTO,
		"the device at %s answered \"%.60s\" to a status query; a relay answers "
		"\"CH%u:ON\" or \"CH%u:OFF\"",
		link_path(power->port), answer, power->config.channel, power->config.channel);
}

static int lcus_send(struct power *power, const unsigned char *bytes, size_t size)
{
	int ret = link_write(power->port, bytes, size);

	if (ret)
		return fail_format(
			power->error, sizeof(power->error), ret, "%s", link_error(power->port));
	return 0;
}

static int lcus_get(struct power *power, bool *on)
{
	static const unsigned char query[] = {LCUS_QUERY};
	char rest[64];
	int ret = link_flush(power->port);

	if (ret)
		return fail_format(
			power->error, sizeof(power->error), ret, "%s", link_error(power->port));
	ret = lcus_send(power, query, sizeof(query));
	if (!ret)
		ret = read_answer(power, on);
	/* Lines of the other channels must not be taken for the next answer. */
	while (!ret && link_read(power->port, rest, sizeof(rest), LCUS_QUIET_MS) > 0)
		;
	return ret;
}

static int lcus_prove(struct power *power)
{
	return lcus_get(power, &power->is_on);
}

static int lcus_set(struct power *power, bool on)
{
	const unsigned char channel = (unsigned char)power->config.channel;
	const unsigned char state = on ? 1 : 0;
	const unsigned char frame[] = {
		LCUS_HEAD,
		channel,
		state,
		(unsigned char)(LCUS_HEAD + channel + state),
	};

	return lcus_send(power, frame, sizeof(frame));
}

const struct power_driver power_lcus_driver = {
	.name = "lcus",
	.instance_size = sizeof(struct power_lcus),
	.needs = POWER_NEED_PORT,
	.baud = 9600,
	.channels = 8,
	.prove = lcus_prove,
	.set = lcus_set,
	.get = lcus_get,
};
