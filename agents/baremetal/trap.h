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

/* Called by the trap vector of start.S with the counter as read on entry. */
void trap_handle(uint64_t entry_counts);

#endif
