/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The count of retired instructions as a second clock: where it counts exactly,
 * the cost of a path is a number that repeats.  An emulator counts exactly only
 * in its own time (QEMU -icount), so it is tried before it is trusted.
 */
#ifndef AGENTS_BAREMETAL_INSTRET_H
#define AGENTS_BAREMETAL_INSTRET_H

#include <stdint.h>

/* Tries it, and lets the trap vector stamp it if it is exact.  Traps work already. */
void instret_init(void);

/* What it grows by for each instruction; 0 when it does not count exactly. */
uint32_t instret_get_rate(void);

/* "exact", or why not. */
const char *instret_get_state(void);

#endif
