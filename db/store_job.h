/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to db/: whose process a job is.
 */
#ifndef SAMEBOARD_DB_STORE_JOB_H
#define SAMEBOARD_DB_STORE_JOB_H

#include <stdbool.h>
#include <stdint.h>

#define STORE_JOB_MACHINE_SIZE 128

/* Boot id and PID namespace of this machine; "" where the kernel does not say. */
void store_job_get_machine(char machine[STORE_JOB_MACHINE_SIZE]);

/* Start of a process in clock ticks since boot (proc(5), stat field 22), 0: no such process. */
int64_t store_job_get_start(int64_t pid);

/* Whether a process that was recorded so still lives; `here` is this machine. */
bool store_job_is_alive(const char *here, const char *machine, int64_t pid, int64_t pid_start);

#endif
