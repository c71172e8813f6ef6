/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>

#include "boardctl/power_web.h"

/*
 * Shelly devices of the second generation and later: JSON-RPC over POST /rpc,
 * Switch.Set and Switch.GetStatus, whose result has "output" and "apower".
 */
struct power_shelly2 {
	struct power base;
};

/* The "result" of a call, in *json, which is the caller's. */
static int shelly2_call(struct power *power, const char *method, const char *more, cJSON **json,
	const cJSON **result)
{
	char body[128];
	const struct power_web_request request = {.path = "/rpc", .body = body, .user = "admin"};
	const cJSON *error;
	int ret;

	snprintf(body, sizeof(body), "{\"id\":1,\"method\":\"%s\",\"params\":{\"id\":%u%s}}",
		method, power->config.channel - 1, more);
	ret = power_web_ask_json(power, &request, json);
	if (ret)
		return ret;
	*result = cJSON_GetObjectItemCaseSensitive(*json, "result");
	if (cJSON_IsObject(*result))
		return 0;
	error = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(*json, "error"), "message");
	if (!cJSON_IsString(error))
		return power_web_fail_answer(power, *json, "a \"result\"");
	ret = power_fail(
		power, -EIO, "%s: %s failed: %.160s", power->place, method, error->valuestring);
	cJSON_Delete(*json);
	return ret;
}

static int shelly2_get(struct power *power, bool *on)
{
	const cJSON *result, *item;
	cJSON *json;
	int ret = shelly2_call(power, "Switch.GetStatus", "", &json, &result);

	if (ret)
		return ret;
	item = cJSON_GetObjectItemCaseSensitive(result, "output");
	if (!cJSON_IsBool(item))
		return power_web_fail_answer(power, json, "\"output\": true or false");
	*on = cJSON_IsTrue(item);
	cJSON_Delete(json);
	return 0;
}

static int shelly2_prove(struct power *power)
{
	return shelly2_get(power, &power->is_on);
}

static int shelly2_set(struct power *power, bool on)
{
	const cJSON *result;
	cJSON *json;
	int ret = shelly2_call(
		power, "Switch.Set", on ? ",\"on\":true" : ",\"on\":false", &json, &result);

	if (!ret)
		cJSON_Delete(json);
	return ret;
}

static int shelly2_watts(struct power *power, double *watts)
{
	const cJSON *result, *item;
	cJSON *json;
	int ret = shelly2_call(power, "Switch.GetStatus", "", &json, &result);

	if (ret)
		return ret;
	item = cJSON_GetObjectItemCaseSensitive(result, "apower");
	if (cJSON_IsNumber(item))
		*watts = item->valuedouble;
	else
		ret = power_fail(power, -ENOTSUP, "the %s does not measure", power->place);
	cJSON_Delete(json);
	return ret;
}

const struct power_driver power_shelly2_driver = {
	.name = "shelly2",
	.instance_size = sizeof(struct power_shelly2),
	.needs = POWER_NEED_URL,
	.takes = POWER_NEED_PASSWORD,
	.channels = 8,
	.settle_ms = 1000,
	.prove = shelly2_prove,
	.set = shelly2_set,
	.get = shelly2_get,
	.watts = shelly2_watts,
};
