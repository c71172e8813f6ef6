/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The per-window counters of Linux: interrupts, timer interrupts, page faults
 * and context switches of this process.  The files stay open, so taking a
 * snapshot allocates nothing.
 */
#ifndef AGENTS_LINUX_SNAPSHOT_H
#define AGENTS_LINUX_SNAPSHOT_H

#include <stdint.h>

#include "agents/core/text.h"

#define SNAPSHOT_UNKNOWN UINT64_MAX

struct snapshot_files {
	int stat;	/* /proc/stat */
	int interrupts; /* /proc/interrupts */
};

struct snapshot {
	uint64_t interrupts;
	uint64_t ticks;
	uint64_t page_faults;
	uint64_t page_faults_major;
	uint64_t context_switches;
	uint64_t preemptions;
};

void snapshot_open(struct snapshot_files *files);
void snapshot_close(struct snapshot_files *files);
void snapshot_take(const struct snapshot_files *files, struct snapshot *snapshot);

/* What passed between two snapshots, `key=value`; `unknown` where it is. */
void snapshot_write(const struct snapshot *begin, const struct snapshot *end, struct text *text);

#endif
