/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_PORTMATCH_H
#define BOARDCTL_PORTMATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "boardctl/link.h"

/*
 * Choose one serial port by what identifies it. Adapters come without serial
 * numbers and two of a kind sit in one lab, so two candidates are an error.
 */
struct portmatch_candidate {
	char path[64]; /* "/dev/ttyUSB0" */
	bool is_usb;   /* the next ones are known */
	int vendor, product;
	char serial[64];    /* "" = none */
	char usb_path[128]; /* "pci-0000:00:14.0-usb-0:3:1.0"; "" = unknown */
};

/* The serial ports of this machine, at most max; how many, or a negative errno. */
int portmatch_list(struct portmatch_candidate *candidates, size_t max);

/*
 * The index of the one candidate that fits usb, usb_serial and usb_path of
 * config, else -ENOENT, -ENOTUNIQ or -EINVAL with the text in error[size].
 */
int portmatch_choose(const struct link_config *config, const struct portmatch_candidate *candidates,
	size_t count, char *error, size_t size);

/*
 * The stable name of a USB port, as udev spells it, from the resolved sysfs
 * path of the tty's device. "" when it isn't on USB. Cut never: "" instead.
 */
void portmatch_usb_path(const char *sysfs_path, char *usb_path, size_t size);

#endif
