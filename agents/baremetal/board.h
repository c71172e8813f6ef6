/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The boards that this image runs on: one row of addresses each, chosen by the
 * device tree's root compatible.  Rates are read from the tree, not kept here.
 */
#ifndef AGENTS_BAREMETAL_BOARD_H
#define AGENTS_BAREMETAL_BOARD_H

#include <stddef.h>
#include <stdint.h>

#include "agents/baremetal/fdt.h"

#define BOARD_WATCHDOGS_MAX 2

struct board {
	const char *compatible;	 /* one of the root node's; the fact `platform` */
	uintptr_t uart_base;	 /* 16550 */
	unsigned int uart_shift; /* registers are 1 << shift bytes apart */
	uint32_t uart_source;	 /* of the PLIC */
	const char *uart_node;	 /* where the tree has clock-frequency */
	uint32_t uart_clock_hz;	 /* where the tree names a clock instead; 0 = it does not */
	uintptr_t plic_base;
	uintptr_t rtc_base; /* a Goldfish RTC; 0: there is none */
	uint32_t rtc_source;
	/* Addresses of sunxi watchdogs, 0 where there is none. */
	uintptr_t watchdogs[BOARD_WATCHDOGS_MAX];
};

/* The row for this tree, or NULL for an unknown board.  Static memory. */
const struct board *board_find(const struct fdt *fdt);

/*
 * Stops every watchdog of the board: U-Boot leaves one running, and nobody here
 * feeds it.  Returns a bit for each that was running.
 */
unsigned int board_stop_watchdogs(const struct board *board);

#endif
