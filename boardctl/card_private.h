/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_CARD_PRIVATE_H
#define BOARDCTL_CARD_PRIVATE_H

#include "boardctl/card.h"
#include "boardctl/fail.h"

/* What card.c and card_write.c share. */
struct card {
	char *device;
	char error[FAIL_TEXT_SIZE];
	int fd; /* -1 = not open */
	bool is_block;
	uint64_t size_bytes;
};

#endif
