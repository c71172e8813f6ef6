/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/core/reference.h"

#include "agents/core/agent.h"
#include "agents/core/counter.h"
#include "agents/core/grid.h"

#define DURATION_DEFAULT_MS 1000u
#define ADDS		    1048576u
#define LINE_SIZE	    64u
#define LINES		    4096u /* 256 KiB: eight times the first-level cache of a C906 */
#define HOPS		    16384u
#define WORDS		    32768u /* 256 KiB */
#define COPIES		    4u	   /* a piece, so that it lasts about a millisecond on a C906 */

struct line {
	struct line *next;
	uint8_t rest[LINE_SIZE - sizeof(struct line *)];
};

struct reference {
	struct window_series *integer;
	struct window_series *chase;
	struct window_series *bandwidth;
	struct line *lines;
	uint64_t *source;
	uint64_t *target;
	struct line *at;
};

/* One cycle through all lines in a fixed random order (Sattolo). */
static void link_lines(struct line *lines)
{
	for (uint32_t i = 0; i < LINES; i++)
		lines[i].next = &lines[i];
	for (uint32_t i = LINES - 1; i > 0; i--) {
		uint64_t j = grid_phase(i, i);
		struct line *swapped = lines[i].next;

		lines[i].next = lines[j].next;
		lines[j].next = swapped;
	}
}

int reference_prepare(struct window *window)
{
	struct reference *reference = arena_take(window->arena, sizeof(*reference));

	if (window->plan.duration_ms == 0)
		window->plan.duration_ms = DURATION_DEFAULT_MS;
	if (!reference)
		return WIRE_ERROR_NO_MEMORY;
	reference->integer = window_add_counts(window, "integer", REFERENCE_SAMPLES_MAX);
	reference->chase = window_add_counts(window, "chase", REFERENCE_SAMPLES_MAX);
	reference->bandwidth = window_add_counts(window, "bandwidth", REFERENCE_SAMPLES_MAX);
	reference->lines = arena_take(window->arena, LINES * sizeof(struct line));
	reference->source = arena_take(window->arena, WORDS * sizeof(uint64_t));
	reference->target = arena_take(window->arena, WORDS * sizeof(uint64_t));
	if (!reference->lines || !reference->source || !reference->target)
		return WIRE_ERROR_NO_MEMORY;
	link_lines(reference->lines);
	reference->at = reference->lines;
	window->bench_data = reference;
	return 0;
}

uint32_t reference_estimate_ms(const struct window *window)
{
	/* A piece of work may begin just before the end; it is milliseconds on slow machines. */
	uint64_t estimate = 3 * ((uint64_t)window->plan.duration_ms + 100);

	return estimate > UINT32_MAX ? UINT32_MAX : (uint32_t)estimate;
}

/* A value the compiler must have in a register here and may not foresee. */
#define OPAQUE(value) __asm__ volatile("" : "+r"(value))

static void add_up(struct reference *reference)
{
	uint64_t sum = 0;

	(void)reference;
	for (uint32_t i = 0; i < ADDS / 16; i++) {
		sum += i;
		OPAQUE(sum);
		sum += 1;
		OPAQUE(sum);
		sum += 2;
		OPAQUE(sum);
		sum += 3;
		OPAQUE(sum);
		sum += 4;
		OPAQUE(sum);
		sum += 5;
		OPAQUE(sum);
		sum += 6;
		OPAQUE(sum);
		sum += 7;
		OPAQUE(sum);
		sum += 8;
		OPAQUE(sum);
		sum += 9;
		OPAQUE(sum);
		sum += 10;
		OPAQUE(sum);
		sum += 11;
		OPAQUE(sum);
		sum += 12;
		OPAQUE(sum);
		sum += 13;
		OPAQUE(sum);
		sum += 14;
		OPAQUE(sum);
		sum += 15;
		OPAQUE(sum);
	}
}

static void chase_lines(struct reference *reference)
{
	struct line *at = reference->at;

	for (uint32_t i = 0; i < HOPS; i++) {
		at = at->next;
		OPAQUE(at);
	}
	reference->at = at;
}

static void copy_once(const uint64_t *source, uint64_t *target)
{
	/* Opaque word by word, or the compiler puts in a library's memcpy. */
	for (uint32_t i = 0; i < WORDS; i += 4) {
		uint64_t a = source[i];
		uint64_t b = source[i + 1];
		uint64_t c = source[i + 2];
		uint64_t d = source[i + 3];

		OPAQUE(a);
		OPAQUE(b);
		OPAQUE(c);
		OPAQUE(d);
		target[i] = a;
		target[i + 1] = b;
		target[i + 2] = c;
		target[i + 3] = d;
	}
}

static void copy_words(struct reference *reference)
{
	for (uint32_t i = 0; i < COPIES; i++)
		copy_once(reference->source, reference->target);
}

static void run_part(struct window *window, struct window_series *series,
	void (*work)(struct reference *reference))
{
	struct reference *reference = window->bench_data;
	uint64_t length =
		counter_scale(window->plan.duration_ms, window->port->counter_rate_hz, 1000);
	uint64_t start = counter_read();
	uint64_t now = start;

	do {
		uint64_t before = counter_read();

		work(reference);
		now = counter_read();
		window_store_counts(series, (int64_t)(now - before));
	} while (now - start < length && series->count < series->capacity);
}

int reference_run(struct window *window)
{
	struct reference *reference = window->bench_data;

	run_part(window, reference->integer, add_up);
	run_part(window, reference->chase, chase_lines);
	run_part(window, reference->bandwidth, copy_words);
	text_put_u64s(&window->counters, "integer_adds chase_hops bandwidth_bytes",
		(const uint64_t[]){ADDS, HOPS, 2 * COPIES * WORDS * sizeof(uint64_t)});
	return 0;
}
