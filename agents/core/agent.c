/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/core/agent.h"

#include "agents/core/benches.h"
#include "agents/core/counter.h"
#include "protocol/crc32c.h"
#include "protocol/frame.h"
#include "protocol/series.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "series go over the wire as they lie in memory: little-endian"
#endif

#define FACTS_SIZE	8192u
#define CATALOGUE_SIZE	4096u
#define INPUT_SIZE	256u
#define READ_TIMEOUT_MS 1000u

struct agent {
	struct agent_port *port;
	struct arena arena;
	size_t arena_mark; /* where a window's memory begins */
	bool quit;

	struct frame_reader reader;
	uint8_t chunk[FRAME_CHUNK_SIZE(FRAME_HOST_BODY_MAX)];
	uint8_t input[INPUT_SIZE];
	size_t input_at;
	size_t input_size;
	struct frame frame; /* the last one read */
	bool frame_is_pending;
	uint64_t received; /* counter when it had come in */
	uint8_t body[FRAME_BODY_MAX];
	uint8_t wire[FRAME_WIRE_SIZE(FRAME_BODY_MAX)];

	uint32_t session; /* 0: none yet */
	uint8_t state;	  /* enum message_state */
	uint8_t previous_type;
	uint8_t previous_seq;
	struct message_arm arm; /* as it came, while armed or done */
	struct window window;
	struct message_done done;
	uint8_t index[WINDOW_SERIES_MAX * SERIES_ENTRY_SIZE_MAX];
	struct text facts;
	struct text catalogue;
	char facts_data[FACTS_SIZE];
	char catalogue_data[CATALOGUE_SIZE];
};

/* ---------------------------------------------------------------- the line */

static int send(struct agent *agent, const struct message *message, uint8_t seq)
{
	int size = message_encode_frame(message, seq, agent->session, agent->body,
		sizeof(agent->body), agent->wire, sizeof(agent->wire));

	/* Every answer fits by construction; a port sees a bug as a dead console. */
	if (size < 0)
		return size;
	return agent->port->ops->console_write(agent->port, agent->wire, (size_t)size);
}

static int answer(struct agent *agent, const struct message *message)
{
	return send(agent, message, agent->frame.seq);
}

static void copy_string(char *target, size_t size, const char *source)
{
	size_t i;

	for (i = 0; i + 1 < size && source[i]; i++)
		target[i] = source[i];
	target[i] = 0;
}

static int answer_error(struct agent *agent, int code, uint32_t detail, const char *text)
{
	struct message message = {.type = MESSAGE_ERROR};

	message.error.code = (int16_t)code;
	message.error.type = agent->frame.type;
	message.error.detail = detail;
	copy_string(message.error.text, sizeof(message.error.text), text);
	return answer(agent, &message);
}

/* 1 when a valid frame came, 0 when none did in timeout_ms, negative: console gone. */
static int next_frame(struct agent *agent, uint32_t timeout_ms)
{
	struct frame_event event;

	for (;;) {
		int got;

		while (agent->input_at < agent->input_size) {
			agent->input_at +=
				frame_reader_feed(&agent->reader, agent->input + agent->input_at,
					agent->input_size - agent->input_at, &event);
			if (event.kind == FRAME_EVENT_FRAME) {
				agent->frame = event.frame;
				agent->received = counter_read();
				return 1;
			}
		}
		got = agent->port->ops->console_read(
			agent->port, agent->input, sizeof(agent->input), timeout_ms);
		if (got <= 0)
			return got;
		agent->input_at = 0;
		agent->input_size = (size_t)got;
	}
}

/* ---------------------------------------------------------------- session */

static int send_hello(struct agent *agent, uint8_t seq)
{
	struct agent_port *port = agent->port;
	struct message message = {.type = MESSAGE_HELLO};
	struct message_hello *hello = &message.hello;

	hello->proto_major = MESSAGE_PROTO_MAJOR;
	hello->proto_minor = MESSAGE_PROTO_MINOR;
	hello->max_body = FRAME_BODY_MAX;
	hello->state = agent->state;
	hello->uptime = port->ops->uptime_counts ? port->ops->uptime_counts(port) : counter_read();
	hello->counter_hz = (uint32_t)port->counter_rate_hz;
	copy_string(hello->system, sizeof(hello->system), port->system);
	copy_string(hello->version, sizeof(hello->version), SAMEBOARD_VERSION);
	return send(agent, &message, seq);
}

static void give_up_window(struct agent *agent)
{
	agent->arena.used = agent->arena_mark;
	agent->state = MESSAGE_STATE_IDLE;
}

static int handle_session(struct agent *agent, const struct message_session *session)
{
	if (session->proto_major != MESSAGE_PROTO_MAJOR)
		return answer_error(agent, WIRE_ERROR_VERSION,
			MESSAGE_PROTO_MAJOR << 8 | MESSAGE_PROTO_MINOR, "another major version");
	if (session->nonce == 0)
		return answer_error(agent, WIRE_ERROR_BAD_RANGE, 0, "the nonce must not be 0");
	if (session->nonce != agent->session) {
		agent->session = session->nonce;
		give_up_window(agent);
	}
	return send_hello(agent, agent->frame.seq);
}

static int handle_ping(struct agent *agent, const struct message_ping *ping)
{
	struct message message = {.type = MESSAGE_PONG};
	struct message_pong *pong = &message.pong;

	pong->cookie = ping->cookie;
	pong->received = agent->received;
	pong->state = agent->state;
	if (agent->state == MESSAGE_STATE_DONE)
		pong->done = agent->done;
	else if (agent->state == MESSAGE_STATE_ARMED)
		pong->done.window = agent->arm.window;
	pong->sent = counter_read();
	return answer(agent, &message);
}

/* ---------------------------------------------------------------- facts */

static int answer_listed(struct agent *agent, uint8_t type, const struct text *text)
{
	struct message message = {.type = type};
	struct message_listed *listed =
		type == MESSAGE_PROBED ? &message.probed : &message.cataloged;

	listed->bytes = text->size;
	listed->crc = crc32c_update(0, text->data, text->size);
	return answer(agent, &message);
}

static bool is_repeated(const struct agent *agent)
{
	return agent->previous_type == agent->frame.type && agent->previous_seq == agent->frame.seq;
}

static int handle_probe(struct agent *agent)
{
	struct text *facts = &agent->facts;

	if (!is_repeated(agent) || facts->size == 0) {
		text_init(facts, agent->facts_data, sizeof(agent->facts_data));
		text_put(facts, "system", agent->port->system);
		text_put(facts, "system_version", agent->port->version);
		text_put(facts, "mode", agent->port->mode);
		text_put(facts, "agent_version", SAMEBOARD_VERSION);
		text_put_u64(facts, "counter_rate_hz", agent->port->counter_rate_hz);
		text_put_u64(facts, "arena_bytes", agent->arena.size - agent->arena_mark);
		agent->port->ops->facts(agent->port, facts);
	}
	return answer_listed(agent, MESSAGE_PROBED, facts);
}

static int handle_catalog(struct agent *agent)
{
	if (!is_repeated(agent) || agent->catalogue.size == 0) {
		text_init(&agent->catalogue, agent->catalogue_data, sizeof(agent->catalogue_data));
		benches_write(agent->port, &agent->catalogue);
	}
	return answer_listed(agent, MESSAGE_CATALOGED, &agent->catalogue);
}

/* ---------------------------------------------------------------- windows */

static int prepare_window(struct agent *agent, const struct bench *bench, uint32_t n)
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

		if (prepare_window(agent, bench, middle) == 0)
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
	give_up_window(agent);
	return answer_error(agent, status, detail,
		agent->window.failure[0] ? agent->window.failure : wire_error_name(status));
}

static int arm_window(struct agent *agent, const struct message_arm *arm)
{
	const struct bench *bench = benches_find(agent->port, arm->bench);
	int status;

	if (arm->window == 0)
		return answer_error(agent, WIRE_ERROR_BAD_RANGE, 0, "window 0 holds the facts");
	if (arm->flags & ~MESSAGE_ARM_ARBITRARY_PHASE)
		return answer_error(agent, WIRE_ERROR_BAD_RANGE, arm->flags, "unknown flag");
	if (!bench)
		return answer_error(
			agent, WIRE_ERROR_UNKNOWN_BENCH, arm->bench, "not in the catalogue");
	if (bench->unsupported)
		return answer_error(agent, WIRE_ERROR_UNSUPPORTED, arm->bench, bench->unsupported);
	agent->arm = *arm;
	status = prepare_window(agent, bench, arm->n);
	if (status)
		return refuse_arm(agent, bench, status);
	agent->state = MESSAGE_STATE_ARMED;
	return 0;
}

static int handle_arm(struct agent *agent, const struct message_arm *arm)
{
	struct message message = {.type = MESSAGE_ARMED};

	if (agent->state == MESSAGE_STATE_IDLE) {
		int status = arm_window(agent, arm);

		if (status || agent->state == MESSAGE_STATE_IDLE)
			return status;
	} else if (!message_arm_is_equal(arm, &agent->arm)) {
		return answer_error(agent, WIRE_ERROR_BUSY, agent->arm.window,
			"release the other window first");
	}
	message.armed.window = arm->window;
	message.armed.estimate_ms = window_estimate_ms(&agent->window);
	return answer(agent, &message);
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
			.encoding = SERIES_ENCODING_RAW,
			.count = series->count,
			.clipped = series->clipped,
			.bytes = window_series_size(series),
		};
		int size;

		entry.crc = crc32c_update(0, series->data, entry.bytes);
		copy_string(entry.name, sizeof(entry.name), series->name);
		size = series_encode_entry(
			&entry, agent->index + used, sizeof(agent->index) - used);
		if (size > 0)
			used += (size_t)size;
	}
	agent->done.index_size = (uint32_t)used;
	agent->done.index_crc = crc32c_update(0, agent->index, used);
}

static int handle_go(struct agent *agent, const struct message_window *go)
{
	const struct agent_port_ops *ops = agent->port->ops;
	struct message message = {.type = MESSAGE_DONE};
	int status;

	if (agent->state != MESSAGE_STATE_ARMED || go->window != agent->arm.window)
		return 0;
	agent->state = MESSAGE_STATE_RUNNING;
	if (ops->quiet)
		ops->quiet(agent->port, true);
	status = window_run(&agent->window);
	agent->done = (struct message_done){
		.window = go->window,
		.status = (int16_t)status,
		.start = agent->window.start_counts,
		.end = agent->window.end_counts,
	};
	write_index(agent);
	agent->state = MESSAGE_STATE_DONE;
	message.done = agent->done;
	status = answer(agent, &message);
	if (ops->quiet)
		ops->quiet(agent->port, false);
	return status;
}

static int handle_release(struct agent *agent, const struct message_window *release)
{
	struct message message = {.type = MESSAGE_RELEASED};

	if (agent->state != MESSAGE_STATE_IDLE && release->window != agent->arm.window)
		return answer_error(
			agent, WIRE_ERROR_BUSY, agent->arm.window, "another window is held");
	give_up_window(agent);
	message.released.window = release->window;
	return answer(agent, &message);
}

/* ---------------------------------------------------------------- reading */

struct bytes {
	const uint8_t *data;
	uint32_t size;
};

/* 0, or the error and its detail. */
static int find_series(const struct agent *agent, const struct message_read *read,
	struct bytes *bytes, uint32_t *detail)
{
	const struct window *window = &agent->window;

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

/* A train of DATA that ends early when the next request comes. */
static int handle_read(struct agent *agent, const struct message_read *read)
{
	struct message message = {.type = MESSAGE_DATA};
	struct message_data *data = &message.data;
	uint8_t seq = agent->frame.seq;
	struct bytes bytes = {NULL, 0};
	uint32_t detail = 0;
	uint32_t sent = 0;
	int status = find_series(agent, read, &bytes, &detail);

	if (status)
		return answer_error(agent, status, detail, "no such data here");
	if (read->length == 0 || read->length > MESSAGE_READ_MAX)
		return answer_error(agent, WIRE_ERROR_BAD_RANGE, read->length, "length");
	if (read->offset > bytes.size || read->length > bytes.size - read->offset)
		return answer_error(agent, WIRE_ERROR_BAD_RANGE, read->offset, "beyond the series");
	data->window = read->window;
	data->series = read->series;
	while (sent < read->length) {
		uint32_t left = read->length - sent;

		data->offset = read->offset + sent;
		data->size = (uint16_t)(left < MESSAGE_DATA_MAX ? left : MESSAGE_DATA_MAX);
		data->bytes = bytes.data + data->offset;
		status = send(agent, &message, seq);
		if (status)
			return status;
		sent += data->size;
		status = sent < read->length ? next_frame(agent, 0) : 0;
		if (status) {
			agent->frame_is_pending = status > 0;
			return status > 0 ? 0 : status;
		}
	}
	return 0;
}

/* ---------------------------------------------------------------- requests */

static int handle_quit(struct agent *agent)
{
	struct message message = {.type = MESSAGE_BYE};

	agent->quit = true;
	return answer(agent, &message);
}

static int dispatch(struct agent *agent, const struct message *message)
{
	switch (message->type) {
	case MESSAGE_SESSION:
		return handle_session(agent, &message->session);
	case MESSAGE_PING:
		return handle_ping(agent, &message->ping);
	case MESSAGE_PROBE:
		return handle_probe(agent);
	case MESSAGE_CATALOG:
		return handle_catalog(agent);
	case MESSAGE_ARM:
		return handle_arm(agent, &message->arm);
	case MESSAGE_GO:
		return handle_go(agent, &message->go);
	case MESSAGE_READ:
		return handle_read(agent, &message->read);
	case MESSAGE_RELEASE:
		return handle_release(agent, &message->release);
	case MESSAGE_QUIT:
		return handle_quit(agent);
	default:
		/* A target's own type: an echo of what was sent, not a request. */
		return 0;
	}
}

static int handle_frame(struct agent *agent)
{
	const struct frame *frame = &agent->frame;
	bool is_answered = frame->type != MESSAGE_GO;
	struct message message;
	int status = message_decode(frame->type, frame->body, frame->size, &message);

	if (status == 0 && frame->type == MESSAGE_SESSION)
		return dispatch(agent, &message);
	if (frame->type != MESSAGE_SESSION && frame->session != agent->session)
		status = agent->session ? WIRE_ERROR_WRONG_SESSION : WIRE_ERROR_NO_SESSION;
	else if (agent->session == 0 && frame->type != MESSAGE_SESSION)
		status = WIRE_ERROR_NO_SESSION;
	if (status == 0)
		return dispatch(agent, &message);
	return is_answered ? answer_error(agent, status, 0, wire_error_name(status)) : 0;
}

static bool line_is_dead(const struct agent *agent, uint64_t since)
{
	uint64_t limit = agent->port->silence_limit_s * agent->port->counter_rate_hz;

	return limit && counter_read() - since >= limit;
}

static enum agent_end serve(struct agent *agent)
{
	uint64_t since = counter_read();

	if (send_hello(agent, 0))
		return AGENT_END_CONSOLE;
	while (!agent->quit) {
		int status = agent->frame_is_pending ? 1 : next_frame(agent, READ_TIMEOUT_MS);

		agent->frame_is_pending = false;
		if (status > 0) {
			uint8_t type = agent->frame.type;
			uint8_t seq = agent->frame.seq;

			status = handle_frame(agent);
			agent->previous_type = type;
			agent->previous_seq = seq;
			since = counter_read();
		} else if (status == 0 && line_is_dead(agent, since)) {
			return AGENT_END_SILENT;
		}
		if (status < 0)
			return AGENT_END_CONSOLE;
	}
	return AGENT_END_QUIT;
}

enum agent_end agent_run(struct agent_port *port)
{
	struct arena arena = {.base = port->arena, .size = port->arena_size};
	struct agent *agent;

	if (!port->arena || port->arena_size < AGENT_ARENA_MIN || port->counter_rate_hz == 0 ||
		port->counter_rate_hz > UINT32_MAX)
		return AGENT_END_ARENA;
	agent = arena_take(&arena, sizeof(*agent));
	if (!agent)
		return AGENT_END_ARENA;
	agent->port = port;
	agent->arena = arena;
	agent->arena_mark = arena.used;
	frame_reader_init(&agent->reader, agent->chunk, sizeof(agent->chunk));
	return serve(agent);
}
