/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/core/window.h"

#include "agents/core/agent.h"
#include "agents/core/counter.h"
#include "agents/core/floor.h"
#include "agents/core/pack.h"
#include "protocol/series.h"

#define ARENA_ALIGN 64u
#define COLD_MAX    1000u

/* For where a compiler that saves room calls them. */
extern inline void window_store_counts(struct window_series *series, int64_t value);
extern inline void window_store_stamp(struct window_series *series, uint64_t value);

void *arena_take(struct arena *arena, size_t size)
{
	size_t misaligned = ((uintptr_t)arena->base + arena->used) % ARENA_ALIGN;
	size_t skip = misaligned ? ARENA_ALIGN - misaligned : 0;
	uint8_t *memory;

	if (skip > arena->size - arena->used || size > arena->size - arena->used - skip)
		return NULL;
	memory = arena->base + arena->used + skip;
	arena->used += skip + size;
	/* Written, not only reserved: no page may fault inside the window. */
	for (size_t i = 0; i < size; i++)
		((volatile uint8_t *)memory)[i] = 0;
	return memory;
}

static struct window_series *add_series(
	struct window *window, const char *name, uint8_t kind, uint32_t capacity)
{
	size_t width = series_kind_size(kind);
	struct window_series *series = &window->series[window->series_count];
	void *data = NULL;

	if (window->series_count < WINDOW_SERIES_MAX && capacity <= SIZE_MAX / width)
		data = arena_take(window->arena, capacity * width);
	if (!data) {
		window->lacks_memory = true;
		return NULL;
	}
	*series = (struct window_series){
		.name = name,
		.kind = kind,
		.capacity = capacity,
		.data = data,
		.encoding = SERIES_ENCODING_RAW,
	};
	window->series_count++;
	return series;
}

struct window_series *window_add_counts(struct window *window, const char *name, uint32_t capacity)
{
	return add_series(window, name, SERIES_KIND_COUNTS, capacity);
}

struct window_series *window_add_stamps(struct window *window, const char *name, uint32_t capacity)
{
	return add_series(window, name, SERIES_KIND_STAMPS, capacity);
}

struct window_series *window_add_text(struct window *window, const char *name, uint32_t capacity)
{
	return add_series(window, name, SERIES_KIND_TEXT, capacity);
}

uint32_t window_series_size(const struct window_series *series)
{
	if (series->encoding != SERIES_ENCODING_RAW)
		return series->encoded_size;
	return series->count * (uint32_t)series_kind_size(series->kind);
}

uint32_t window_cold_count(const struct window *window)
{
	uint32_t fifth = window->plan.n / 5;

	return fifth < COLD_MAX ? fifth : COLD_MAX;
}

const char *window_load_name(unsigned int load)
{
	static const char *const names[MESSAGE_LOADS] = {
		[MESSAGE_LOAD_IDLE] = "idle",
		[MESSAGE_LOAD_CPU] = "cpu",
		[MESSAGE_LOAD_CACHE] = "cache",
		[MESSAGE_LOAD_IPC] = "ipc",
		[MESSAGE_LOAD_LIGHT] = "light",
		[MESSAGE_LOAD_MODERATE] = "moderate",
		[MESSAGE_LOAD_HEAVY] = "heavy",
		[MESSAGE_LOAD_MIXED] = "mixed",
		[MESSAGE_LOAD_IO] = "io",
		[MESSAGE_LOAD_RX] = "rx",
		[MESSAGE_LOAD_THERMAL] = "thermal",
	};

	return load < MESSAGE_LOADS ? names[load] : NULL;
}

const char *window_check_load(const struct agent_port *port, unsigned int load)
{
	if (load == MESSAGE_LOAD_IDLE)
		return NULL;
	/* It is a window's first rule that nothing comes over the line meanwhile. */
	if (load == MESSAGE_LOAD_RX)
		return "the line is silent in a window";
	if (!port->ops->load_start)
		return "no threads";
	return port->ops->load_check ? port->ops->load_check(port, (enum message_load)load) : NULL;
}

int window_fail(struct window *window, int code, const char *why)
{
	struct text text;

	text_init(&text, window->failure, sizeof(window->failure) - 1);
	text_append(&text, why);
	window->failure[text.size] = 0;
	return code;
}

void window_init(struct window *window, struct agent_port *port, struct arena *arena,
	const struct window_plan *plan, const struct bench *bench)
{
	*window = (struct window){.port = port, .arena = arena, .plan = *plan, .bench = bench};
	if (bench->load)
		window->plan.load = bench->load;
}

int window_prepare(struct window *window)
{
	const struct agent_port_ops *ops = window->port->ops;
	const char *unsupported;
	int status = 0;

	if (!window_load_name(window->plan.load)) {
		window->refused = window->plan.load;
		return WIRE_ERROR_BAD_RANGE;
	}
	unsupported = window_check_load(window->port, window->plan.load);
	if (unsupported)
		return window_fail(window, WIRE_ERROR_UNSUPPORTED, unsupported);
	window->floor_before = window_add_counts(window, "floor.before", WINDOW_FLOOR_SAMPLES);
	window->floor_after = window_add_counts(window, "floor.after", WINDOW_FLOOR_SAMPLES);
	window->counters_series = window_add_text(window, "counters", WINDOW_COUNTERS_SIZE);
	if (window->lacks_memory)
		return WIRE_ERROR_NO_MEMORY;
	text_init(&window->counters, window->counters_series->data, WINDOW_COUNTERS_SIZE);
	if (window->plan.load != MESSAGE_LOAD_IDLE && ops->load_prepare)
		status = ops->load_prepare(window->port, window);
	if (status == 0)
		status = window->bench->prepare(window);
	return window->lacks_memory ? WIRE_ERROR_NO_MEMORY : status;
}

uint32_t window_estimate_ms(const struct window *window)
{
	uint64_t estimate = (uint64_t)window->plan.settle_ms + window->bench->estimate_ms(window) +
			    pack_estimate_ms(window);

	return estimate > UINT32_MAX ? UINT32_MAX : (uint32_t)estimate;
}

static void put_plan(struct window *window)
{
	struct text *counters = &window->counters;

	text_put(counters, "bench", window->bench->name);
	text_put(counters, "mode", window->port->mode);
	text_put_u64s(counters, "counter_rate_hz n seed settle_ms",
		(const uint64_t[]){
			window->port->counter_rate_hz,
			window->plan.n,
			window->plan.seed,
			window->plan.settle_ms,
		});
	text_put(counters, "load", window_load_name(window->plan.load));
}

static void put_result(struct window *window, int status)
{
	struct text *counters = &window->counters;

	text_put_u64(counters, "window_counts", window->end_counts - window->start_counts);
	if (status) {
		text_put(counters, "failure",
			window->failure[0] ? window->failure : wire_error_name(status));
	}
	window->counters_series->count = counters->size;
}

/* The window itself: nothing here but the floors, the bench and the port's counters. */
static int measure(struct window *window)
{
	const struct agent_port_ops *ops = window->port->ops;
	bool loaded = window->plan.load != MESSAGE_LOAD_IDLE;
	uint64_t work = 0;
	uint64_t since;
	int status;

	ops->window_begin(window->port, window);
	window->start_counts = counter_read();
	floor_sample(window->floor_before);
	since = counter_read();
	if (loaded)
		work = ops->load_work(window->port);
	status = window->bench->run(window);
	if (loaded)
		work = ops->load_work(window->port) - work;
	since = counter_read() - since;
	floor_sample(window->floor_after);
	window->end_counts = counter_read();
	ops->window_end(window->port, window);
	if (loaded) {
		text_put_u64s(&window->counters, "load_rounds load_counts load_rounds_per_s",
			(const uint64_t[]){
				work,
				since,
				since ? counter_scale(work, window->port->counter_rate_hz, since)
				      : 0,
			});
	}
	return status;
}

static void stop_load(struct window *window)
{
	const struct agent_port_ops *ops = window->port->ops;

	ops->load_stop(window->port);
	if (ops->load_write)
		ops->load_write(window->port, &window->counters);
}

int window_run(struct window *window)
{
	const struct agent_port_ops *ops = window->port->ops;
	int status = 0;

	put_plan(window);
	if (window->plan.load != MESSAGE_LOAD_IDLE)
		status = ops->load_start(window->port, window);
	if (status == 0) {
		ops->sleep_ms(window->port, window->plan.settle_ms);
		status = measure(window);
		if (window->plan.load != MESSAGE_LOAD_IDLE)
			stop_load(window);
	}
	put_result(window, status);
	return status;
}
