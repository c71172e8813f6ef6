/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the machine forget what it had near: twice the data cache is written,
 * a line at a time, twice the instruction cache is walked through and flushed,
 * and a byte of each of 512 pages is touched, so that address translations go
 * too.  Used by the `dirty` rows, before each sample, and by the loads.  Sizes
 * are the port's (struct agent_caches); what it does not know is taken as
 * 32 KiB and 4096 bytes, and the counters say so.
 */
#ifndef AGENTS_CORE_CHURN_H
#define AGENTS_CORE_CHURN_H

#include "agents/core/window.h"

#define CHURN_PAGES_MAX 512u

struct churn {
	uint8_t *data; /* pages, of which the first bytes are also the data to dirty */
	uint32_t data_bytes;
	uint32_t page_bytes;
	uint32_t pages; /* CHURN_PAGES_MAX unless the arena is small */
	const uint8_t *code;
	uint32_t code_bytes; /* 0: no memory to execute */
	uint8_t value;	     /* written next */
};

/* Memory from the window's arena, touched; at most half of what is left of it. */
int churn_init(struct churn *churn, struct window *window);

void churn_dirty(struct churn *churn);

/* Sizes as `dirty_...=` lines. */
void churn_write(const struct churn *churn, struct text *text);

#endif
