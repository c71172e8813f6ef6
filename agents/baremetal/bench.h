/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of the catalogue that bare metal adds to the core's: irq.split, and
 * what it cannot do with the reason.
 */
#ifndef AGENTS_BAREMETAL_BENCH_H
#define AGENTS_BAREMETAL_BENCH_H

#include <stddef.h>

#include "agents/core/agent.h"

extern const struct bench bench_table[];
extern const size_t bench_table_size;

#endif
