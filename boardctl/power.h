/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_POWER_H
#define BOARDCTL_POWER_H

#include <stdbool.h>

#include "boardctl/link.h"

/*
 * The switch in a board's power line. Not thread-safe.
 *
 * Errors besides those of link.h:
 *   -ETIMEDOUT  the relay gave no answer
 *   -EPROTO     it answered something that isn't a relay's status
 *   -EIO        it answered, and the channel isn't as it was told
 *   -ENOTSUP    this relay can't tell its state
 */
struct power;

/* Strings are copied by power_open(). */
struct power_config {
	const char *driver;	 /* "lcus" */
	struct link_config port; /* the relay's port; baud 0 = 9600 */
	unsigned channel;	 /* 1..8; 0 = 1 */
	unsigned off_ms;	 /* the board stays off at least so long; 0 = 2000 */
	unsigned answer_ms;	 /* wait for an answer; 0 = 2000 */
	/* The relay never answers (most single-channel ones). Then states are
	 * commanded and not read back, and the port can't be proven a relay:
	 * its identity must be right. */
	bool silent;
};

/*
 * Open the relay and prove that it is one, by its answer to a status query
 * (unless silent). Switches nothing. *power is set even on failure (NULL only
 * without memory); always power_close() it.
 */
int power_open(struct power **power, const struct power_config *config);

/* Leaves the contact as it is. */
void power_close(struct power *power);
const char *power_error(const struct power *power);

/*
 * Switch and read back. Switching on waits first until the board has been off
 * for off_ms since this handle switched it off.
 */
int power_set(struct power *power, bool on);

/* Ask the relay. -ENOTSUP from a silent one; *on is then what was last
 * commanded (false before the first command). */
int power_get(struct power *power, bool *on);

/* Off for at least off_ms, then on. */
int power_cycle(struct power *power);

#endif
