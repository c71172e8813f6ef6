/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/core/agent_private.h"

#include "agents/core/benches.h"
#include "agents/core/pack.h"
#include "protocol/crc32c.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "series go over the wire as they lie in memory: little-endian"
#endif

void agent_give_up_window(struct agent *agent)
{
	agent->arena.used = agent->arena_mark;
	agent->state = MESSAGE_STATE_IDLE;
}

/* ---------------------------------------------------------------- windows */

int agent_prepare_window(struct agent *agent, const struct bench *bench, uint32_t n)
{
	const struct message_arm *arm = &agent->arm;
	struct window_plan plan = {
		.window = arm->window,
		.bench = arm->bench,
		.load = arm->load,
		.n = n,
		.period_us = arm->period_us,
		.settle_ms = arm->settle_ms,
		.duration_ms = arm->duration_ms,
		.seed = arm->seed,
		.arbitrary_phase = arm->flags & MESSAGE_ARM_ARBITRARY_PHASE,
	};

	agent->arena.used = agent->arena_mark;
	window_init(&agent->window, agent->port, &agent->arena, &plan, bench);
	return window_prepare(&agent->window);
}

/* The largest n below the one that did not fit; 0 when none does. */
static uint32_t find_largest_n(struct agent *agent, const struct bench *bench)
{
	uint32_t fits = 0;
	uint32_t too_large = agent->arm.n;

	while (too_large - fits > 1) {
		uint32_t middle = fits + (too_large - fits) / 2;

		if (agent_prepare_window(agent, bench, middle) == 0)
			fits = middle;
		else
			too_large = middle;
	}
	return fits;
}

static int refuse_arm(struct agent *agent, const struct bench *bench, int status)
{
	uint32_t detail = 0;

	if (status == WIRE_ERROR_NO_MEMORY)
		detail = find_largest_n(agent, bench);
	else if (status == WIRE_ERROR_BAD_RANGE)
		detail = agent->window.refused;
	else if (status == WIRE_ERROR_UNSUPPORTED)
		detail = bench->id;
	agent_give_up_window(agent);
	return agent_answer_error(agent, status, detail,
		agent->window.failure[0] ? agent->window.failure : wire_error_name(status));
}

static int arm_window(struct agent *agent, const struct message_arm *arm)
{
	const struct bench *bench = benches_find(agent->port, arm->bench);
	const char *unsupported;
	int status;

	if (arm->window == 0)
		return agent_answer_error(
			agent, WIRE_ERROR_BAD_RANGE, 0, "window 0 holds the facts");
	if (arm->flags & ~MESSAGE_ARM_ARBITRARY_PHASE)
		return agent_answer_error(agent, WIRE_ERROR_BAD_RANGE, arm->flags, "unknown flag");
	if (!bench)
		return agent_answer_error(
			agent, WIRE_ERROR_UNKNOWN_BENCH, arm->bench, "not in the catalogue");
	unsupported = benches_check(agent->port, bench);
	if (unsupported)
		return agent_answer_error(agent, WIRE_ERROR_UNSUPPORTED, arm->bench, unsupported);
	agent->arm = *arm;
	status = agent_prepare_window(agent, bench, arm->n);
	if (status)
		return refuse_arm(agent, bench, status);
	agent->state = MESSAGE_STATE_ARMED;
	return 0;
}

int agent_handle_arm(struct agent *agent, const struct message_arm *arm)
{
	struct message message = {.type = MESSAGE_ARMED};

	if (agent->state == MESSAGE_STATE_IDLE)
		agent->is_recalled = agent_recall_window(agent, arm);
	if (agent->state == MESSAGE_STATE_IDLE && agent->is_recalled) {
		agent->state = MESSAGE_STATE_ARMED;
	} else if (agent->state == MESSAGE_STATE_IDLE) {
		int status = arm_window(agent, arm);

		if (status || agent->state == MESSAGE_STATE_IDLE)
			return status;
	} else if (!message_arm_is_equal(arm, &agent->arm)) {
		return agent_answer_error(agent, WIRE_ERROR_BUSY, agent->arm.window,
			"release the other window first");
	}
	message.armed.window = arm->window;
	message.armed.estimate_ms = window_estimate_ms(&agent->window);
	return agent_answer(agent, &message);
}

static void pack_window(struct agent *agent)
{
	/* What the window has left of the arena; most of it, but for the longest ones. */
	struct arena *arena = &agent->arena;
	struct window *window = &agent->window;

	if (agent->host_minor < CODED_SERIES_MINOR)
		return;
	for (uint16_t i = 0; i < window->series_count; i++)
		pack_series(&window->series[i], &agent->model, arena->base + arena->used,
			arena->size - arena->used);
}

static void write_index(struct agent *agent)
{
	const struct window *window = &agent->window;
	size_t used = 0;

	for (uint16_t i = 0; i < window->series_count; i++) {
		const struct window_series *series = &window->series[i];
		struct series_entry entry = {
			.id = (uint16_t)(i + 1),
			.kind = series->kind,
			.encoding = series->encoding,
			.count = series->count,
			.clipped = series->clipped,
			.bytes = window_series_size(series),
		};
		int size;

		entry.crc = crc32c_update(0, series->data, entry.bytes);
		agent_copy_string(entry.name, sizeof(entry.name), series->name);
		size = series_encode_entry(
			&entry, agent->index + used, sizeof(agent->index) - used);
		if (size > 0)
			used += (size_t)size;
	}
	agent->done.index_size = (uint32_t)used;
	agent->done.index_crc = crc32c_update(0, agent->index, used);
}

int agent_handle_go(struct agent *agent, const struct message_window *go)
{
	const struct agent_port_ops *ops = agent->port->ops;
	struct message message = {.type = MESSAGE_DONE};
	int status;

	if (agent->state != MESSAGE_STATE_ARMED || go->window != agent->arm.window)
		return 0;
	agent->state = MESSAGE_STATE_RUNNING;
	if (ops->quiet)
		ops->quiet(agent->port, true);
	status = agent->is_recalled ? agent->recalled_status : window_run(&agent->window);
	agent->done = (struct message_done){
		.window = go->window,
		.status = (int16_t)status,
		.start = agent->window.start_counts,
		.end = agent->window.end_counts,
	};
	pack_window(agent);
	if (agent->is_recalled)
		agent_keep_recalled(agent);
	write_index(agent);
	agent->state = MESSAGE_STATE_DONE;
	message.done = agent->done;
	status = agent_answer(agent, &message);
	if (ops->quiet)
		ops->quiet(agent->port, false);
	return status;
}

int agent_handle_release(struct agent *agent, const struct message_window *release)
{
	struct message message = {.type = MESSAGE_RELEASED};

	if (agent->state != MESSAGE_STATE_IDLE && release->window != agent->arm.window)
		return agent_answer_error(
			agent, WIRE_ERROR_BUSY, agent->arm.window, "another window is held");
	agent_give_up_window(agent);
	message.released.window = release->window;
	return agent_answer(agent, &message);
}

/* ---------------------------------------------------------------- reading */

struct bytes {
	const uint8_t *data; /* NULL: the test pattern */
	uint32_t size;
};

/* 0, or the error and its detail. */
static int find_series(const struct agent *agent, const struct message_read *read,
	struct bytes *bytes, uint32_t *detail)
{
	const struct window *window = &agent->window;

	if (read->window == SERIES_WINDOW_FACTS && read->series == SERIES_ID_PATTERN) {
		*bytes = (struct bytes){NULL, SERIES_PATTERN_SIZE};
		return 0;
	}
	if (read->window == SERIES_WINDOW_FACTS) {
		const struct text *text =
			read->series == SERIES_ID_FACTS ? &agent->facts : &agent->catalogue;

		*detail = read->series;
		if (read->series != SERIES_ID_FACTS && read->series != SERIES_ID_CATALOG)
			return WIRE_ERROR_BAD_RANGE;
		*bytes = (struct bytes){(const uint8_t *)text->data, text->size};
		*detail = agent->state;
		return text->size ? 0 : WIRE_ERROR_BAD_STATE;
	}
	*detail = agent->state;
	if (agent->state != MESSAGE_STATE_DONE)
		return WIRE_ERROR_BAD_STATE;
	*detail = read->window;
	if (read->window != agent->arm.window)
		return WIRE_ERROR_BAD_RANGE;
	*detail = read->series;
	if (read->series > window->series_count)
		return WIRE_ERROR_BAD_RANGE;
	if (read->series == SERIES_ID_INDEX) {
		*bytes = (struct bytes){agent->index, agent->done.index_size};
	} else {
		const struct window_series *series = &window->series[read->series - 1];

		*bytes = (struct bytes){series->data, window_series_size(series)};
	}
	return 0;
}

static const uint8_t *make_pattern(struct agent *agent, const struct message_data *data)
{
	for (uint32_t i = 0; i < data->size; i++)
		agent->pattern[i] = series_pattern_byte(data->offset + i);
	return agent->pattern;
}

/* A train of DATA that ends early when the next request comes. */
int agent_handle_read(struct agent *agent, const struct message_read *read)
{
	struct message message = {.type = MESSAGE_DATA};
	struct message_data *data = &message.data;
	uint8_t seq = agent->frame.seq;
	struct bytes bytes = {NULL, 0};
	uint32_t detail = 0;
	uint32_t sent = 0;
	int status = find_series(agent, read, &bytes, &detail);

	if (status)
		return agent_answer_error(agent, status, detail, "no such data here");
	if (read->length == 0 || read->length > MESSAGE_READ_MAX)
		return agent_answer_error(agent, WIRE_ERROR_BAD_RANGE, read->length, "length");
	if (read->offset > bytes.size || read->length > bytes.size - read->offset)
		return agent_answer_error(
			agent, WIRE_ERROR_BAD_RANGE, read->offset, "beyond the series");
	data->window = read->window;
	data->series = read->series;
	while (sent < read->length) {
		uint32_t left = read->length - sent;

		data->offset = read->offset + sent;
		data->size = (uint16_t)(left < MESSAGE_DATA_MAX ? left : MESSAGE_DATA_MAX);
		data->bytes = bytes.data ? bytes.data + data->offset : make_pattern(agent, data);
		status = agent_send(agent, &message, seq);
		if (status)
			return status;
		sent += data->size;
		status = sent < read->length ? agent_next_frame(agent, 0) : 0;
		if (status) {
			agent->frame_is_pending = status > 0;
			return status > 0 ? 0 : status;
		}
	}
	return 0;
}
