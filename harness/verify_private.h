/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of harness/verify.h share; nobody else includes it. */
#ifndef SAMEBOARD_HARNESS_VERIFY_PRIVATE_H
#define SAMEBOARD_HARNESS_VERIFY_PRIVATE_H

#include <stdint.h>

#include "harness/verify.h"

/* One thing that was looked at; the text is kept where it does not hold. */
void verify_note(struct verify *verify, enum verify_kind kind, bool holds, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* "" and NaN where there is none. */
const char *verify_string(const cJSON *json, const char *key);
double verify_number(const cJSON *json, const char *key);

/* A count; 0 where there is none, and for what 32 bits cannot hold. */
uint32_t verify_count(const cJSON *json, const char *key);

/* Samples of a window's series in host order, or NULL; the caller frees them. */
void *verify_samples(const cJSON *window, const char *name, int kind, size_t *count);

/* Series, and the figures that were reckoned of them. */
void verify_windows(struct verify *verify, const cJSON *windows);

/* The windows are those that the suite asks for. */
void verify_suite(struct verify *verify, const cJSON *json);

/* Gates and verdict. */
void verify_gates(struct verify *verify, const cJSON *json);

#endif
