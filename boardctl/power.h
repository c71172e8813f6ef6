/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_POWER_H
#define BOARDCTL_POWER_H

#include <stdbool.h>

#include "boardctl/link.h"

/*
 * The switch in a board's power line. Not thread-safe.
 *
 * Errors besides those of link.h:
 *   -ETIMEDOUT  the switch gave no answer
 *   -EPROTO     it answered something that isn't a switch's state
 *   -EIO        it answered, and isn't as it was told; or it said that it failed
 *   -EACCES     no permission; the text names the group or rule, or the password
 *   -ENOTSUP    this switch can't tell that
 *
 * Passwords come from a file or the environment and stand in no error text.
 */
struct power;

/* What a driver may need to be told, as bits. */
enum power_need {
	POWER_NEED_PORT = 1,	  /* port */
	POWER_NEED_URL = 2,	  /* url */
	POWER_NEED_DEVICE = 4,	  /* device */
	POWER_NEED_COMMAND = 8,	  /* command */
	POWER_NEED_PASSWORD = 16, /* user, password_file, password_env */
};

/* Strings are copied by power_open(). */
struct power_config {
	const char *driver;	   /* a name in drivers.c */
	struct link_config port;   /* a relay's port; baud 0 = its own */
	const char *url;	   /* "http://plug.lab" */
	const char *device;	   /* which one: a hub, a relay's id, a PDU's name */
	const char *command;	   /* program to run, a path or a name on PATH */
	const char *user;	   /* NULL = the device's usual one */
	const char *password_file; /* its first line; readable by its owner alone */
	const char *password_env;  /* name of a variable of the environment */
	unsigned channel;	   /* from 1; 0 = 1 */
	unsigned off_ms;	   /* the board stays off at least so long; 0 = 2000 */
	unsigned answer_ms;	   /* wait for an answer; 0 = 2000 */
	/* The relay never answers (most single-channel ones). Then states are
	 * commanded and not read back, and the port can't be proven a relay:
	 * its identity must be right. */
	bool silent;
};

/*
 * Open the switch and prove that it is one, by its answer to a status query
 * (unless silent, or where there is none). Switches nothing. *power is set even
 * on failure (NULL only without memory); always power_close() it.
 */
int power_open(struct power **power, const struct power_config *config);

/* Leaves the contact as it is. */
void power_close(struct power *power);
const char *power_error(const struct power *power);

/*
 * What a driver of that name needs and what else it takes, bits of enum
 * power_need, and its highest channel. False for an unknown name.
 */
bool power_find_needs(const char *driver, unsigned *needs, unsigned *takes, unsigned *channels);

/*
 * Switch and read back. Switching on waits first until the board has been off
 * for off_ms since this handle switched it off.
 */
int power_set(struct power *power, bool on);

/* Ask the switch. -ENOTSUP from one that doesn't tell; *on is then what was
 * last commanded (false before the first command). */
int power_get(struct power *power, bool *on);

/* What the board takes, where the switch measures that; else -ENOTSUP. */
int power_get_watts(struct power *power, double *watts);

#endif
