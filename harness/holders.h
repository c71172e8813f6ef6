/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who else has a device open, from /proc: only processes that this user may
 * look into are seen, all of them for root.  No state.
 */
#ifndef SAMEBOARD_HARNESS_HOLDERS_H
#define SAMEBOARD_HARNESS_HOLDERS_H

#include <stddef.h>
#include <sys/types.h>

struct holder {
	pid_t pid;
	char name[64]; /* as the kernel knows it, "ModemManager" */
};

/*
 * The first processes but this one that have the resolved path open, at most
 * max of them.  Their number, or a negative errno.
 */
int holders_find(const char *path, struct holder *holders, size_t max);

/* What a person can do about this one. */
const char *holders_advise(const struct holder *holder);

#endif
