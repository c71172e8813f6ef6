/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/core/noise.h"

#include "agents/core/agent.h"
#include "agents/core/counter.h"

#define DURATION_DEFAULT_MS 60000u
#define SLICE_MS	    1000u
#define REST_MS		    20u
#define GAP_LEAST_COUNTS    4u
#define PPM		    1000000u

struct noise {
	struct window_series *gaps;
	struct window_series *at;
	struct window_series *lost;
	uint64_t threshold;
	uint64_t spun;	/* counts of all slices */
	uint64_t total; /* counts lost */
	uint64_t count; /* gaps */
};

int noise_prepare(struct window *window)
{
	struct noise *noise = arena_take(window->arena, sizeof(*noise));

	if (window->plan.duration_ms == 0)
		window->plan.duration_ms = DURATION_DEFAULT_MS;
	if (!noise)
		return WIRE_ERROR_NO_MEMORY;
	noise->gaps = window_add_counts(window, "gap", NOISE_GAPS_MAX);
	noise->at = window_add_stamps(window, "gap_at", NOISE_GAPS_MAX);
	noise->lost = window_add_counts(
		window, "lost", (window->plan.duration_ms + SLICE_MS - 1) / SLICE_MS);
	window->bench_data = noise;
	window->samples = noise->gaps;
	return 0;
}

uint32_t noise_estimate_ms(const struct window *window)
{
	return window->plan.duration_ms + window->plan.duration_ms / SLICE_MS * 2 * REST_MS + 100;
}

/* The median of the floor before, without sorting it: counts are small numbers. */
static uint64_t find_floor(const struct window_series *floor)
{
	const int32_t *values = floor->data;

	for (int32_t candidate = 0;; candidate++) {
		uint32_t below = 0;

		for (uint32_t i = 0; i < floor->count; i++)
			below += values[i] <= candidate;
		if (2 * below >= floor->count)
			return (uint64_t)candidate;
	}
}

static void spin(struct noise *noise, uint64_t length)
{
	uint64_t start = counter_read();
	uint64_t before = start;
	uint64_t now = start;
	uint64_t lost = 0;

	while (now - start < length) {
		now = counter_read();
		if (now - before > noise->threshold) {
			lost += now - before;
			noise->count++;
			window_store_counts(noise->gaps, (int64_t)(now - before));
			window_store_stamp(noise->at, before);
			now = counter_read();
		}
		before = now;
	}
	noise->spun += now - start;
	noise->total += lost;
	window_store_counts(noise->lost, (int64_t)lost);
}

int noise_run(struct window *window)
{
	struct noise *noise = window->bench_data;
	struct agent_port *port = window->port;
	uint32_t left_ms = window->plan.duration_ms;

	noise->threshold = 2 * find_floor(window->floor_before);
	if (noise->threshold < GAP_LEAST_COUNTS)
		noise->threshold = GAP_LEAST_COUNTS;
	while (left_ms > 0) {
		uint32_t slice_ms = left_ms < SLICE_MS ? left_ms : SLICE_MS;

		spin(noise, counter_scale(slice_ms, port->counter_rate_hz, 1000));
		left_ms -= slice_ms;
		if (left_ms > 0)
			port->ops->sleep_ms(port, REST_MS);
	}
	text_put_u64s(&window->counters,
		"gap_threshold_counts gaps gaps_kept spun_counts lost_counts lost_ppm",
		(const uint64_t[]){
			noise->threshold,
			noise->count,
			noise->gaps->count,
			noise->spun,
			noise->total,
			noise->spun ? noise->total * PPM / noise->spun : 0,
		});
	return 0;
}
