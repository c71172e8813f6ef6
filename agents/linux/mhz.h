/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processor's frequency, measured: a chain of dependent instructions of
 * known length against CLOCK_MONOTONIC_RAW.  What a governor says is not
 * what the silicon does.
 */
#ifndef AGENTS_LINUX_MHZ_H
#define AGENTS_LINUX_MHZ_H

#include <stdint.h>

/* The fastest of several tries, MHz; about 20 ms.  Means nothing on an emulated processor. */
uint64_t mhz_measure(void);

#endif
