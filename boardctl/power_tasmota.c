/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "boardctl/power_web.h"
#include "boardctl/secret.h"

/*
 * Tasmota's HTTP command interface: /cm?user=U&password=P&cmnd=Power1%20On
 * answers {"POWER1":"ON"}, or {"POWER":"ON"} with a single relay.
 */
struct power_tasmota {
	struct power base;
};

static int tasmota_ask(struct power *power, const char *command, cJSON **json)
{
	char path[768], user[128], password[3 * sizeof(power->password) + 1];
	const struct power_web_request request = {.path = path};
	int ret;

	secret_escape(power->password, password);
	if (strlen(power->config.user ? power->config.user : "") > 40)
		return power_fail(power, -EINVAL, "the user's name is too long");
	secret_escape(power->config.user ? power->config.user : "admin", user);
	snprintf(path, sizeof(path), "/cm?%s%s%s%s%scmnd=%s", password[0] ? "user=" : "",
		password[0] ? user : "", password[0] ? "&password=" : "", password,
		password[0] ? "&" : "", command);
	secret_forget(password, sizeof(password));
	ret = power_web_ask_json(power, &request, json);
	secret_forget(path, sizeof(path));
	if (ret || !cJSON_GetObjectItemCaseSensitive(*json, "WARNING"))
		return ret;
	cJSON_Delete(*json);
	*json = NULL;
	return power_fail(power, -EACCES, "%s refuses: %s", power->place,
		power->password[0] ? "the user or the password is wrong"
				   : "it wants a password; name it by \"password_file\" or "
				     "\"password_env\"");
}

/* 0, or -ENODATA when the answer doesn't have the channel's state. */
static int find_state(const struct power *power, const cJSON *json, bool *on)
{
	char name[16];
	const char *state;

	snprintf(name, sizeof(name), "POWER%u", power->config.channel);
	state = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, name));
	if (!state && power->config.channel == 1)
		state = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "POWER"));
	if (!state || (strcmp(state, "ON") != 0 && strcmp(state, "OFF") != 0))
		return -ENODATA;
	*on = !strcmp(state, "ON");
	return 0;
}

static int tasmota_get(struct power *power, bool *on)
{
	char command[16];
	cJSON *json;
	int ret;

	snprintf(command, sizeof(command), "Power%u", power->config.channel);
	ret = tasmota_ask(power, command, &json);
	/* Some give no answer to the bare query, and have it among all others. */
	if (ret == -ETIMEDOUT || ret == -EPROTO || (!ret && find_state(power, json, on))) {
		cJSON_Delete(json);
		ret = tasmota_ask(power, "State", &json);
	}
	if (ret)
		return ret;
	if (find_state(power, json, on))
		return power_web_fail_answer(power, json, "{\"POWER1\":\"ON\"} or \"OFF\"");
	cJSON_Delete(json);
	return 0;
}

static int tasmota_prove(struct power *power)
{
	return tasmota_get(power, &power->is_on);
}

static int tasmota_set(struct power *power, bool on)
{
	char command[24];
	bool is_on = !on;
	cJSON *json;
	int ret;

	snprintf(command, sizeof(command), "Power%u%%20%s", power->config.channel,
		on ? "On" : "Off");
	ret = tasmota_ask(power, command, &json);
	if (ret)
		return ret;
	if (find_state(power, json, &is_on))
		return power_web_fail_answer(power, json, "the new state");
	cJSON_Delete(json);
	return 0;
}

static int tasmota_watts(struct power *power, double *watts)
{
	cJSON *json;
	const cJSON *power_item;
	int ret = tasmota_ask(power, "Status%208", &json);

	if (ret)
		return ret;
	power_item = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(
			cJSON_GetObjectItemCaseSensitive(json, "StatusSNS"), "ENERGY"),
		"Power");
	/* With several channels it is a list of them. */
	if (cJSON_IsArray(power_item))
		power_item = cJSON_GetArrayItem(power_item, (int)power->config.channel - 1);
	if (cJSON_IsNumber(power_item))
		*watts = power_item->valuedouble;
	else
		ret = power_fail(power, -ENOTSUP, "the %s does not measure", power->place);
	cJSON_Delete(json);
	return ret;
}

const struct power_driver power_tasmota_driver = {
	.name = "tasmota",
	.instance_size = sizeof(struct power_tasmota),
	.needs = POWER_NEED_URL,
	.takes = POWER_NEED_PASSWORD,
	.channels = 32,
	.settle_ms = 1000,
	.prove = tasmota_prove,
	.set = tasmota_set,
	.get = tasmota_get,
	.watts = tasmota_watts,
};
