/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of a JSON object in a test: a missing one, or one of another type, fails it. */
#ifndef TESTS_JSON_FIELDS_H
#define TESTS_JSON_FIELDS_H

#include <cjson/cJSON.h>

const char *text_of(const cJSON *json, const char *key);
double number_of(const cJSON *json, const char *key);

/* Of what `show --json` prints: a fact, "" where it is not there; the events of a kind with
 * that in their text. */
const char *fact_of(const cJSON *show, const char *key);
unsigned count_events(const cJSON *show, const char *kind, const char *part);

#endif
