/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/sdmux.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "boardctl/drivers.h"

#define DEFAULT_TIMEOUT_MS 10000u

static const char no_memory[] = "out of memory";

static const char *const position_names[] = {
	[SDMUX_POSITION_OFF] = "off",
	[SDMUX_POSITION_HOST] = "host",
	[SDMUX_POSITION_DUT] = "dut",
};

const char *sdmux_position_name(enum sdmux_position position)
{
	return position_names[position];
}

int sdmux_open(struct sdmux **out, const struct sdmux_config *config)
{
	char error[FAIL_TEXT_SIZE] = "";
	const struct sdmux_driver *driver =
		drivers_find_sdmux(config->driver, error, sizeof(error));
	struct sdmux *mux = calloc(1, driver ? driver->instance_size : sizeof(*mux));
	const char *command;

	*out = mux;
	if (!mux)
		return -ENOMEM;
	if (!driver)
		return fail_format(mux->error, sizeof(mux->error), -EINVAL, "%s", error);
	mux->driver = driver;
	if (!config->device && driver->needs_device)
		return fail_format(mux->error, sizeof(mux->error), -EINVAL,
			"the %s driver needs the device of the SD mux", driver->name);
	command = config->command ? config->command : driver->command;
	if (!command)
		return fail_format(mux->error, sizeof(mux->error), -EINVAL,
			"the %s driver needs the command of the SD mux", driver->name);
	mux->config = (struct sdmux_config){
		.driver = driver->name,
		.command = strdup(command),
		.device = config->device ? strdup(config->device) : NULL,
		.timeout_ms = config->timeout_ms ? config->timeout_ms : DEFAULT_TIMEOUT_MS,
	};
	if (!mux->config.command || (config->device && !mux->config.device))
		return fail_format(mux->error, sizeof(mux->error), -ENOMEM, no_memory);
	return 0;
}

bool sdmux_find_needs(const char *name, bool *device, bool *command)
{
	char ignored[FAIL_TEXT_SIZE];
	const struct sdmux_driver *driver = drivers_find_sdmux(name, ignored, sizeof(ignored));

	if (!driver)
		return false;
	*device = driver->needs_device;
	*command = !driver->command;
	return true;
}

void sdmux_close(struct sdmux *mux)
{
	if (!mux)
		return;
	free((char *)mux->config.command);
	free((char *)mux->config.device);
	free(mux);
}

const char *sdmux_error(const struct sdmux *mux)
{
	return mux ? mux->error : no_memory;
}

int sdmux_get(struct sdmux *mux, enum sdmux_position *position)
{
	*position = SDMUX_POSITION_OFF;
	if (!mux->driver->get)
		return fail_format(mux->error, sizeof(mux->error), -ENOTSUP,
			"the SD mux%s%s does not tell its position", mux->config.device ? " " : "",
			mux->config.device ? mux->config.device : "");
	return mux->driver->get(mux, position);
}

int sdmux_set(struct sdmux *mux, enum sdmux_position position)
{
	enum sdmux_position now;
	int ret;

	if (position == SDMUX_POSITION_OFF && mux->driver->has_no_off)
		position = SDMUX_POSITION_DUT;
	ret = mux->driver->set(mux, position);

	if (ret || !mux->driver->get)
		return ret;
	ret = mux->driver->get(mux, &now);
	if (ret || now == position)
		return ret;
	return fail_format(mux->error, sizeof(mux->error), -EPROTO,
		"SD mux %s was set to %s and says it is at %s",
		mux->config.device ? mux->config.device : mux->config.command,
		position_names[position], position_names[now]);
}
