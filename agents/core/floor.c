/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/core/floor.h"

#include "agents/core/counter.h"
#include "protocol/wire_error.h"

void floor_sample(struct window_series *series)
{
	series->count = 0;
	series->clipped = 0;
	while (series->count < series->capacity) {
		uint64_t first = counter_read();
		uint64_t second = counter_read();

		window_store_counts(series, (int64_t)(second - first));
	}
}

int floor_prepare(struct window *window)
{
	if (window->plan.n == 0)
		return WIRE_ERROR_BAD_RANGE;
	window->samples = window_add_counts(window, "floor", window->plan.n);
	return 0;
}

uint32_t floor_estimate_ms(const struct window *window)
{
	return window->plan.n / 1000 + 1;
}

int floor_run(struct window *window)
{
	floor_sample(window->samples);
	return 0;
}
