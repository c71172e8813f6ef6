/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/core/cost.h"

#include "agents/core/agent.h"
#include "agents/core/counter.h"

#define UNBATCHED_COUNTS 20u
#define BATCH_COUNTS	 200u
#define PROBE_OPERATIONS 256u
#define PROBE_TRIES	 8u

struct cost_row {
	const struct cost_operation *operation;
	struct window_series *cold;
	struct window_series *plain;
	struct window_series *hot;
	struct window_series *dirty;
	uint32_t batch;
};

struct cost {
	struct cost_row rows[COST_ROWS_MAX];
	uint32_t count;
	void *context;
	bool has_churn;
	struct churn churn;
};

static void add_row(
	struct window *window, struct cost_row *row, const struct cost_operation *operation)
{
	uint32_t n = window->plan.n;

	row->operation = operation;
	row->cold = window_add_counts(window, operation->cold, window_cold_count(window));
	row->plain = window_add_counts(window, operation->plain, n);
	if (!operation->hot)
		return;
	row->hot = window_add_counts(window, operation->hot, n);
	row->dirty = window_add_counts(window, operation->dirty, n);
}

int cost_prepare(struct window *window, const struct cost_operation *operations, uint32_t count,
	void *context)
{
	struct cost *cost = arena_take(window->arena, sizeof(*cost));

	if (window->plan.n == 0)
		return WIRE_ERROR_BAD_RANGE;
	if (!cost)
		return WIRE_ERROR_NO_MEMORY;
	cost->count = count;
	cost->context = context;
	window->bench_data = cost;
	for (uint32_t i = 0; i < count; i++) {
		add_row(window, &cost->rows[i], &operations[i]);
		cost->has_churn |= operations[i].hot != NULL;
	}
	window->samples = cost->rows[0].plain;
	return cost->has_churn ? churn_init(&cost->churn, window) : 0;
}

uint32_t cost_estimate_ms(const struct window *window)
{
	const struct cost *cost = window->bench_data;
	uint64_t n = (uint64_t)window->plan.n + window_cold_count(window);

	/* 20 us a batch and 1 ms to make it dirty, far above any machine meant here. */
	return (uint32_t)(cost->count * (n / 12 + (cost->has_churn ? n : 0)) + 50);
}

static uint64_t measure(const struct cost_row *row, void *context, uint32_t operations)
{
	uint64_t before = counter_read();

	row->operation->run(context, operations);
	return counter_read() - before;
}

static uint32_t choose_batch(const struct cost_row *row, void *context)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < PROBE_TRIES; i++) {
		uint64_t counts = measure(row, context, PROBE_OPERATIONS);

		if (counts < least)
			least = counts;
	}
	if (least >= UNBATCHED_COUNTS * PROBE_OPERATIONS)
		return 1;
	if (least == 0)
		least = 1;
	return (uint32_t)((BATCH_COUNTS * PROBE_OPERATIONS + least - 1) / least);
}

static void fill(struct cost *cost, const struct cost_row *row, struct window_series *series)
{
	while (series->count < series->capacity)
		window_store_counts(series, (int64_t)measure(row, cost->context, row->batch));
}

static void fill_hot_and_dirty(struct cost *cost, const struct cost_row *row)
{
	while (row->hot->count < row->hot->capacity) {
		row->operation->run(cost->context, row->batch);
		window_store_counts(row->hot, (int64_t)measure(row, cost->context, row->batch));
	}
	while (row->dirty->count < row->dirty->capacity) {
		churn_dirty(&cost->churn);
		window_store_counts(row->dirty, (int64_t)measure(row, cost->context, 1));
	}
}

static void put_batch(struct text *text, const char *series, uint32_t batch)
{
	text_append(text, "batch.");
	text_append(text, series);
	text_append(text, "=");
	text_append_u64(text, batch);
	text_end_line(text);
}

static int run_row(struct window *window, struct cost *cost, struct cost_row *row)
{
	const struct cost_operation *operation = row->operation;
	int status = operation->begin ? operation->begin(window, cost->context) : 0;

	if (status)
		return status;
	row->batch = choose_batch(row, cost->context);
	fill(cost, row, row->cold);
	fill(cost, row, row->plain);
	if (row->hot)
		fill_hot_and_dirty(cost, row);
	if (operation->end)
		operation->end(cost->context);
	put_batch(&window->counters, operation->plain, row->batch);
	if (row->hot)
		put_batch(&window->counters, operation->hot, row->batch);
	return 0;
}

int cost_run(struct window *window)
{
	struct cost *cost = window->bench_data;
	int status = 0;

	for (uint32_t i = 0; status == 0 && i < cost->count; i++)
		status = run_row(window, cost, &cost->rows[i]);
	if (cost->has_churn)
		churn_write(&cost->churn, &window->counters);
	return status;
}

/* ---------------------------------------------------------------- syscall */

static int begin_syscall(struct window *window, void *context)
{
	const struct agent_port *port = context;

	text_put(&window->counters, "kernel_entry",
		port->kernel_entry_name ? port->kernel_entry_name : "unknown");
	return 0;
}

static void enter_kernel(void *context, uint32_t operations)
{
	struct agent_port *port = context;
	void (*enter)(struct agent_port * port) = port->ops->kernel_entry;

	for (uint32_t i = 0; i < operations; i++)
		enter(port);
}

static const struct cost_operation syscall_operation = {
	.cold = "cold",
	.plain = "syscall",
	.hot = "syscall.hot",
	.dirty = "syscall.dirty",
	.begin = begin_syscall,
	.run = enter_kernel,
};

int cost_prepare_syscall(struct window *window)
{
	return cost_prepare(window, &syscall_operation, 1, window->port);
}

const char *cost_check_syscall(const struct agent_port *port)
{
	return port->ops->kernel_entry ? NULL : "no kernel entry";
}
