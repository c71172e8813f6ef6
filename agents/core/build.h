/* SPDX-License-Identifier: Apache-2.0 */
/* How this agent was built, as its own compiler knows it.  No errors, no state. */
#ifndef AGENTS_CORE_BUILD_H
#define AGENTS_CORE_BUILD_H

#include "agents/core/text.h"

/* The facts `agent_compiler`, `agent_optimised` and, where it is so, `agent_sanitized`. */
void build_put_facts(struct text *text);

#endif
