/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/plug_fake.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#define PLUGS 4u

static void refuse(struct plug_fake *plug, struct http_fake_answer *answer, int status)
{
	plug->refused++;
	answer->status = status;
	snprintf(answer->body, sizeof(answer->body), "Not found");
}

static void turn(struct plug_fake *plug, unsigned number, bool on)
{
	if (!plug->is_stuck)
		plug->is_on[number] = on;
}

/* ---------------------------------------------------------------- Tasmota */

static void write_state(struct plug_fake *plug, unsigned number, struct http_fake_answer *answer,
	bool told, bool on)
{
	char name[16] = "POWER";

	if (!plug->is_single)
		snprintf(name, sizeof(name), "POWER%u", number);
	/* It says what it was told, whatever its contact does. */
	snprintf(answer->body, sizeof(answer->body), "{\"%s\":\"%s\"}", name,
		(told ? on : plug->is_on[number - 1]) ? "ON" : "OFF");
}

void plug_fake_tasmota(
	void *context, const struct http_fake_request *request, struct http_fake_answer *answer)
{
	struct plug_fake *plug = context;
	const char *command = strstr(request->target, "cmnd=");
	char wanted[160];
	unsigned number;

	if (strcmp(request->method, "GET") != 0 || strncmp(request->target, "/cm?", 4) != 0 ||
		!command) {
		refuse(plug, answer, 404);
		return;
	}
	if (plug->password) {
		snprintf(
			wanted, sizeof(wanted), "/cm?user=admin&password=%s&cmnd=", plug->password);
		if (strncmp(request->target, wanted, strlen(wanted)) != 0) {
			snprintf(answer->body, sizeof(answer->body),
				"{\"WARNING\":\"Need user=<username>&password=<password>\"}");
			return;
		}
	}
	command += 5;
	if (sscanf(command, "Power%u", &number) == 1 && number >= 1 && number <= PLUGS) {
		const char *rest = strchr(command, '%');

		if (rest && (!strcmp(rest, "%20On") || !strcmp(rest, "%20Off"))) {
			turn(plug, number - 1, !strcmp(rest, "%20On"));
			write_state(plug, number, answer, true, !strcmp(rest, "%20On"));
		} else if (!rest && !plug->ignores_query) {
			write_state(plug, number, answer, false, false);
		} else if (!rest) {
			answer->body[0] = '\0';
		} else {
			refuse(plug, answer, 400);
		}
	} else if (!strcmp(command, "State")) {
		snprintf(answer->body, sizeof(answer->body),
			"{\"Time\":\"2026-11-30T12:00:00\",\"UptimeSec\":12,\"POWER1\":\"%s\","
			"\"POWER2\":\"%s\",\"Wifi\":{\"RSSI\":80}}",
			plug->is_on[0] ? "ON" : "OFF", plug->is_on[1] ? "ON" : "OFF");
	} else if (!strcmp(command, "Status%208")) {
		snprintf(answer->body, sizeof(answer->body),
			plug->measures ? "{\"StatusSNS\":{\"Time\":\"2026-11-30T12:00:00\","
					 "\"ENERGY\":{\"Total\":1.5,\"Power\":7,\"Voltage\":230}}}"
				       : "{\"StatusSNS\":{\"Time\":\"2026-11-30T12:00:00\"}}");
	} else {
		refuse(plug, answer, 400);
	}
}

/* ----------------------------------------------------------------- Shelly */

static bool has_basic(const struct http_fake_request *request)
{
	/* admin:s3cret/& */
	return strstr(request->headers, "Authorization: Basic YWRtaW46czNjcmV0LyY=") != NULL;
}

void plug_fake_shelly1(
	void *context, const struct http_fake_request *request, struct http_fake_answer *answer)
{
	struct plug_fake *plug = context;
	unsigned number;
	char query[16] = "";

	if (plug->password && !has_basic(request)) {
		answer->status = 401;
		snprintf(answer->headers, sizeof(answer->headers),
			"WWW-Authenticate: Basic realm=\"shelly\"\r\n");
		return;
	}
	if (!strcmp(request->target, "/status") && !strcmp(request->method, "GET")) {
		snprintf(answer->body, sizeof(answer->body),
			plug->measures
				? "{\"relays\":[{\"ison\":true}],\"meters\":[{\"power\":3.25},"
				  "{\"power\":4.5}]}"
				: "{\"relays\":[{\"ison\":true}]}");
		return;
	}
	if (strcmp(request->method, "GET") != 0 ||
		sscanf(request->target, "/relay/%u?turn=%15s", &number, query) < 1 ||
		number >= PLUGS ||
		(query[0] && strcmp(query, "on") != 0 && strcmp(query, "off") != 0)) {
		refuse(plug, answer, 404);
		return;
	}
	if (query[0])
		turn(plug, number, !strcmp(query, "on"));
	snprintf(answer->body, sizeof(answer->body),
		"{\"ison\":%s,\"has_timer\":false,\"timer_started\":0,\"overpower\":false,"
		"\"source\":\"http\"}",
		plug->is_on[number] ? "true" : "false");
}

static void call(struct plug_fake *plug, const cJSON *json, struct http_fake_answer *answer)
{
	const char *method = cJSON_GetStringValue(cJSON_GetObjectItem(json, "method"));
	const cJSON *params = cJSON_GetObjectItem(json, "params");
	const cJSON *id = cJSON_GetObjectItem(params, "id"),
		    *on = cJSON_GetObjectItem(params, "on");
	unsigned number = cJSON_IsNumber(id) ? (unsigned)id->valueint : PLUGS;

	if (number >= PLUGS) {
		snprintf(answer->body, sizeof(answer->body),
			"{\"id\":1,\"src\":\"shellyplug\",\"error\":{\"code\":-105,\"message\":"
			"\"Argument 'id', value %u not found!\"}}",
			number);
		plug->refused++;
	} else if (method && !strcmp(method, "Switch.Set") && cJSON_IsBool(on)) {
		snprintf(answer->body, sizeof(answer->body),
			"{\"id\":1,\"src\":\"shellyplug\",\"result\":{\"was_on\":%s}}",
			plug->is_on[number] ? "true" : "false");
		turn(plug, number, cJSON_IsTrue(on));
	} else if (method && !strcmp(method, "Switch.GetStatus")) {
		snprintf(answer->body, sizeof(answer->body),
			"{\"id\":1,\"src\":\"shellyplug\",\"result\":{\"id\":%u,\"source\":\"HTTP_in\","
			"\"output\":%s%s}}",
			number, plug->is_on[number] ? "true" : "false",
			plug->measures ? ",\"apower\":5.5,\"voltage\":230.1" : "");
	} else {
		refuse(plug, answer, 404);
	}
}

void plug_fake_shelly2(
	void *context, const struct http_fake_request *request, struct http_fake_answer *answer)
{
	struct plug_fake *plug = context;
	cJSON *json;

	/* Digest with SHA-256, as its firmware has it; whether the response is right is curl's. */
	if (plug->password &&
		!strstr(request->headers, "Authorization: Digest username=\"admin\"")) {
		answer->status = 401;
		snprintf(answer->headers, sizeof(answer->headers),
			"WWW-Authenticate: Digest qop=\"auth\", realm=\"shellyplug\", "
			"nonce=\"1622038512\", algorithm=SHA-256\r\n");
		return;
	}
	json = cJSON_Parse(request->body);
	if (strcmp(request->method, "POST") != 0 || strcmp(request->target, "/rpc") != 0 || !json)
		refuse(plug, answer, 404);
	else
		call(plug, json, answer);
	cJSON_Delete(json);
}

/* -------------------------------------------------------------- PDUDaemon */

void plug_fake_pdudaemon(
	void *context, const struct http_fake_request *request, struct http_fake_answer *answer)
{
	struct plug_fake *plug = context;
	char verb[8];
	unsigned port;

	if (strcmp(request->method, "GET") != 0 ||
		sscanf(request->target, "/power/control/%7[a-z]?hostname=rack%%201&port=%u", verb,
			&port) != 2 ||
		port >= PLUGS || (strcmp(verb, "on") != 0 && strcmp(verb, "off") != 0)) {
		refuse(plug, answer, 500);
		snprintf(answer->body, sizeof(answer->body), "Invalid request\n");
		return;
	}
	turn(plug, port, !strcmp(verb, "on"));
	snprintf(answer->body, sizeof(answer->body), "OK - accepted request\n");
}
