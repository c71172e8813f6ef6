/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/cardcheck.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "boardctl/fail.h"

#define PARTITIONS_MAX 256

/* The disk and its partitions. */
struct family {
	dev_t devices[PARTITIONS_MAX];
	size_t count;
};

static bool read_word(const char *path, char *word, size_t size)
{
	FILE *file = fopen(path, "re");
	bool ok;

	if (!file)
		return false;
	ok = fgets(word, (int)size, file) != NULL;
	fclose(file);
	if (ok)
		word[strcspn(word, "\n")] = '\0';
	return ok;
}

static bool has_entries(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool found = false;

	if (!dir)
		return false;
	while (!found && (entry = readdir(dir)))
		found = entry->d_name[0] != '.';
	closedir(dir);
	return found;
}

static bool has_holder(const char *disk, const char *child)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s%sholders", disk, child, *child ? "/" : "");
	return has_entries(path);
}

/* Fill the family; *is_held when something (device mapper, RAID) stands on one. */
static int find_family(const char *disk, dev_t device, struct family *family, bool *is_held)
{
	DIR *dir = opendir(disk);
	struct dirent *entry;

	family->devices[0] = device;
	family->count = 1;
	*is_held = has_holder(disk, "");
	if (!dir)
		return -errno;
	while ((entry = readdir(dir)) && family->count < PARTITIONS_MAX) {
		char path[PATH_MAX], word[32];
		unsigned major_number, minor_number;

		snprintf(path, sizeof(path), "%s/%s/partition", disk, entry->d_name);
		if (entry->d_name[0] == '.' || access(path, F_OK))
			continue;
		snprintf(path, sizeof(path), "%s/%s/dev", disk, entry->d_name);
		if (!read_word(path, word, sizeof(word)) ||
			sscanf(word, "%u:%u", &major_number, &minor_number) != 2)
			continue;
		family->devices[family->count++] = makedev(major_number, minor_number);
		*is_held = *is_held || has_holder(disk, entry->d_name);
	}
	closedir(dir);
	return 0;
}

static bool has_device(const struct family *family, dev_t device)
{
	for (size_t i = 0; i < family->count; i++)
		if (family->devices[i] == device)
			return true;
	return false;
}

/* 1 mounted (at mount_point, "/" preferred), 0 not. */
static int find_mount(
	const char *mountinfo, const struct family *family, char *mount_point, size_t size)
{
	FILE *file = fopen(mountinfo, "re");
	char *line = NULL;
	size_t room = 0;
	int found = 0;

	if (!file)
		return -errno;
	while (getline(&line, &room, file) > 0) {
		unsigned major_number, minor_number;
		int at = 0;

		/* id parent major:minor root mount-point ... */
		if (sscanf(line, "%*u %*u %u:%u %*s %n", &major_number, &minor_number, &at) != 2 ||
			!at || !has_device(family, makedev(major_number, minor_number)))
			continue;
		line[at + (int)strcspn(line + at, " \n")] = '\0';
		if (!found || !strcmp(line + at, "/"))
			snprintf(mount_point, size, "%s", line + at);
		found = 1;
	}
	free(line);
	fclose(file);
	return found;
}

static int check_mounts(const struct cardcheck *check, const char *disk, dev_t device,
	const char *name, char *error, size_t size)
{
	struct family family;
	char mount_point[256] = "";
	bool is_held = false;
	int ret = find_family(disk, device, &family, &is_held);

	if (!ret)
		ret = find_mount(check->mountinfo, &family, mount_point, sizeof(mount_point));
	if (ret < 0)
		return fail_format(error, size, ret, "cannot tell whether %s is in use: %s", name,
			strerror(-ret));
	if (ret && !strcmp(mount_point, "/"))
		return fail_format(error, size, -EPERM,
			"%s holds the root file system of this machine; it is no card", name);
	if (ret)
		return fail_format(error, size, -EBUSY,
			"%s is mounted at %s; unmount it and keep it from being mounted by itself",
			name, mount_point);
	if (is_held)
		return fail_format(
			error, size, -EBUSY, "%s is in use by another block device", name);
	return 0;
}

int cardcheck_run(const struct cardcheck *check, dev_t device, const char *name,
	bool fixed_disk_allowed, char *error, size_t size)
{
	char disk[512], path[PATH_MAX], word[8] = "";
	int ret;

	snprintf(disk, sizeof(disk), "%s/dev/block/%u:%u", check->sysfs, major(device),
		minor(device));
	snprintf(path, sizeof(path), "%s/partition", disk);
	if (!access(path, F_OK))
		return fail_format(error, size, -EINVAL,
			"%s is a partition; name the whole card, an image has its own partitions",
			name);
	ret = check_mounts(check, disk, device, name, error, size);
	if (ret || fixed_disk_allowed)
		return ret;
	snprintf(path, sizeof(path), "%s/removable", disk);
	if (!read_word(path, word, sizeof(word)))
		return fail_format(error, size, -EPERM, "cannot tell whether %s is removable (%s)",
			name, path);
	if (strcmp(word, "1"))
		return fail_format(error, size, -EPERM,
			"%s is not removable, so it may be a disk of this machine; if it is the "
			"card, allow fixed disks in the lab file",
			name);
	return 0;
}

/* ------------------------------------------------------------------ identity */

/* Of the disk at this place of sysfs what udev's by-id is made of; false without USB. */
static bool find_identity(const char *disk, char *identity, size_t size)
{
	char base[PATH_MAX], path[PATH_MAX + 16], vendor[16], product[16], serial[128] = "";
	unsigned channel = 0, target = 0, lun = 0;
	char *slash;

	if (!realpath(disk, base))
		return false;
	/* .../1-2/1-2:1.0/host3/target3:0:0/3:0:0:0/block/sdb */
	while ((slash = strrchr(base, '/')) && slash != base) {
		sscanf(slash, "/%*u:%u:%u:%u", &channel, &target, &lun);
		*slash = '\0';
		snprintf(path, sizeof(path), "%s/idVendor", base);
		if (!read_word(path, vendor, sizeof(vendor)))
			continue;
		snprintf(path, sizeof(path), "%s/idProduct", base);
		if (!read_word(path, product, sizeof(product)))
			return false;
		snprintf(path, sizeof(path), "%s/serial", base);
		read_word(path, serial, sizeof(serial));
		snprintf(identity, size, "USB %s:%s, %s%s, unit %u", vendor, product,
			serial[0] ? "serial number " : "no serial number", serial, lun);
		return true;
	}
	return false;
}

int cardcheck_run_twin(
	const struct cardcheck *check, dev_t device, const char *name, char *error, size_t size)
{
	char path[PATH_MAX], mine[256], other[256], number[32], word[32];
	struct dirent *entry;
	DIR *dir;
	int ret = 0;

	snprintf(number, sizeof(number), "%u:%u", major(device), minor(device));
	snprintf(path, sizeof(path), "%s/dev/block/%s", check->sysfs, number);
	if (!find_identity(path, mine, sizeof(mine)))
		return 0;
	snprintf(path, sizeof(path), "%s/block", check->sysfs);
	dir = opendir(path);
	while (dir && !ret && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/block/%s/dev", check->sysfs, entry->d_name);
		if (entry->d_name[0] == '.' || !read_word(path, word, sizeof(word)) ||
			!strcmp(word, number))
			continue;
		snprintf(path, sizeof(path), "%s/block/%s", check->sysfs, entry->d_name);
		if (find_identity(path, other, sizeof(other)) && !strcmp(mine, other))
			ret = fail_format(error, size, -ENOTUNIQ,
				"%s may be either of two disks: %s is one with the same identity "
				"(%s); unplug one, or name the card by its place in "
				"/dev/disk/by-path",
				name, entry->d_name, mine);
	}
	if (dir)
		closedir(dir);
	return ret;
}

/* ------------------------------------------------------------------- others */

static bool read_number(const char *path, unsigned long long *number)
{
	char word[32];

	return read_word(path, word, sizeof(word)) && sscanf(word, "%llu", number) == 1;
}

uint64_t cardcheck_get_size(const struct cardcheck *check, dev_t device)
{
	unsigned long long sectors = 0;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/dev/block/%u:%u/size", check->sysfs, major(device),
		minor(device));
	return read_number(path, &sectors) ? sectors * 512u : 0;
}

unsigned cardcheck_list(const struct cardcheck *check, const char *folder, char *text, size_t size)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	unsigned count = 0;
	size_t used = 0;

	text[0] = '\0';
	while (dir && (entry = readdir(dir)) && used < size) {
		char path[PATH_MAX], ignored[FAIL_TEXT_SIZE];
		unsigned long long size_bytes;
		struct stat now;
		int put;

		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (stat(path, &now) || !S_ISBLK(now.st_mode))
			continue;
		size_bytes = cardcheck_get_size(check, now.st_rdev);
		if (!size_bytes ||
			cardcheck_run(check, now.st_rdev, path, false, ignored, sizeof(ignored)))
			continue;
		put = snprintf(text + used, size - used, "%s%s/%s (%llu bytes)", used ? ", " : "",
			folder, entry->d_name, size_bytes);
		used += put > 0 ? (size_t)put : 0;
		count++;
	}
	if (dir)
		closedir(dir);
	return count;
}
