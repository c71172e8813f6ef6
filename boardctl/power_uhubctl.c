/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "boardctl/drivers.h"
#include "boardctl/tool.h"

/*
 * A port of a USB hub that can switch: `uhubctl -l LOCATION -p PORT -a on|off`,
 * both halves of a USB 3 hub at once. Without -a it lists them:
 *
 *	Current status for hub 1-1 [0424:9514]
 *	  Port 2: 0100 power
 *
 * Some hubs report off with the voltage still there: nothing but the board's
 * first banner proves it.
 */
struct power_uhubctl {
	struct power base;
};

static int uhubctl_run(struct power *power, const char *action, char *output, size_t size)
{
	char port[16], error[FAIL_TEXT_SIZE];
	const char *const argv[] = {power->config.command, "-l", power->config.device, "-p", port,
		action ? "-a" : NULL, action, NULL};
	int ret;

	snprintf(port, sizeof(port), "%u", power->config.channel);
	ret = tool_run(argv, power->config.answer_ms, output, size, error, sizeof(error));
	return ret ? power_fail(power, ret, "%s", error) : 0;
}

static int uhubctl_get(struct power *power, bool *on)
{
	char output[4096], name[24];
	bool is_found = false;
	int ret = uhubctl_run(power, NULL, output, sizeof(output));

	if (ret)
		return ret;
	*on = false;
	snprintf(name, sizeof(name), "Port %u: ", power->config.channel);
	/* On as long as one of a hub's halves is. */
	for (const char *at = output; (at = strstr(at, name)) != NULL; at++) {
		unsigned word;
		int end = 0;

		at += strlen(name);
		if (sscanf(at, "%4x %n", &word, &end) != 1 || end != 5)
			continue;
		is_found = true;
		*on = *on || !strncmp(at + end, "power", 5) || word & 0x0300;
	}
	if (is_found)
		return 0;
	return power_fail(power, -EPROTO,
		"`%s` said \"%.160s\"; \"Port %u: 0100 power\" or \"0000 off\" was expected: is "
		"%s the location of a hub that can switch?",
		power->config.command, output, power->config.channel, power->config.device);
}

static int uhubctl_prove(struct power *power)
{
	return uhubctl_get(power, &power->is_on);
}

static int uhubctl_set(struct power *power, bool on)
{
	char output[4096];

	return uhubctl_run(power, on ? "on" : "off", output, sizeof(output));
}

const struct power_driver power_uhubctl_driver = {
	.name = "uhubctl",
	.instance_size = sizeof(struct power_uhubctl),
	.needs = POWER_NEED_DEVICE,
	.takes = POWER_NEED_COMMAND,
	.channels = 32,
	.settle_ms = 1000,
	.command = "uhubctl",
	.prove = uhubctl_prove,
	.set = uhubctl_set,
	.get = uhubctl_get,
};
