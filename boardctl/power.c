/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/power.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "boardctl/drivers.h"
#include "boardctl/monotonic.h"

#define DEFAULT_OFF_MS	  2000u
#define DEFAULT_ANSWER_MS 2000u
#define CHANNELS	  8u

static const char no_memory[] = "out of memory";

int power_open(struct power **out, const struct power_config *config)
{
	char error[FAIL_TEXT_SIZE] = "";
	const struct power_driver *driver =
		drivers_find_power(config->driver, error, sizeof(error));
	struct power *power = calloc(1, driver ? driver->instance_size : sizeof(*power));
	int ret;

	*out = power;
	if (!power)
		return -ENOMEM;
	if (!driver)
		return fail_format(power->error, sizeof(power->error), -EINVAL, "%s", error);
	power->driver = driver;
	power->config = *config;
	power->config.driver = driver->name;
	if (!power->config.channel)
		power->config.channel = 1;
	if (!power->config.off_ms)
		power->config.off_ms = DEFAULT_OFF_MS;
	if (!power->config.answer_ms)
		power->config.answer_ms = DEFAULT_ANSWER_MS;
	if (!power->config.port.baud)
		power->config.port.baud = driver->baud;
	if (power->config.channel > CHANNELS)
		return fail_format(power->error, sizeof(power->error), -EINVAL,
			"relay channel %u; there are 1 to %u", power->config.channel, CHANNELS);
	ret = link_open(&power->port, &power->config.port);
	/* The link has its own copies; the caller's strings may go. */
	power->config.port = (struct link_config){.driver = NULL};
	if (ret)
		return fail_format(
			power->error, sizeof(power->error), ret, "%s", link_error(power->port));
	return power->config.silent ? 0 : driver->prove(power);
}

void power_close(struct power *power)
{
	if (!power)
		return;
	link_close(power->port);
	free(power);
}

const char *power_error(const struct power *power)
{
	return power ? power->error : no_memory;
}

static int check_set(struct power *power, bool on)
{
	bool is_on = false;
	int ret;

	if (power->config.silent || !power->driver->get)
		return 0;
	ret = power->driver->get(power, &is_on);
	if (ret)
		return ret;
	if (is_on == on)
		return 0;
	return fail_format(power->error, sizeof(power->error), -EIO,
		"relay at %s: channel %u was switched %s and still reports %s; the relay is stuck "
		"or the channel is wrong",
		link_path(power->port), power->config.channel, on ? "on" : "off",
		is_on ? "ON" : "OFF");
}

int power_set(struct power *power, bool on)
{
	int ret;

	if (on && power->off_us)
		monotonic_sleep_until_us(power->off_us + (uint64_t)power->config.off_ms * 1000u);
	ret = power->driver->set(power, on);
	if (ret)
		return ret;
	if (!on && (power->is_on || !power->off_us))
		power->off_us = monotonic_get_us();
	power->is_on = on;
	return check_set(power, on);
}

int power_get(struct power *power, bool *on)
{
	*on = power->is_on;
	if (power->config.silent || !power->driver->get)
		return fail_format(power->error, sizeof(power->error), -ENOTSUP,
			"the relay at %s does not tell its state", link_path(power->port));
	return power->driver->get(power, on);
}

int power_cycle(struct power *power)
{
	int ret = power_set(power, false);

	return ret ? ret : power_set(power, true);
}
