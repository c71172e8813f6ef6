/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The per-window counters of Linux: interrupts, timer interrupts, page faults
 * and context switches of this process; who steered the clock; the processor's
 * frequency and temperature.  Taking a snapshot allocates nothing.
 */
#ifndef AGENTS_LINUX_SNAPSHOT_H
#define AGENTS_LINUX_SNAPSHOT_H

#include <stdint.h>

#include "agents/core/text.h"
#include "agents/linux/discipline.h"

#define SNAPSHOT_UNKNOWN UINT64_MAX

/* No frequency but one; no sensor. */
#define SNAPSHOT_NONE INT64_MIN

struct snapshot_files {
	int stat;	 /* /proc/stat */
	int interrupts;	 /* /proc/interrupts */
	char sensor[96]; /* a temperature in 1/1000 degree; "" if none */
};

struct snapshot {
	uint64_t interrupts;
	uint64_t ticks;
	uint64_t page_faults;
	uint64_t page_faults_major;
	uint64_t context_switches;
	uint64_t preemptions;
	uint64_t steal; /* ticks that a hypervisor took, all processors */
	struct discipline clock;
	int64_t frequency_khz;	   /* of the processor it runs on */
	int64_t frequency_changes; /* since the system started */
	int64_t temperature_millideg;
};

void snapshot_open(struct snapshot_files *files);
void snapshot_close(struct snapshot_files *files);
void snapshot_take(const struct snapshot_files *files, struct snapshot *snapshot);

/* What passed between two snapshots, `key=value`; `unknown` where it is. */
void snapshot_write(const struct snapshot *begin, const struct snapshot *end, struct text *text);

#endif
