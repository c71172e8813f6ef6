/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_DRIVERS_H
#define BOARDCTL_DRIVERS_H

#include <limits.h>

#include "boardctl/fail.h"
#include "boardctl/link.h"
#include "boardctl/power.h"
#include "boardctl/sdmux.h"

/*
 * What a driver is, for boardctl/ only. A driver is one file with one exported
 * const table, listed in drivers.c. Its state struct starts with the base
 * struct and is allocated by the module, zeroed, instance_size bytes. Operations
 * return 0 or a negative errno and leave the text in base->error.
 */

struct link {
	const struct link_driver *driver;
	struct link_config config; /* own copies of the strings */
	char path[PATH_MAX];
	char error[FAIL_TEXT_SIZE];
	struct link_tap tap, monitor;
	struct link_guard guard;
	uint32_t baud;
	unsigned reopen_count;
	bool is_open;
};

struct link_driver {
	const char *name;
	size_t instance_size;
	enum link_place place; /* what names the port */
	int (*resolve)(const struct link_config *config, char *path, size_t size, char *error,
		size_t error_size);
	int (*open)(struct link *link); /* link->path and link->baud are set; cleans up itself */
	void (*close)(struct link *link);
	ssize_t (*read)(struct link *link, void *buffer, size_t size, unsigned timeout_ms);
	int (*write)(struct link *link, const void *data, size_t size); /* all, not drained */
	int (*drain)(struct link *link);
	int (*set_baud)(struct link *link, uint32_t baud);
	int (*flush)(struct link *link);
	int (*set_break)(struct link *link, bool on); /* optional */
};

struct power {
	const struct power_driver *driver;
	struct power_config config; /* own copies of the strings, port left out */
	struct link *port;	    /* of drivers with a baud rate */
	char place[160];	    /* for texts: where the switch is, "relay at /dev/ttyUSB0" */
	char password[128];	    /* "" = none; power_fail() keeps it out of texts */
	char error[FAIL_TEXT_SIZE];
	bool is_on;	 /* last commanded */
	uint64_t off_us; /* when it was switched off; 0 = never by this handle */
};

struct power_driver {
	const char *name;
	size_t instance_size;
	unsigned needs;			    /* enum power_need: what must be configured */
	unsigned takes;			    /* what else may be */
	uint32_t baud;			    /* of a relay's port; 0 = it has none */
	unsigned channels;		    /* so many at most */
	unsigned settle_ms;		    /* the state may follow a command so late */
	const char *command;		    /* program, when the configuration names none */
	int (*open)(struct power *power);   /* optional */
	void (*close)(struct power *power); /* optional; also after a failed open */
	int (*prove)(struct power *power);  /* that a switch of this kind answers; optional */
	int (*set)(struct power *power, bool on);
	int (*get)(struct power *power, bool *on);	  /* optional */
	int (*watts)(struct power *power, double *watts); /* optional */
};

/* What was read is kept out of error texts where it has the password in it. */
int power_fail(struct power *power, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

struct sdmux {
	const struct sdmux_driver *driver;
	struct sdmux_config config; /* own copies of the strings */
	char error[FAIL_TEXT_SIZE];
};

struct sdmux_driver {
	const char *name;
	size_t instance_size;
	const char *command; /* when the configuration names none; NULL: it must */
	bool needs_device;
	bool has_no_off; /* one of both always has the card: off is dut */
	int (*set)(struct sdmux *mux, enum sdmux_position position);
	int (*get)(struct sdmux *mux, enum sdmux_position *position); /* optional */
};

/* Each ends with NULL. */
extern const struct link_driver *const drivers_link[];
extern const struct power_driver *const drivers_power[];
extern const struct sdmux_driver *const drivers_sdmux[];

extern const struct link_driver link_pty_driver;
extern const struct link_driver link_rfc2217_driver;
extern const struct link_driver link_child_driver;
extern const struct link_driver link_serial_driver;
extern const struct link_driver link_tcp_driver;
extern const struct power_driver power_command_driver;
extern const struct power_driver power_dcthid_driver;
extern const struct power_driver power_lcus_driver;
extern const struct power_driver power_pdudaemon_driver;
extern const struct power_driver power_shelly1_driver;
extern const struct power_driver power_shelly2_driver;
extern const struct power_driver power_tasmota_driver;
extern const struct power_driver power_uhubctl_driver;
extern const struct sdmux_driver sdmux_command_driver;
extern const struct sdmux_driver sdmux_sdmuxctrl_driver;
extern const struct sdmux_driver sdmux_sdwire_driver;
extern const struct sdmux_driver sdmux_usbsdmux_driver;

/* The driver of that name, or NULL and the accepted names as an error text
 * ("unknown console driver ..."). kind is for the text. */
const struct link_driver *drivers_find_link(const char *name, char *error, size_t size);
const struct power_driver *drivers_find_power(const char *name, char *error, size_t size);
const struct sdmux_driver *drivers_find_sdmux(const char *name, char *error, size_t size);

#endif
