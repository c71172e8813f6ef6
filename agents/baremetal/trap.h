/* SPDX-License-Identifier: Apache-2.0 */
/*
 * S-mode traps: the timer's and the UART's interrupt go to their modules, any
 * exception is printed and ends everything.
 */
#ifndef AGENTS_BAREMETAL_TRAP_H
#define AGENTS_BAREMETAL_TRAP_H

#include <stdint.h>

/* Which PLIC source is the console's UART. */
void trap_set_uart_source(uint32_t source);

/* Interrupts taken so far. */
uint64_t trap_count_interrupts(void);

/* Calls read, which may be an illegal instruction: 1 when it was not. */
int trap_try(uint64_t (*read)(void));

/* From now on the vector also reads instret on entry. */
void trap_stamp_instret(void);

/*
 * Called by the trap vector of start.S with the counter as read on entry, and
 * instret read just after it, 0 until trap_stamp_instret().
 */
void trap_handle(uint64_t entry_counts, uint64_t entry_instret);

#endif
