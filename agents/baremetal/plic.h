/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The platform-level interrupt controller, S-mode context of one hart (RISC-V
 * PLIC specification 1.0).
 */
#ifndef AGENTS_BAREMETAL_PLIC_H
#define AGENTS_BAREMETAL_PLIC_H

#include <stdint.h>

/* Closes every source for this hart but leaves the threshold open. */
void plic_init(uintptr_t base, unsigned long hart);

/* Lets one source through. */
void plic_enable_source(uint32_t source);

/* The source that asks now, or 0; then the handler, then plic_complete(). */
uint32_t plic_claim(void);
void plic_complete(uint32_t source);

#endif
