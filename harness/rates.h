/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which raised rates have been proven over which adapter, in a text file of the
 * state folder: "PORT RATE good|bad SECONDS" a line, the last one counts.  The
 * port is its identity in the lab file, hashed.  A rate that failed is tried
 * again after a day: it may have been noise.
 */
#ifndef SAMEBOARD_HARNESS_RATES_H
#define SAMEBOARD_HARNESS_RATES_H

#include <stdbool.h>
#include <stdint.h>

#include "boardctl/link.h"

enum rates_state {
	RATES_UNKNOWN,
	RATES_GOOD,
	RATES_BAD,
};

/* RATES_UNKNOWN also where the file cannot be read.  now_s: UTC. */
enum rates_state rates_get(const struct link_config *port, uint32_t baud, int64_t now_s);

/* 0 or a negative errno; then the rate is proven once more the next time. */
int rates_set(const struct link_config *port, uint32_t baud, bool is_good, int64_t now_s);

#endif
