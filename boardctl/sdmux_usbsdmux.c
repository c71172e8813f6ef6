/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "boardctl/drivers.h"
#include "boardctl/tool.h"

/* Linux Automation's tool: `usbsdmux DEVICE get|dut|host|off`. */
struct sdmux_usbsdmux {
	struct sdmux base;
};

static int run(struct sdmux *mux, const char *verb, char *output, size_t size)
{
	const char *const argv[] = {mux->config.command, mux->config.device, verb, NULL};

	return tool_run(argv, mux->config.timeout_ms, output, size, mux->error, sizeof(mux->error));
}

static int usbsdmux_set(struct sdmux *mux, enum sdmux_position position)
{
	char output[256];

	return run(mux, sdmux_position_name(position), output, sizeof(output));
}

static int usbsdmux_get(struct sdmux *mux, enum sdmux_position *position)
{
	static const enum sdmux_position all[] = {
		SDMUX_POSITION_OFF,
		SDMUX_POSITION_HOST,
		SDMUX_POSITION_DUT,
	};
	char output[256];
	int ret = run(mux, "get", output, sizeof(output));

	if (ret)
		return ret;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!strcmp(output, sdmux_position_name(all[i]))) {
			*position = all[i];
			return 0;
		}
	}
	return fail_format(mux->error, sizeof(mux->error), -EPROTO,
		"`%s %s get` said \"%s\"; off, host or dut was expected", mux->config.command,
		mux->config.device, output);
}

const struct sdmux_driver sdmux_usbsdmux_driver = {
	.name = "usbsdmux",
	.instance_size = sizeof(struct sdmux_usbsdmux),
	.command = "usbsdmux",
	.needs_device = true,
	.set = usbsdmux_set,
	.get = usbsdmux_get,
};
