/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_MONOTONIC_H
#define BOARDCTL_MONOTONIC_H

#include <stdint.h>

/* CLOCK_MONOTONIC, the one clock of deadlines and of the console record. */
uint64_t monotonic_get_us(void);
uint64_t monotonic_get_ms(void);

/* Sleep until the given time (us of monotonic_get_us); signals don't shorten it. */
void monotonic_sleep_until_us(uint64_t when_us);

#endif
