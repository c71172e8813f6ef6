/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "boardctl/drivers.h"
#include "boardctl/tool.h"

/*
 * Tizen's SDWire and SD-MUX: `sd-mux-ctrl -e SERIAL --dut|--ts|--status`. The
 * status is "SD connected to: TS" or "DUT". It knows no position in which nobody
 * has the card: off is the board's, which is off itself then.
 */
struct sdmux_sdmuxctrl {
	struct sdmux base;
};

static int run(struct sdmux *mux, const char *verb, char *output, size_t size)
{
	const char *const argv[] = {mux->config.command, "-e", mux->config.device, verb, NULL};

	return tool_run(argv, mux->config.timeout_ms, output, size, mux->error, sizeof(mux->error));
}

static int sdmuxctrl_set(struct sdmux *mux, enum sdmux_position position)
{
	char output[256];

	return run(mux, position == SDMUX_POSITION_HOST ? "--ts" : "--dut", output, sizeof(output));
}

static int sdmuxctrl_get(struct sdmux *mux, enum sdmux_position *position)
{
	static const char label[] = "SD connected to: ";
	char output[256];
	const char *at;
	int ret = run(mux, "--status", output, sizeof(output));

	if (ret)
		return ret;
	at = strstr(output, label);
	if (at && !strcmp(at + strlen(label), "TS"))
		*position = SDMUX_POSITION_HOST;
	else if (at && !strcmp(at + strlen(label), "DUT"))
		*position = SDMUX_POSITION_DUT;
	else
		return fail_format(mux->error, sizeof(mux->error), -EPROTO,
			"`%s -e %s --status` said \"%.160s\"; \"SD connected to: TS\" or \"DUT\" "
			"was expected",
			mux->config.command, mux->config.device, output);
	return 0;
}

const struct sdmux_driver sdmux_sdmuxctrl_driver = {
	.name = "sd-mux-ctrl",
	.instance_size = sizeof(struct sdmux_sdmuxctrl),
	.command = "sd-mux-ctrl",
	.needs_device = true,
	.has_no_off = true,
	.set = sdmuxctrl_set,
	.get = sdmuxctrl_get,
};
