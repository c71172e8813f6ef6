/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/core/price.h"

#include "agents/core/agent.h"

const char *price_check(const struct agent_port *port)
{
	return port->ops->memory_used ? NULL : "memory in use is not known";
}

int price_prepare(struct window *window)
{
	window->samples = window_add_counts(window, "ram_kib", 1);
	return 0;
}

uint32_t price_estimate_ms(const struct window *window)
{
	(void)window;
	return 10;
}

int price_run(struct window *window)
{
	uint64_t bytes = window->port->ops->memory_used(window->port);

	window_store_counts(window->samples, (int64_t)(bytes / 1024));
	/* The agent's own is in it. */
	text_put_u64(&window->counters, "arena_bytes", window->port->arena_size);
	return 0;
}
