/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows this build has: the core's own, then the port's; a port's row
 * replaces the core's of the same id.
 */
#ifndef AGENTS_CORE_BENCHES_H
#define AGENTS_CORE_BENCHES_H

#include "agents/core/agent.h"

/* The row of that id, supported or not; NULL when there is none. */
const struct bench *benches_find(const struct agent_port *port, uint8_t id);

/* Why a row does not run on this port, in static text; NULL: it does. */
const char *benches_check(const struct agent_port *port, const struct bench *bench);

/* All rows, a line each in order of id: `id name supported` or `id name unsupported reason`. */
void benches_write(const struct agent_port *port, struct text *text);

#endif
