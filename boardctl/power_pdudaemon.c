/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "boardctl/power_web.h"
#include "boardctl/secret.h"

/*
 * PDUDaemon's HTTP listener: GET /power/control/on?hostname=PDU&port=N. 200
 * means that the request was queued, not that it was done, and there is no
 * query; so nothing is read back.
 */
struct power_pdudaemon {
	struct power base;
};

static int pdudaemon_open(struct power *power)
{
	if (strlen(power->config.device) <= 100)
		return 0;
	return power_fail(power, -EINVAL, "the PDU's name is longer than 100 bytes");
}

static int pdudaemon_set(struct power *power, bool on)
{
	char path[400], name[301], answer[512], said[FAIL_TEXT_SIZE];
	const struct power_web_request request = {.path = path};
	int ret;

	secret_escape(power->config.device, name);
	snprintf(path, sizeof(path), "/power/control/%s?hostname=%s&port=%u", on ? "on" : "off",
		name, power->config.channel);
	ret = power_web_ask(power, &request, answer, sizeof(answer));
	if (ret != -EIO)
		return ret;
	snprintf(said, sizeof(said), "%s", power->error);
	return power_fail(power, ret,
		"%.300s; does PDUDaemon's configuration have the PDU \"%.60s\"?", said,
		power->config.device);
}

const struct power_driver power_pdudaemon_driver = {
	.name = "pdudaemon",
	.instance_size = sizeof(struct power_pdudaemon),
	.needs = POWER_NEED_URL | POWER_NEED_DEVICE,
	.channels = 65535,
	.open = pdudaemon_open,
	.set = pdudaemon_set,
};
