/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/holders.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *name, *advice;
} known[] = {
	{"ModemManager", "it probes every new serial port: tell it to leave this one alone by a "
			 "udev rule with ENV{ID_MM_DEVICE_IGNORE}=\"1\", or stop it"},
	{"brltty", "it takes serial adapters for Braille displays: remove it, or mask its udev "
		   "rule"},
	{"minicom", "leave that terminal"},
	{"picocom", "leave that terminal"},
	{"screen", "leave that terminal (screen -ls names detached ones)"},
	{"tio", "leave that terminal"},
	{"cu", "leave that terminal"},
	{"sameboard", "another job uses the port: wait for it, or cancel it"},
};

const char *holders_advise(const struct holder *holder)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(holder->name, known[i].name) == 0)
			return known[i].advice;
	return "end that process, or give the board another port";
}

static bool has_open(const char *pid, const char *path)
{
	char folder[64], link[PATH_MAX];
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	snprintf(folder, sizeof(folder), "/proc/%.20s/fd", pid);
	dir = opendir(folder);
	while (dir && !found && (entry = readdir(dir))) {
		ssize_t length = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);

		if (length <= 0)
			continue;
		link[length] = '\0';
		found = strcmp(link, path) == 0;
	}
	if (dir)
		closedir(dir);
	return found;
}

static void read_name(const char *pid, char *name, size_t size)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.20s/comm", pid);
	file = fopen(path, "r");
	if (!file || !fgets(name, (int)size, file))
		snprintf(name, size, "?");
	name[strcspn(name, "\n")] = '\0';
	if (file)
		fclose(file);
}

int holders_find(const char *path, struct holder *holders, size_t max)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	size_t count = 0;

	if (!proc)
		return -errno;
	while (count < max && (entry = readdir(proc))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (!isdigit((unsigned char)entry->d_name[0]) || pid == getpid() ||
			!has_open(entry->d_name, path))
			continue;
		holders[count].pid = pid;
		read_name(entry->d_name, holders[count].name, sizeof(holders[count].name));
		count++;
	}
	closedir(proc);
	return (int)count;
}
