/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rate of the free-running counter, from where the system keeps it.
 */
#ifndef AGENTS_LINUX_RATE_H
#define AGENTS_LINUX_RATE_H

#include <stdint.h>

struct rate {
	uint64_t hz;	    /* 0: not known */
	const char *source; /* "device-tree", "cntfrq", "calibrated" */
};

/*
 * RISC-V: timebase-frequency of the device tree; arm64: cntfrq; x86: measured
 * against CLOCK_MONOTONIC_RAW for 200 ms, since no interface tells.
 */
struct rate rate_read(void);

#endif
