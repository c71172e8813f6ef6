/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's port to RT-Smart: a user program over POSIX threads, with what
 * this system has: absolute sleeps only (relative ones return at once), priorities
 * of which 0 is the highest, no mlock, no fcntl, no states of threads.
 */
#ifndef AGENTS_RTSMART_RTSMART_PORT_H
#define AGENTS_RTSMART_RTSMART_PORT_H

#include <sys/utsname.h>

#include "agents/core/posix/posix_port.h"
#include "agents/core/posix/posix_tick.h"
#include "agents/rtsmart/rtsmart_console.h"

struct rtsmart_port {
	struct posix_port posix; /* first: the core hands it back */
	struct posix_tick tick;
	struct rtsmart_console *console;
	struct utsname name;
	bool rate_is_known; /* one that a board has, not only measured */
};

/*
 * Fills the whole port.  The console stays the caller's; `arena` has arena_size
 * bytes, `load_stack` POSIX_STACK_SIZE.  The calling thread gets its measuring
 * priority.
 */
void rtsmart_port_init(struct rtsmart_port *port, struct rtsmart_console *console, void *arena,
	size_t arena_size, uint8_t *load_stack);

/*
 * The rate of a known counter that is within 0.5 % of what was measured, else
 * what was measured itself; *is_known says which.
 */
uint64_t rtsmart_port_snap_rate(uint64_t measured_hz, bool *is_known);

#endif
