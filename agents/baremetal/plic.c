/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/baremetal/plic.h"

#include "agents/baremetal/cpu.h"

#define PLIC_ENABLE	    0x2000u
#define PLIC_ENABLE_STRIDE  0x80u
#define PLIC_CONTEXT	    0x200000u
#define PLIC_CONTEXT_STRIDE 0x1000u
#define PLIC_THRESHOLD	    0u
#define PLIC_CLAIM	    4u
/* Both boards have fewer than 256 sources. */
#define PLIC_ENABLE_WORDS 8u

static struct {
	uintptr_t base;
	uintptr_t enable;
	uintptr_t context;
} plic;

void plic_init(uintptr_t base, unsigned long hart)
{
	/* Each hart has an M-mode context and then an S-mode one. */
	unsigned long context = 2 * hart + 1;

	plic.base = base;
	plic.enable = base + PLIC_ENABLE + context * PLIC_ENABLE_STRIDE;
	plic.context = base + PLIC_CONTEXT + context * PLIC_CONTEXT_STRIDE;
	for (unsigned int word = 0; word < PLIC_ENABLE_WORDS; word++)
		cpu_write_register(plic.enable + 4 * word, 0);
	cpu_write_register(plic.context + PLIC_THRESHOLD, 0);
}

void plic_enable_source(uint32_t source)
{
	uintptr_t word = plic.enable + 4 * (source / 32);

	cpu_write_register(plic.base + 4 * source, 1);
	cpu_write_register(word, cpu_read_register(word) | 1u << source % 32);
}

uint32_t plic_claim(void)
{
	return cpu_read_register(plic.context + PLIC_CLAIM);
}

void plic_complete(uint32_t source)
{
	cpu_write_register(plic.context + PLIC_CLAIM, source);
}
