/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "boardctl/drivers.h"
#include "boardctl/tool.h"

/*
 * Any program or script: `COMMAND [DEVICE] get|dut|host|off`. It ends with 0
 * when that is done; get prints the position.
 */
struct sdmux_command {
	struct sdmux base;
};

static int run(struct sdmux *mux, const char *verb, char *output, size_t size)
{
	const char *const with[] = {mux->config.command, mux->config.device, verb, NULL};
	const char *const without[] = {mux->config.command, verb, NULL};

	return tool_run(mux->config.device ? with : without, mux->config.timeout_ms, output, size,
		mux->error, sizeof(mux->error));
}

static int command_set(struct sdmux *mux, enum sdmux_position position)
{
	char output[256];

	return run(mux, sdmux_position_name(position), output, sizeof(output));
}

static int command_get(struct sdmux *mux, enum sdmux_position *position)
{
	char output[256];
	int ret = run(mux, "get", output, sizeof(output));

	for (unsigned i = 0; !ret && i <= SDMUX_POSITION_DUT; i++)
		if (!strcmp(output, sdmux_position_name(i))) {
			*position = i;
			return 0;
		}
	if (ret)
		return ret;
	return fail_format(mux->error, sizeof(mux->error), -EPROTO,
		"`%s ... get` said \"%.160s\"; off, host or dut was expected", mux->config.command,
		output);
}

const struct sdmux_driver sdmux_command_driver = {
	.name = "command",
	.instance_size = sizeof(struct sdmux_command),
	.set = command_set,
	.get = command_get,
};
