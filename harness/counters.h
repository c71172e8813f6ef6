/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The `key=value` lines that an agent sends: facts of a run, counters of a
 * window.  No errors beyond "not there"; no state.
 */
#ifndef SAMEBOARD_HARNESS_COUNTERS_H
#define SAMEBOARD_HARNESS_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The value of a key, copied and cut to size - 1; false where there is none. */
bool counters_get(const char *text, const char *key, char *value, size_t size);

/*
 * A counted value: GATE_COUNTER_UNKNOWN when it isn't there or isn't a number,
 * GATE_COUNTER_NONE for "none" (the system has no such thing).
 */
uint64_t counters_get_count(const char *text, const char *key);

#endif
