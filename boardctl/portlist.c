/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <libserialport.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boardctl/portmatch.h"

static void describe_port(const struct sp_port *port, struct portmatch_candidate *candidate)
{
	const char *name = sp_get_port_name(port), *serial = sp_get_port_usb_serial(port);
	char link[128], real[PATH_MAX];

	memset(candidate, 0, sizeof(*candidate));
	snprintf(candidate->path, sizeof(candidate->path), "%s", name);
	candidate->is_usb =
		sp_get_port_usb_vid_pid(port, &candidate->vendor, &candidate->product) == SP_OK;
	snprintf(candidate->serial, sizeof(candidate->serial), "%s", serial ? serial : "");
	name = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	snprintf(link, sizeof(link), "/sys/class/tty/%s/device", name);
	if (realpath(link, real))
		portmatch_usb_path(real, candidate->usb_path, sizeof(candidate->usb_path));
}

int portmatch_list(struct portmatch_candidate *candidates, size_t max)
{
	struct sp_port **ports = NULL;
	size_t count = 0;

	if (sp_list_ports(&ports) != SP_OK)
		return sp_last_error_code() ? -sp_last_error_code() : -EIO;
	for (; ports[count] && count < max; count++)
		describe_port(ports[count], &candidates[count]);
	sp_free_port_list(ports);
	return (int)count;
}
