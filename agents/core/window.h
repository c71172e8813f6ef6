/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A measurement window on the target: its plan, and its series in the arena.
 * Everything is allocated and touched when the window is armed; while it runs,
 * storing a sample is a bounded store and nothing else.  Functions return 0 or
 * a negative enum wire_error.  One thread
 * uses a window at a time; a bench that samples in several threads lets each
 * own its series and joins them before it returns.
 */
#ifndef AGENTS_CORE_WINDOW_H
#define AGENTS_CORE_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agents/core/text.h"

#define WINDOW_SERIES_MAX    16
#define WINDOW_FLOOR_SAMPLES 1000u
#define WINDOW_COUNTERS_SIZE 4096u
#define WINDOW_NOTE_MAX	     96

struct agent_port;
struct bench;

/* Memory handed over by the port, given out from the front, freed all at once. */
struct arena {
	uint8_t *base;
	size_t size;
	size_t used;
};

/* `size` bytes aligned to 64, each page touched; NULL when they do not fit. */
void *arena_take(struct arena *arena, size_t size);

/* What ARM said; the same fields, decoded. */
struct window_plan {
	uint16_t window;
	uint8_t bench;
	uint8_t load; /* enum message_load */
	uint32_t n;
	uint32_t period_us;
	uint32_t settle_ms;
	uint32_t duration_ms;
	uint32_t seed;
	bool arbitrary_phase;
};

struct window_series {
	const char *name; /* static text */
	uint8_t kind;	  /* enum series_kind */
	uint32_t capacity;
	uint32_t count;	  /* values stored; for text, bytes */
	uint32_t clipped; /* values that did not fit an int32 */
	void *data;
	uint8_t encoding;      /* enum series_encoding; another than raw once it is packed */
	uint32_t encoded_size; /* bytes, of another than raw */
};

struct window {
	struct agent_port *port;
	const struct bench *bench;
	struct arena *arena;
	struct window_plan plan;
	uint16_t series_count;
	bool lacks_memory; /* a series could not be had */
	struct window_series *floor_before;
	struct window_series *floor_after;
	struct window_series *cold;    /* NULL when the bench asked for none */
	struct window_series *samples; /* the main series, set by the bench's prepare */
	struct window_series *counters_series;
	struct text counters;  /* `key=value` lines, any time but between releases */
	void *bench_data;      /* the bench's own, from the arena, set by prepare */
	uint64_t start_counts; /* when it began, after the settling */
	uint64_t end_counts;   /* when it ended */
	uint32_t refused;      /* the offending value when prepare says BAD_RANGE */
	struct window_series series[WINDOW_SERIES_MAX];
	char failure[WINDOW_NOTE_MAX]; /* why run failed, NUL-terminated */
};

/*
 * A new series of `capacity` values, touched beforehand.  NULL when the arena
 * or the table is full; the window is then refused for want of memory, whatever
 * prepare itself returns.  `name` must outlive the window.
 */
struct window_series *window_add_counts(struct window *window, const char *name, uint32_t capacity);
struct window_series *window_add_stamps(struct window *window, const char *name, uint32_t capacity);
struct window_series *window_add_text(struct window *window, const char *name, uint32_t capacity);

/* Warm-up operations before n samples: min(1000, n/5). */
uint32_t window_cold_count(const struct window *window);

/* "idle", "cpu"; NULL for a number that is no load. */
const char *window_load_name(unsigned int load);

/* Why the port has not this load, in static text; NULL: it has. */
const char *window_check_load(const struct agent_port *port, unsigned int load);

/* Sets window->failure; the code is handed back. */
int window_fail(struct window *window, int code, const char *why);

/* Start from nothing: the arena's mark is where the window's memory begins. */
void window_init(struct window *window, struct agent_port *port, struct arena *arena,
	const struct window_plan *plan, const struct bench *bench);

/* ARM: the common series and the bench's own. */
int window_prepare(struct window *window);

/* Settle to DONE, in ms, as planned; the host adds its own margin. */
uint32_t window_estimate_ms(const struct window *window);

/*
 * GO, with the console already quiet: settle -> floor -> the bench (its warm-up
 * as `cold`, then n samples) -> floor -> counters.  0, or the bench's error with its reason in
 * window->failure and as `failure=` in the counters.
 */
int window_run(struct window *window);

/* The bytes of a series as they go over the wire. */
uint32_t window_series_size(const struct window_series *series);

/* Store one value: int32 saturating, with `clipped` counted; never beyond capacity. */
inline void window_store_counts(struct window_series *series, int64_t value)
{
	if (series->count >= series->capacity)
		return;
	if (value > INT32_MAX) {
		value = INT32_MAX;
		series->clipped++;
	} else if (value < INT32_MIN) {
		value = INT32_MIN;
		series->clipped++;
	}
	((int32_t *)series->data)[series->count++] = (int32_t)value;
}

inline void window_store_stamp(struct window_series *series, uint64_t value)
{
	if (series->count < series->capacity)
		((uint64_t *)series->data)[series->count++] = value;
}

#endif
