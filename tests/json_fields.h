/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of a JSON object in a test: a missing one, or one of another type, fails it. */
#ifndef TESTS_JSON_FIELDS_H
#define TESTS_JSON_FIELDS_H

#include <cjson/cJSON.h>

const char *text_of(const cJSON *json, const char *key);
double number_of(const cJSON *json, const char *key);

#endif
