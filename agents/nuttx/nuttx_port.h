/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's port to NuttX: the core's operations over the console, POSIX
 * threads and /proc.  Memory of tasks that have ended stays as it was in a flat
 * build, so nothing here is kept in static variables.
 */
#ifndef AGENTS_NUTTX_NUTTX_PORT_H
#define AGENTS_NUTTX_NUTTX_PORT_H

#include <sys/utsname.h>

#include "agents/core/posix/posix_port.h"
#include "agents/core/posix/posix_tick.h"

struct nuttx_port {
	struct posix_port posix; /* first: the core hands it back */
	struct posix_tick tick;
	struct utsname name;
	bool has_interrupts;   /* they are counted from the window's beginning */
	bool states_are_known; /* of threads, by /proc */
};

/*
 * Fills the whole port, whatever was there.  `arena` has arena_size bytes,
 * `load_stack` POSIX_STACK_SIZE.  The calling thread gets its measuring
 * priority (is_permitted says whether).
 */
void nuttx_port_init(struct nuttx_port *port, void *arena, size_t arena_size, uint8_t *load_stack);

#endif
