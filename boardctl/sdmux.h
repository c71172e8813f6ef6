/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_SDMUX_H
#define BOARDCTL_SDMUX_H

#include <stdbool.h>

/*
 * The switch that gives the SD card to the host or to the board. Switch it
 * only while the board is off. Not thread-safe.
 *
 * Errors:
 *   -EINVAL     the configuration is wrong
 *   -ENOENT     the mux command isn't installed
 *   -ETIMEDOUT  it didn't end in time (it was killed)
 *   -EACCES     it may not; the text names the rule
 *   -EIO        it failed (the text carries its exit code and what it said)
 *   -EPROTO     its answer makes no sense, or it answers another position than set
 */
struct sdmux;

enum sdmux_position {
	SDMUX_POSITION_OFF,  /* nobody has the card */
	SDMUX_POSITION_HOST, /* this machine has it */
	SDMUX_POSITION_DUT,  /* the board has it */
};

/* Strings are copied by sdmux_open(). */
struct sdmux_config {
	const char *driver;  /* a name in drivers.c */
	const char *command; /* program to run, a path or a name on PATH; NULL = the driver's own */
	const char *device;  /* the mux: "/dev/usb-sd-mux/id-0001", or a directory of vboard */
	unsigned timeout_ms; /* for one run of the command; 0 = 10000 */
};

/* Checks the configuration; moves nothing. *mux is set even on failure (NULL
 * only without memory); always sdmux_close() it. */
int sdmux_open(struct sdmux **mux, const struct sdmux_config *config);

/* Leaves the card where it is. */
void sdmux_close(struct sdmux *mux);
const char *sdmux_error(const struct sdmux *mux);

/* Switch, then ask and compare, where the mux tells. Where one of both always has
 * the card, off is the board's side. */
int sdmux_set(struct sdmux *mux, enum sdmux_position position);
int sdmux_get(struct sdmux *mux, enum sdmux_position *position);

/* What a driver of that name needs: a device, a command. False for an unknown name. */
bool sdmux_find_needs(const char *driver, bool *device, bool *command);

/* "off", "host", "dut" */
const char *sdmux_position_name(enum sdmux_position position);

#endif
