/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What vboard's command line says.
 */
#ifndef VBOARD_OPTIONS_H
#define VBOARD_OPTIONS_H

#include <limits.h>
#include <stdbool.h>

#include "boardctl/vboard/fault.h"

enum options_action { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_VERSION };

struct options {
	enum options_action action;
	const char *dir, *bios; /* borrowed from argv */
	char card[PATH_MAX];	/* absolute */
	char uboot[PATH_MAX];
	unsigned memory_mb;
	bool is_icount;
	unsigned uart_hz; /* the UART's clock */
	struct fault_plan faults;
};

/*
 * Parse and check: the card and U-Boot exist, the card's size is a power of two. 0, or -EINVAL with
 * a text that says what would be right.
 */
int options_parse(struct options *options, int argc, char **argv, char *error, size_t error_size);

/* The text of --help, a line at a time; NULL after the last. */
const char *options_get_help(unsigned index);

#endif
