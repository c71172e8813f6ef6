/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's port to no operating system at all: the core's operations over
 * uart, timer and trap, and the machine's facts.
 */
#ifndef AGENTS_BAREMETAL_PORT_H
#define AGENTS_BAREMETAL_PORT_H

#include <stddef.h>
#include <stdint.h>

#include "agents/baremetal/board.h"
#include "agents/baremetal/uart.h"
#include "agents/core/agent.h"

#define MACHINE_PLAN_MAX 8192u

/* What main() found out about the machine; borrowed for the life of the port. */
struct machine {
	const struct board *board;
	unsigned long hart;
	uint64_t entry_counts;		/* the counter at the first instruction */
	uint64_t counter_rate_hz;	/* the tree's timebase-frequency */
	uint64_t uart_clock_hz;		/* 0 when the tree does not say */
	struct agent_caches caches;	/* of the tree; 0 where it does not say */
	uint64_t memory_base;		/* of the first bank */
	uint64_t memory_size;		/* bytes, 0 when the tree does not say */
	size_t plan_size;		/* bytes of the card's plan, 0: there is none */
	unsigned int watchdogs_running; /* as board_stop_watchdogs() found them */
	uint8_t plan[MACHINE_PLAN_MAX];
};

/* The machine as it stood when a window began. */
struct port_snapshot {
	uint64_t interrupts;
	uint64_t ticks;
	uint64_t lines;
	struct uart_counts uart;
};

struct baremetal_port {
	struct agent_port agent; /* first: the core hands it back */
	const struct machine *machine;
	struct port_snapshot begin;
};

/* Fills the caller's port; timer and UART run already.  The arena is the caller's. */
void port_init(
	struct baremetal_port *port, const struct machine *machine, void *arena, size_t arena_size);

#endif
