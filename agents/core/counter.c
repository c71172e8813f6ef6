/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/core/counter.h"

/* For where a compiler that saves room calls it. */
extern inline uint64_t counter_scale(uint64_t value, uint64_t to, uint64_t from);
