/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/drivers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const struct link_driver *const drivers_link[] = {
	&link_serial_driver,
	&link_pty_driver,
	&link_tcp_driver,
	&link_rfc2217_driver,
	&link_child_driver,
	NULL,
};

const struct power_driver *const drivers_power[] = {
	&power_lcus_driver,
	&power_dcthid_driver,
	&power_uhubctl_driver,
	&power_tasmota_driver,
	&power_shelly1_driver,
	&power_shelly2_driver,
	&power_pdudaemon_driver,
	&power_command_driver,
	NULL,
};

const struct sdmux_driver *const drivers_sdmux[] = {
	&sdmux_usbsdmux_driver,
	&sdmux_sdmuxctrl_driver,
	&sdmux_sdwire_driver,
	&sdmux_command_driver,
	NULL,
};

static void append(char *text, size_t size, const char *more)
{
	size_t used = strlen(text);

	snprintf(text + used, size - used, "%s\"%s\"", used ? ", " : "", more);
}

static void say_unknown(
	const char *kind, const char *name, const char *names, char *error, size_t size)
{
	if (name)
		fail_format(error, size, 0, "unknown %s driver \"%s\"; there are: %s", kind, name,
			names);
	else
		fail_format(error, size, 0, "no %s driver named; there are: %s", kind, names);
}

const struct link_driver *drivers_find_link(const char *name, char *error, size_t size)
{
	char names[256] = "";

	for (size_t i = 0; drivers_link[i]; i++) {
		if (name && !strcmp(drivers_link[i]->name, name))
			return drivers_link[i];
		append(names, sizeof(names), drivers_link[i]->name);
	}
	say_unknown("port", name, names, error, size);
	return NULL;
}

const struct power_driver *drivers_find_power(const char *name, char *error, size_t size)
{
	char names[256] = "";

	for (size_t i = 0; drivers_power[i]; i++) {
		if (name && !strcmp(drivers_power[i]->name, name))
			return drivers_power[i];
		append(names, sizeof(names), drivers_power[i]->name);
	}
	say_unknown("power", name, names, error, size);
	return NULL;
}

const struct sdmux_driver *drivers_find_sdmux(const char *name, char *error, size_t size)
{
	char names[256] = "";

	for (size_t i = 0; drivers_sdmux[i]; i++) {
		if (name && !strcmp(drivers_sdmux[i]->name, name))
			return drivers_sdmux[i];
		append(names, sizeof(names), drivers_sdmux[i]->name);
	}
	say_unknown("SD mux", name, names, error, size);
	return NULL;
}
