/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/json_fields.h"

#include <check.h>

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
