/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's own talk: kept off the console during a window, and counted,
 * since every record is formatted whether it is shown or not.
 */
#ifndef AGENTS_LINUX_KMSG_H
#define AGENTS_LINUX_KMSG_H

#include <stdbool.h>
#include <stdint.h>

struct kmsg {
	int fd;		  /* /dev/kmsg at its end; -1: not readable */
	int level_before; /* of the console; -1: not changed */
	int level;	  /* as read back; -1: not known */
};

void kmsg_open(struct kmsg *kmsg);
void kmsg_close(struct kmsg *kmsg);

/* Only emergencies reach the console from now on; the level is read back. */
void kmsg_quiet(struct kmsg *kmsg);
void kmsg_restore(struct kmsg *kmsg);

/* Start counting records here. */
void kmsg_mark(struct kmsg *kmsg);
/* Records since the mark, by their sequence numbers; negative: cannot be known. */
int64_t kmsg_count(struct kmsg *kmsg);

#endif
