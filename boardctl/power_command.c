/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "boardctl/drivers.h"
#include "boardctl/tool.h"

/*
 * Any program or script: `COMMAND [DEVICE] on|off|get`. It ends with 0 when
 * that is done; get prints on or off.
 */
struct power_command {
	struct power base;
};

static int command_run(struct power *power, const char *verb, char *output, size_t size)
{
	const char *const with[] = {power->config.command, power->config.device, verb, NULL};
	const char *const without[] = {power->config.command, verb, NULL};
	char error[FAIL_TEXT_SIZE];
	int ret = tool_run(power->config.device ? with : without, power->config.answer_ms, output,
		size, error, sizeof(error));

	return ret ? power_fail(power, ret, "%s", error) : 0;
}

static int command_set(struct power *power, bool on)
{
	char output[256];

	return command_run(power, on ? "on" : "off", output, sizeof(output));
}

static int command_get(struct power *power, bool *on)
{
	char output[256];
	int ret = command_run(power, "get", output, sizeof(output));

	if (ret)
		return ret;
	*on = !strcmp(output, "on");
	if (*on || !strcmp(output, "off"))
		return 0;
	return power_fail(power, -EPROTO,
		"`%s ... get` said \"%.120s\"; on or off was expected (a program that cannot tell "
		"needs \"silent\": true)",
		power->config.command, output);
}

static int command_prove(struct power *power)
{
	return command_get(power, &power->is_on);
}

const struct power_driver power_command_driver = {
	.name = "command",
	.instance_size = sizeof(struct power_command),
	.needs = POWER_NEED_COMMAND,
	.takes = POWER_NEED_DEVICE,
	.channels = 1,
	.settle_ms = 1000,
	.prove = command_prove,
	.set = command_set,
	.get = command_get,
};
