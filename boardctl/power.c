/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/power.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boardctl/drivers.h"
#include "boardctl/monotonic.h"
#include "boardctl/secret.h"

#define DEFAULT_OFF_MS	  2000u
#define DEFAULT_ANSWER_MS 2000u
#define SETTLE_STEP_MS	  50u

static const char no_memory[] = "out of memory";

int power_fail(struct power *power, int code, const char *format, ...)
{
	char text[FAIL_TEXT_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	secret_blank(text, power->password);
	return fail_format(power->error, sizeof(power->error), code, "%s", text);
}

/* ------------------------------------------------------------- open, close */

static int copy_string(const char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return from && !*to ? -ENOMEM : 0;
}

static int copy_config(struct power_config *to, const struct power_config *from)
{
	int ret = 0;

	*to = *from;
	/* The link has copies of its own. */
	to->port = (struct link_config){.driver = NULL};
	to->driver = NULL;
	ret |= copy_string(&to->url, from->url);
	ret |= copy_string(&to->device, from->device);
	ret |= copy_string(&to->command, from->command);
	ret |= copy_string(&to->user, from->user);
	ret |= copy_string(&to->password_file, from->password_file);
	ret |= copy_string(&to->password_env, from->password_env);
	return ret;
}

static void free_config(struct power_config *config)
{
	free((char *)config->url);
	free((char *)config->device);
	free((char *)config->command);
	free((char *)config->user);
	free((char *)config->password_file);
	free((char *)config->password_env);
}

static int check_config(struct power *power)
{
	static const struct {
		unsigned bit;
		const char *noun;
	} rows[] = {
		{POWER_NEED_URL, "an url, like \"http://plug.lab\""},
		{POWER_NEED_DEVICE, "a device"},
		{POWER_NEED_COMMAND, "a command"},
	};
	const struct power_config *config = &power->config;
	const struct power_driver *driver = power->driver;
	unsigned has = (config->url ? POWER_NEED_URL : 0u) |
		       (config->device ? POWER_NEED_DEVICE : 0u) |
		       (config->command ? POWER_NEED_COMMAND : 0u);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (driver->needs & rows[i].bit && !(has & rows[i].bit))
			return power_fail(power, -EINVAL, "the %s driver needs %s", driver->name,
				rows[i].noun);
	if (config->channel > driver->channels)
		return power_fail(power, -EINVAL, "relay channel %u; there are 1 to %u",
			config->channel, driver->channels);
	return 0;
}

static void name_place(struct power *power)
{
	const struct power_config *config = &power->config;

	if (power->port)
		snprintf(power->place, sizeof(power->place), "relay at %.128s",
			link_path(power->port));
	else if (config->url)
		snprintf(power->place, sizeof(power->place), "%s at %.120s", power->driver->name,
			config->url);
	else
		snprintf(power->place, sizeof(power->place), "%s%s%.120s", power->driver->name,
			config->device ? " " : "", config->device ? config->device : "");
}

static int open_switch(struct power *power, const struct power_config *config)
{
	struct link_config port = config->port;
	int ret = check_config(power);

	name_place(power);
	if (ret)
		return ret;
	if (power->driver->baud) {
		if (!port.baud)
			port.baud = power->driver->baud;
		ret = link_open(&power->port, &port);
		if (ret)
			return power_fail(power, ret, "%s", link_error(power->port));
		name_place(power);
	}
	if (config->password_file || config->password_env) {
		ret = secret_read(config->password_file, config->password_env, power->password,
			sizeof(power->password), power->error, sizeof(power->error));
		if (ret)
			return ret;
	}
	if (power->driver->open)
		ret = power->driver->open(power);
	if (ret || power->config.silent || !power->driver->prove)
		return ret;
	return power->driver->prove(power);
}

int power_open(struct power **out, const struct power_config *config)
{
	char error[FAIL_TEXT_SIZE] = "";
	const struct power_driver *driver =
		drivers_find_power(config->driver, error, sizeof(error));
	struct power *power = calloc(1, driver ? driver->instance_size : sizeof(*power));

	*out = power;
	if (!power)
		return -ENOMEM;
	if (!driver)
		return fail_format(power->error, sizeof(power->error), -EINVAL, "%s", error);
	power->driver = driver;
	if (copy_config(&power->config, config))
		return power_fail(power, -ENOMEM, no_memory);
	power->config.driver = driver->name;
	if (!power->config.command && driver->command &&
		copy_string(&power->config.command, driver->command))
		return power_fail(power, -ENOMEM, no_memory);
	if (!power->config.channel)
		power->config.channel = 1;
	if (!power->config.off_ms)
		power->config.off_ms = DEFAULT_OFF_MS;
	if (!power->config.answer_ms)
		power->config.answer_ms = DEFAULT_ANSWER_MS;
	return open_switch(power, config);
}

void power_close(struct power *power)
{
	if (!power)
		return;
	if (power->driver && power->driver->close)
		power->driver->close(power);
	link_close(power->port);
	free_config(&power->config);
	secret_forget(power->password, sizeof(power->password));
	free(power);
}

const char *power_error(const struct power *power)
{
	return power ? power->error : no_memory;
}

bool power_find_needs(const char *name, unsigned *needs, unsigned *takes, unsigned *channels)
{
	char ignored[FAIL_TEXT_SIZE];
	const struct power_driver *driver = drivers_find_power(name, ignored, sizeof(ignored));

	if (!driver)
		return false;
	*needs = driver->needs;
	*takes = driver->takes;
	*channels = driver->channels;
	return true;
}

/* ------------------------------------------------------------------- switch */

/* A plug in a network says what it was told before it has done it. */
static int check_set(struct power *power, bool on)
{
	uint64_t deadline_us = monotonic_get_us() + (uint64_t)power->driver->settle_ms * 1000u;
	bool is_on = false;

	if (power->config.silent || !power->driver->get)
		return 0;
	for (;;) {
		int ret = power->driver->get(power, &is_on);
		uint64_t now_us = monotonic_get_us();

		if (ret)
			return ret;
		if (is_on == on)
			return 0;
		if (now_us >= deadline_us)
			break;
		monotonic_sleep_until_us(now_us + SETTLE_STEP_MS * 1000u);
	}
	return power_fail(power, -EIO,
		"%s: channel %u was switched %s and still reports %s; the relay is stuck "
		"or the channel is wrong",
		power->place, power->config.channel, on ? "on" : "off", is_on ? "ON" : "OFF");
}

int power_set(struct power *power, bool on)
{
	int ret;

	if (on && power->off_us)
		monotonic_sleep_until_us(power->off_us + (uint64_t)power->config.off_ms * 1000u);
	ret = power->driver->set(power, on);
	if (ret)
		return ret;
	ret = check_set(power, on);
	/* The board is off when that was read, not when it was asked for. */
	if (!on && (power->is_on || !power->off_us))
		power->off_us = monotonic_get_us();
	power->is_on = on;
	return ret;
}

int power_get(struct power *power, bool *on)
{
	*on = power->is_on;
	if (power->config.silent || !power->driver->get)
		return power_fail(power, -ENOTSUP, "the %s does not tell its state", power->place);
	return power->driver->get(power, on);
}

int power_get_watts(struct power *power, double *watts)
{
	*watts = 0;
	if (!power->driver->watts)
		return power_fail(power, -ENOTSUP, "the %s does not measure", power->place);
	return power->driver->watts(power, watts);
}
