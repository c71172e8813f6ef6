/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <libserialport.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* A port with a device behind it; of those that the kernel has by number, one that is there. */
static bool is_port(const char *name)
{
	char path[512], type[16] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/tty/%s/device", name);
	if (name[0] == '.' || access(path, F_OK) != 0)
		return false;
	snprintf(path, sizeof(path), "/sys/class/tty/%s/type", name);
	file = fopen(path, "r");
	if (!file)
		return true;
	if (!fgets(type, sizeof(type), file))
		type[0] = '\0';
	fclose(file);
	return strcmp(type, "0\n") != 0;
}

/*
 * Not by sp_list_ports(): version 0.1.1 goes through a null pointer when a port
 * goes away while it lists.
 */
int portmatch_list(struct portmatch_candidate *candidates, size_t max)
{
	DIR *dir = opendir("/sys/class/tty");
	struct dirent *entry;
	size_t count = 0;

	if (!dir)
		return -errno;
	while (count < max && (entry = readdir(dir))) {
		struct sp_port *port;
		char path[300];

		snprintf(path, sizeof(path), "/dev/%s", entry->d_name);
		if (!is_port(entry->d_name) || sp_get_port_by_name(path, &port) != SP_OK)
			continue;
		describe_port(port, &candidates[count++]);
		sp_free_port(port);
	}
	closedir(dir);
	return (int)count;
}
