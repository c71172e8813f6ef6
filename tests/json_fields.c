/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/json_fields.h"

#include <check.h>
#include <string.h>

const char *text_of(const cJSON *json, const char *key)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(json, key));

	ck_assert_msg(text != NULL, "no text \"%s\"", key);
	return text;
}

double number_of(const cJSON *json, const char *key)
{
	const cJSON *number = cJSON_GetObjectItem(json, key);

	ck_assert_msg(cJSON_IsNumber(number), "no number \"%s\"", key);
	return number->valuedouble;
}

const char *fact_of(const cJSON *show, const char *key)
{
	const char *value = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItem(show, "facts"), key));

	return value ? value : "";
}

unsigned count_events(const cJSON *show, const char *kind, const char *part)
{
	const cJSON *event;
	unsigned count = 0;

	cJSON_ArrayForEach(event, cJSON_GetObjectItem(show, "events"))
	{
		count += strcmp(text_of(event, "kind"), kind) == 0 &&
			 strstr(text_of(event, "text"), part) != NULL;
	}
	return count;
}
