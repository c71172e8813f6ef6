/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/baremetal/instret.h"

#include "agents/baremetal/cpu.h"
#include "agents/baremetal/trap.h"

#define TRIES	     16u
#define INSTRUCTIONS 33u /* from one reading to the other: 32 and a reading */

static uint32_t rate;
static const char *state = "not tried";

/* Always the same instructions, with interrupts kept out. */
static uint64_t count_once(void)
{
	uint64_t before;
	uint64_t after;

	__asm__ volatile("csrr %0, instret\n\t"
			 ".rept 32\n\t"
			 "nop\n\t"
			 ".endr\n\t"
			 "csrr %1, instret"
			 : "=&r"(before), "=&r"(after));
	return after - before;
}

void instret_init(void)
{
	uint64_t count;

	if (!trap_try(cpu_read_instret)) {
		state = "closed by the firmware";
		return;
	}
	cpu_close_interrupts();
	count = count_once();
	for (unsigned int i = 1; i < TRIES; i++)
		if (count_once() != count)
			count = 0;
	cpu_open_interrupts();
	if (count == 0 || count % INSTRUCTIONS || count / INSTRUCTIONS > UINT32_MAX) {
		state = "does not count instructions";
		return;
	}
	rate = (uint32_t)(count / INSTRUCTIONS);
	state = "exact";
	trap_stamp_instret();
}

uint32_t instret_get_rate(void)
{
	return rate;
}

const char *instret_get_state(void)
{
	return state;
}
