/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What gates are judged by, as JSON: stored with each run, so that a stranger
 * can judge again.  What the samples themselves say is not taken from here when
 * it is read back (harness/verify.h).
 */
#ifndef SAMEBOARD_HARNESS_EVIDENCE_H
#define SAMEBOARD_HARNESS_EVIDENCE_H

#include <cjson/cJSON.h>

#include "harness/gates.h"

/* A text, which the caller frees; NULL without memory. */
char *evidence_write_run(const struct gate_run *run);
char *evidence_write_window(const struct gate_window *window);

/* Strings are those of the JSON and live as long.  -EINVAL where it is none. */
int evidence_read_run(const cJSON *json, struct gate_run *run);
int evidence_read_window(const cJSON *json, struct gate_window *window);

#endif
