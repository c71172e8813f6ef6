/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_CARDCHECK_H
#define BOARDCTL_CARDCHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Whether a block device may be overwritten. The two places where the kernel
 * tells are given by the caller, so that any machine's can be checked.
 */
struct cardcheck {
	const char *sysfs;     /* "/sys" */
	const char *mountinfo; /* "/proc/self/mountinfo" */
};

/*
 * 0, or:
 *   -EINVAL  it is a partition
 *   -EPERM   it holds "/", or isn't removable and fixed_disk_allowed is false
 *   -EBUSY   it or a partition of it is mounted, or another device stands on it
 * or the negative errno of reading the kernel's files. The text goes to
 * error[size]; name is the device's name for it.
 */
int cardcheck_run(const struct cardcheck *check, dev_t device, const char *name,
	bool fixed_disk_allowed, char *error, size_t size);

/*
 * 0, or -ENOTUNIQ when another disk has this one's USB identity: a name that is
 * made of it (/dev/disk/by-id) may be of either.
 */
int cardcheck_run_twin(
	const struct cardcheck *check, dev_t device, const char *name, char *error, size_t size);

/* What the kernel says without anybody opening the disk; 0 without a card, or unknown. */
uint64_t cardcheck_get_size(const struct cardcheck *check, dev_t device);

/*
 * The removable disks among the links of a folder like "/dev/disk/by-id", as text
 * "NAME (BYTES bytes)", separated by commas; those without a card and those that
 * cardcheck_run() refuses are left out. How many are in it.
 */
unsigned cardcheck_list(const struct cardcheck *check, const char *folder, char *text, size_t size);

#endif
