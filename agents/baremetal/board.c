/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/baremetal/board.h"

#include "agents/baremetal/cpu.h"

#define WATCHDOG_MODE	 0x18u
#define WATCHDOG_RUNNING 1u
#define WATCHDOG_KEY	 0x16AA0000u

static const struct board boards[] = {
	{
		.compatible = "riscv-virtio",
		.uart_base = 0x10000000,
		.uart_shift = 0,
		.uart_source = 10,
		.uart_node = "/soc/serial",
		.plic_base = 0x0c000000,
		.rtc_base = 0x00101000,
		.rtc_source = 11,
	},
	/* Untested on hardware: from the D1 user manual and device trees. */
	{
		.compatible = "allwinner,sun20i-d1",
		.uart_base = 0x02500000,
		.uart_shift = 2,
		.uart_source = 18,
		.uart_node = "/soc/serial@2500000",
		.uart_clock_hz = 24000000,
		.plic_base = 0x10000000,
		.watchdogs = {0x020500A0, 0x06011000},
	},
};

const struct board *board_find(const struct fdt *fdt)
{
	for (size_t i = 0; i < sizeof(boards) / sizeof(boards[0]); i++)
		if (fdt_has_string(fdt, "/", "compatible", boards[i].compatible))
			return &boards[i];
	return NULL;
}

unsigned int board_stop_watchdogs(const struct board *board)
{
	unsigned int running = 0;

	for (unsigned int i = 0; i < BOARD_WATCHDOGS_MAX; i++) {
		uintptr_t mode = board->watchdogs[i] + WATCHDOG_MODE;

		if (!board->watchdogs[i])
			continue;
		if (cpu_read_register(mode) & WATCHDOG_RUNNING)
			running |= 1u << i;
		cpu_write_register(mode, WATCHDOG_KEY);
	}
	return running;
}
