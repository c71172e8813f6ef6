/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "boardctl/drivers.h"
#include "boardctl/tool.h"

/*
 * The tool of SDWire's later generations: `sdwire switch -s SERIAL dut|host`.
 * It tells no position, and knows none in which nobody has the card.
 */
struct sdmux_sdwire {
	struct sdmux base;
};

static int sdwire_set(struct sdmux *mux, enum sdmux_position position)
{
	const char *const argv[] = {mux->config.command, "switch", "-s", mux->config.device,
		position == SDMUX_POSITION_HOST ? "host" : "dut", NULL};
	char output[256];

	return tool_run(argv, mux->config.timeout_ms, output, sizeof(output), mux->error,
		sizeof(mux->error));
}

const struct sdmux_driver sdmux_sdwire_driver = {
	.name = "sdwire",
	.instance_size = sizeof(struct sdmux_sdwire),
	.command = "sdwire",
	.needs_device = true,
	.has_no_off = true,
	.set = sdwire_set,
};
