/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "boardctl/drivers.h"
#include "boardctl/subprocess.h"

/* Linux Automation's tool: `usbsdmux DEVICE get|dut|host|off`. */
struct sdmux_usbsdmux {
	struct sdmux base;
};

static void cut_blanks(char *text)
{
	size_t size = strlen(text);

	while (size && strchr(" \t\r\n", text[size - 1]))
		text[--size] = '\0';
}

static int run(struct sdmux *mux, const char *verb, char *output, size_t size)
{
	const char *const argv[] = {mux->config.command, mux->config.device, verb, NULL};
	int status;
	int ret = subprocess_run(argv, mux->config.timeout_ms, output, size, &status);

	cut_blanks(output);
	if (ret == -ENOENT)
		return fail_format(mux->error, sizeof(mux->error), ret,
			"cannot run %s: no such program; install it or set \"command\" of the SD "
			"mux in the lab file",
			mux->config.command);
	if (ret == -ETIMEDOUT)
		return fail_format(mux->error, sizeof(mux->error), ret,
			"`%s %s %s` did not end within %u ms and was killed%s%s",
			mux->config.command, mux->config.device, verb, mux->config.timeout_ms,
			output[0] ? "; it said: " : "", output);
	if (ret)
		return fail_format(mux->error, sizeof(mux->error), ret, "cannot run %s: %s",
			mux->config.command, strerror(-ret));
	if (!status)
		return 0;
	return fail_format(mux->error, sizeof(mux->error), -EIO,
		"`%s %s %s` ended with %d and said: %s", mux->config.command, mux->config.device,
		verb, status, output[0] ? output : "nothing");
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
	.set = usbsdmux_set,
	.get = usbsdmux_get,
};
