/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/baremetal/trap.h"

#include "agents/baremetal/console.h"
#include "agents/baremetal/plic.h"
#include "agents/baremetal/rtc.h"
#include "agents/baremetal/timer.h"
#include "agents/baremetal/uart.h"

#define TRAP_INTERRUPT (1ul << 63)
#define TRAP_TIMER     (TRAP_INTERRUPT | 5)
#define TRAP_EXTERNAL  (TRAP_INTERRUPT | 9)
#define TRAP_ILLEGAL   2ul

void trap_entry_instret(void);

#define trap_read_csr(name)                                                                        \
	({                                                                                         \
		unsigned long value_;                                                              \
		__asm__ volatile("csrr %0, " #name : "=r"(value_));                                \
		value_;                                                                            \
	})

static uint32_t uart_source;
static volatile uint64_t external_count;
static volatile int is_trying;

void trap_set_uart_source(uint32_t source)
{
	uart_source = source;
}

uint64_t trap_count_interrupts(void)
{
	return timer_get_interrupts() + external_count;
}

int trap_try(uint64_t (*read)(void))
{
	int was_legal;

	is_trying = 1;
	read();
	was_legal = is_trying;
	is_trying = 0;
	return was_legal;
}

void trap_stamp_instret(void)
{
	__asm__ volatile("csrw stvec, %0" ::"r"(trap_entry_instret) : "memory");
}

/* The instruction that trap_try() tries has four bytes, and its result is not used. */
static void trap_skip_tried(void)
{
	is_trying = 0;
	__asm__ volatile("csrw sepc, %0" ::"r"(trap_read_csr(sepc) + 4) : "memory");
}

static void trap_handle_external(uint64_t entry_counts)
{
	uint32_t source;

	external_count = external_count + 1;
	while ((source = plic_claim()) != 0) {
		if (source == uart_source)
			uart_handle_interrupt();
		else if (source == rtc_get_source())
			rtc_handle_interrupt(entry_counts);
		plic_complete(source);
	}
}

static _Noreturn void trap_die(unsigned long cause)
{
	char line[CONSOLE_LINE_MAX];
	struct text text;

	text_init(&text, line, sizeof(line));
	text_append(&text, "sameboard bare metal: exception, scause ");
	text_append_hex(&text, cause);
	text_append(&text, " sepc ");
	text_append_hex(&text, trap_read_csr(sepc));
	text_append(&text, " stval ");
	text_append_hex(&text, trap_read_csr(stval));
	console_say(&text);
	console_halt("sameboard bare metal: halted");
}

void trap_handle(uint64_t entry_counts, uint64_t entry_instret)
{
	unsigned long cause = trap_read_csr(scause);

	if (cause == TRAP_TIMER)
		timer_handle_interrupt(entry_counts, entry_instret);
	else if (cause == TRAP_EXTERNAL)
		trap_handle_external(entry_counts);
	else if (cause == TRAP_ILLEGAL && is_trying)
		trap_skip_tried();
	else
		trap_die(cause);
}
