/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>

#include "boardctl/power_web.h"

/* Shelly devices of the first generation: /relay/0?turn=on answers {"ison":true,...}. */
struct power_shelly1 {
	struct power base;
};

static int shelly1_ask(struct power *power, const char *query, bool *on)
{
	char path[48];
	const struct power_web_request request = {.path = path, .user = "admin"};
	const cJSON *item;
	cJSON *json;
	int ret;

	snprintf(path, sizeof(path), "/relay/%u%s", power->config.channel - 1, query);
	ret = power_web_ask_json(power, &request, &json);
	if (ret)
		return ret;
	item = cJSON_GetObjectItemCaseSensitive(json, "ison");
	if (!cJSON_IsBool(item))
		return power_web_fail_answer(power, json, "\"ison\": true or false");
	*on = cJSON_IsTrue(item);
	item = cJSON_GetObjectItemCaseSensitive(json, "overpower");
	if (cJSON_IsTrue(item))
		ret = power_fail(power, -EIO,
			"the %s has switched itself off: the board took more than it may",
			power->place);
	cJSON_Delete(json);
	return ret;
}

static int shelly1_get(struct power *power, bool *on)
{
	return shelly1_ask(power, "", on);
}

static int shelly1_prove(struct power *power)
{
	return shelly1_ask(power, "", &power->is_on);
}

static int shelly1_set(struct power *power, bool on)
{
	bool is_on;

	return shelly1_ask(power, on ? "?turn=on" : "?turn=off", &is_on);
}

static int shelly1_watts(struct power *power, double *watts)
{
	const struct power_web_request request = {.path = "/status", .user = "admin"};
	const cJSON *item;
	cJSON *json;
	int ret = power_web_ask_json(power, &request, &json);

	if (ret)
		return ret;
	item = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(json, "meters"),
			(int)power->config.channel - 1),
		"power");
	if (cJSON_IsNumber(item))
		*watts = item->valuedouble;
	else
		ret = power_fail(power, -ENOTSUP, "the %s does not measure", power->place);
	cJSON_Delete(json);
	return ret;
}

const struct power_driver power_shelly1_driver = {
	.name = "shelly1",
	.instance_size = sizeof(struct power_shelly1),
	.needs = POWER_NEED_URL,
	.takes = POWER_NEED_PASSWORD,
	.channels = 8,
	.settle_ms = 1000,
	.prove = shelly1_prove,
	.set = shelly1_set,
	.get = shelly1_get,
	.watts = shelly1_watts,
};
