/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/core/agent_private.h"

#include "agents/core/benches.h"
#include "agents/core/counter.h"
#include "protocol/crc32c.h"

#define READ_TIMEOUT_MS 1000u

/* ---------------------------------------------------------------- the line */

int agent_send(struct agent *agent, const struct message *message, uint8_t seq)
{
	int size = message_encode_frame(message, seq, agent->session, agent->body,
		sizeof(agent->body), agent->wire, sizeof(agent->wire));

	/* Every answer fits by construction; a port sees a bug as a dead console. */
	if (size < 0)
		return size;
	return agent->port->ops->console_write(agent->port, agent->wire, (size_t)size);
}

int agent_answer(struct agent *agent, const struct message *message)
{
	return agent_send(agent, message, agent->frame.seq);
}

void agent_copy_string(char *target, size_t size, const char *source)
{
	size_t i;

	for (i = 0; i + 1 < size && source[i]; i++)
		target[i] = source[i];
	target[i] = 0;
}

int agent_answer_error(struct agent *agent, int code, uint32_t detail, const char *text)
{
	struct message message = {.type = MESSAGE_ERROR};

	message.error.code = (int16_t)code;
	message.error.type = agent->frame.type;
	message.error.detail = detail;
	agent_copy_string(message.error.text, sizeof(message.error.text), text);
	return agent_answer(agent, &message);
}

int agent_next_frame(struct agent *agent, uint32_t timeout_ms)
{
	struct frame_event event;

	/* One look at the console: garbage must not keep a dead line alive. */
	for (bool has_looked = false;; has_looked = true) {
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
		if (has_looked)
			return 0;
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
	agent_copy_string(hello->system, sizeof(hello->system), port->system);
	agent_copy_string(hello->version, sizeof(hello->version), SAMEBOARD_VERSION);
	return agent_send(agent, &message, seq);
}

static int handle_session(struct agent *agent, const struct message_session *session)
{
	if (session->proto_major != MESSAGE_PROTO_MAJOR)
		return agent_answer_error(agent, WIRE_ERROR_VERSION,
			MESSAGE_PROTO_MAJOR << 8 | MESSAGE_PROTO_MINOR, "another major version");
	if (session->nonce == 0)
		return agent_answer_error(
			agent, WIRE_ERROR_BAD_RANGE, 0, "the nonce must not be 0");
	agent->host_minor = session->proto_minor;
	if (session->nonce != agent->session) {
		agent->session = session->nonce;
		agent_give_up_window(agent);
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
	return agent_answer(agent, &message);
}

/* ---------------------------------------------------------------- facts */

static int answer_listed(struct agent *agent, uint8_t type, const struct text *text)
{
	struct message message = {.type = type};
	struct message_listed *listed =
		type == MESSAGE_PROBED ? &message.probed : &message.cataloged;

	listed->bytes = text->size;
	listed->crc = crc32c_update(0, text->data, text->size);
	return agent_answer(agent, &message);
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

/* ---------------------------------------------------------------- requests */

static int handle_quit(struct agent *agent)
{
	struct message message = {.type = MESSAGE_BYE};

	agent->quit = true;
	return agent_answer(agent, &message);
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
		return agent_handle_arm(agent, &message->arm);
	case MESSAGE_GO:
		return agent_handle_go(agent, &message->go);
	case MESSAGE_READ:
		return agent_handle_read(agent, &message->read);
	case MESSAGE_RELEASE:
		return agent_handle_release(agent, &message->release);
	case MESSAGE_QUIT:
		return handle_quit(agent);
	case MESSAGE_BAUD:
		return agent_handle_baud(agent, &message->baud);
	default:
		/* A target's own type: an echo of what was sent, not a request. */
		return 0;
	}
}

/* A raised line is for pulls: everything else waits for the console's rate. */
static bool needs_console_rate(uint8_t type)
{
	return type != MESSAGE_BAUD && type != MESSAGE_PING && type != MESSAGE_READ;
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
	if (status == 0 && agent_is_raised(agent) && needs_console_rate(frame->type))
		status = WIRE_ERROR_BAD_STATE;
	if (status == 0)
		return dispatch(agent, &message);
	if (!is_answered)
		return 0;
	return agent_answer_error(agent, status, status == WIRE_ERROR_BAD_STATE ? agent->state : 0,
		wire_error_name(status));
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
		int status = agent->frame_is_pending
				     ? 1
				     : agent_next_frame(agent,
					       agent_baud_limit_wait(agent, READ_TIMEOUT_MS));

		agent->frame_is_pending = false;
		if (status > 0) {
			uint8_t type = agent->frame.type;
			uint8_t seq = agent->frame.seq;
			bool is_ours = agent->frame.session == agent->session;

			status = handle_frame(agent);
			agent->previous_type = type;
			agent->previous_seq = seq;
			since = counter_read();
			if (is_ours && status == 0)
				agent_baud_note_answer(agent);
		} else if (status == 0 && line_is_dead(agent, since)) {
			return AGENT_END_SILENT;
		}
		if (status == 0)
			status = agent_baud_check_time(agent);
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
	agent->baud = port->console_baud;
	agent->arena = arena;
	agent->arena_mark = arena.used;
	frame_reader_init(&agent->reader, agent->chunk, sizeof(agent->chunk));
	if (agent_measure_plan(agent))
		return AGENT_END_ARENA;
	return serve(agent);
}
