/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes beside the agent: one that forks and reaps without end, for the
 * loads, and the victims of containment.  They are made before a window begins,
 * and what a fork leaves write-protected is touched again at once, so that no
 * page of the agent faults in the window.  All end with the agent.
 */
#ifndef AGENTS_LINUX_PROCESS_H
#define AGENTS_LINUX_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

#include "agents/core/posix/posix_port.h"

struct process_shared;

struct process_victim {
	pid_t pid; /* 0: none waits */
	int begin; /* a byte lets it write */
};

struct processes {
	struct process_shared *shared; /* with the children; NULL: no memory for it */
	pid_t forker;		       /* 0: none */
	struct process_victim victims[POSIX_VICTIMS];
};

void process_init(struct processes *processes);
void process_fini(struct processes *processes);

/* Of struct posix_os.  0 or -1. */
int process_start_forks(struct processes *processes);
uint64_t process_stop_forks(struct processes *processes);
int process_begin_victim(struct processes *processes, enum posix_victim victim);
int process_run_victim(
	struct processes *processes, enum posix_victim victim, struct posix_fate *fate);

#endif
