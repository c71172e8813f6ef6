/* SPDX-License-Identifier: Apache-2.0 */
/* What NuttX tells in /proc, each read whole into a small buffer of the caller's. */
#ifndef AGENTS_NUTTX_NUTTX_PROC_H
#define AGENTS_NUTTX_NUTTX_PROC_H

#include <stdbool.h>
#include <stdint.h>

#define NUTTX_PROC_UNKNOWN UINT64_MAX

/*
 * All interrupts since this was asked before: reading /proc/irqs sets its counts
 * to 0. UNKNOWN without it.
 */
uint64_t nuttx_proc_count_interrupts(void);

/* 1: the thread waits for a semaphore, mutex, signal or queue; 0: not; -1: not known. */
int nuttx_proc_is_blocked(long thread);

/* "State:      Waiting,Semaphore" in the text of a status file: as above. */
int nuttx_proc_parse_state(const char *status);

/* The sum of the counts in a text of whole lines of /proc/irqs; lines that are none add nothing. */
uint64_t nuttx_proc_sum_irqs(const char *lines);

#endif
