/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of system and build: most of them from the configuration that it was built from. */
#ifndef AGENTS_NUTTX_NUTTX_FACTS_H
#define AGENTS_NUTTX_NUTTX_FACTS_H

#include "agents/nuttx/nuttx_port.h"

/* The flag of every row. */
const char *nuttx_facts_mode(void);

void nuttx_facts_write(const struct nuttx_port *port, struct text *text);

#endif
