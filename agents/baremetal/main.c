/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent as the whole system: S-mode, no MMU, one hart.  start.S comes here
 * with interrupts closed.
 */
#include "agents/baremetal/board.h"
#include "agents/baremetal/console.h"
#include "agents/baremetal/cpu.h"
#include "agents/baremetal/instret.h"
#include "agents/baremetal/mem.h"
#include "agents/baremetal/plic.h"
#include "agents/baremetal/port.h"
#include "agents/baremetal/timer.h"
#include "agents/baremetal/trap.h"
#include "agents/baremetal/uart.h"

#define FDT_SIZE_MAX (1024u * 1024)
#define ARENA_SIZE   (16u * 1024 * 1024)

extern uint8_t _end[];

void main(unsigned long hart, const void *tree, uint64_t entry_counts);

/*
 * The loader hands the card's plan over as the initial RAM disk; its memory may
 * become the arena too.
 */
static void read_plan(struct machine *machine, const struct fdt *fdt)
{
	uint64_t start = fdt_get_number(fdt, "/chosen", "linux,initrd-start", 0);
	uint64_t end = fdt_get_number(fdt, "/chosen", "linux,initrd-end", 0);

	if (start >= end || end - start > sizeof(machine->plan))
		return;
	/* Frames begin so; a card that nobody has planned for holds text in its place. */
	if (*(const uint8_t *)(uintptr_t)start != 0)
		return;
	machine->plan_size = end - start;
	memcpy(machine->plan, (const void *)(uintptr_t)start, machine->plan_size);
}

/* All that is wanted from the tree: its memory may become the arena afterwards. */
static void read_machine(struct machine *machine, const void *tree)
{
	struct fdt fdt;

	if (fdt_init(&fdt, tree, FDT_SIZE_MAX))
		console_halt("sameboard bare metal: a1 is no device tree, start it with booti");
	machine->board = board_find(&fdt);
	if (!machine->board)
		console_halt("sameboard bare metal: unknown board, see agents/baremetal/board.c");
	machine->watchdogs_running = board_stop_watchdogs(machine->board);
	machine->counter_rate_hz = fdt_get_number(&fdt, "/cpus", "timebase-frequency", 0);
	machine->uart_clock_hz =
		fdt_get_number(&fdt, machine->board->uart_node, "clock-frequency", 0);
	if (!machine->uart_clock_hz)
		machine->uart_clock_hz = machine->board->uart_clock_hz;
	machine->caches.data = (uint32_t)fdt_get_number(&fdt, "/cpus/cpu", "d-cache-size", 0);
	machine->caches.code = (uint32_t)fdt_get_number(&fdt, "/cpus/cpu", "i-cache-size", 0);
	fdt_get_memory(&fdt, &machine->memory_base, &machine->memory_size);
	read_plan(machine, &fdt);
	if (!machine->counter_rate_hz)
		console_halt("sameboard bare metal: no timebase-frequency in the device tree");
}

static void start_machine(const struct machine *machine)
{
	uart_init(machine->board->uart_base, machine->board->uart_shift);
	console_use_uart();
	plic_init(machine->board->plic_base, machine->hart);
	plic_enable_source(machine->board->uart_source);
	trap_set_uart_source(machine->board->uart_source);
	timer_init(machine->counter_rate_hz);
	cpu_enable_source(CPU_SIE_EXTERNAL);
	cpu_open_interrupts();
	instret_init();
}

static void say_hello(const struct machine *machine)
{
	char line[CONSOLE_LINE_MAX];
	struct text text;

	text_init(&text, line, sizeof(line));
	text_append(&text, "sameboard bare metal " SAMEBOARD_VERSION " on ");
	text_append(&text, machine->board->compatible);
	console_say(&text);
}

/* What lies behind the image, as far as the first bank of memory goes. */
static size_t arena_size(const struct machine *machine)
{
	uint64_t from = (uint64_t)(uintptr_t)_end - machine->memory_base;

	if (!machine->memory_size)
		return ARENA_SIZE;
	if (from >= machine->memory_size)
		return 0;
	return machine->memory_size - from < ARENA_SIZE ? machine->memory_size - from : ARENA_SIZE;
}

void main(unsigned long hart, const void *tree, uint64_t entry_counts)
{
	static struct machine machine;
	static struct baremetal_port port;

	machine.hart = hart;
	machine.entry_counts = entry_counts;
	read_machine(&machine, tree);
	start_machine(&machine);
	say_hello(&machine);
	port_init(&port, &machine, _end, arena_size(&machine));
	if (agent_run(&port.agent) == AGENT_END_ARENA)
		console_halt("sameboard bare metal: too little memory behind the image");
	for (;;)
		cpu_wait();
}
