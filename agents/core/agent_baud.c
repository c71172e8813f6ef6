/* SPDX-License-Identifier: Apache-2.0 */
/* The line's rate: raised for pulls, and given back when nobody is heard. */
#include "agents/core/agent_private.h"

#define RATE_TOLERANCE 50u /* a rate may be off by one part in so many */
#define NS_PER_MS      1000000u

/* By the system's own clock: it is no measurement, and tests have theirs. */
static uint64_t now_ns(const struct agent *agent)
{
	return agent->port->ops->clock_ns(agent->port);
}

static int set_rate(struct agent *agent, uint32_t baud)
{
	int status = agent->port->ops->console_set_baud(agent->port, baud);

	/* What was half read belongs to the other rate. */
	frame_reader_init(&agent->reader, agent->chunk, sizeof(agent->chunk));
	agent->input_at = agent->input_size = 0;
	if (status == 0)
		agent->baud = baud;
	return status;
}

bool agent_is_raised(const struct agent *agent)
{
	return agent->baud != agent->port->console_baud;
}

uint32_t agent_baud_limit_wait(const struct agent *agent, uint32_t timeout_ms)
{
	uint64_t now, left_ms;

	if (!agent_is_raised(agent))
		return timeout_ms;
	now = now_ns(agent);
	if (now >= agent->baud_deadline_ns)
		return 0;
	left_ms = (agent->baud_deadline_ns - now) / NS_PER_MS + 1;
	return left_ms < timeout_ms ? (uint32_t)left_ms : timeout_ms;
}

void agent_baud_note_answer(struct agent *agent)
{
	if (agent_is_raised(agent) && !agent->baud_is_new)
		agent->baud_deadline_ns = now_ns(agent) + (uint64_t)agent->baud_idle_ms * NS_PER_MS;
	agent->baud_is_new = false;
}

int agent_baud_check_time(struct agent *agent)
{
	if (!agent_is_raised(agent) || now_ns(agent) < agent->baud_deadline_ns)
		return 0;
	return set_rate(agent, agent->port->console_baud);
}

/* The exact rate that is nearest to the one wanted. */
static uint32_t nearest_rate(const struct agent_port *port, uint32_t wanted)
{
	uint32_t divisor;

	if (wanted == port->console_baud || port->baud_base == 0)
		return wanted;
	if (wanted >= port->baud_base)
		return port->baud_base;
	divisor = (port->baud_base + wanted / 2) / wanted;
	return port->baud_base / divisor;
}

static bool is_near(uint32_t rate, uint32_t wanted)
{
	uint32_t difference = rate > wanted ? rate - wanted : wanted - rate;

	return difference <= wanted / RATE_TOLERANCE;
}

static int answer_bauded(struct agent *agent, uint32_t baud)
{
	struct message message = {.type = MESSAGE_BAUDED};

	message.bauded.baud = baud;
	message.bauded.console = agent->port->console_baud;
	message.bauded.base = agent->port->baud_base;
	return agent_answer(agent, &message);
}

/* The first of its times that is outside of the limits, or NULL. */
static const uint16_t *find_bad_time(const struct message_baud *baud)
{
	if (baud->confirm_ms < MESSAGE_BAUD_CONFIRM_MIN ||
		baud->confirm_ms > MESSAGE_BAUD_CONFIRM_MAX)
		return &baud->confirm_ms;
	if (baud->idle_ms < MESSAGE_BAUD_IDLE_MIN || baud->idle_ms > MESSAGE_BAUD_IDLE_MAX)
		return &baud->idle_ms;
	return NULL;
}

int agent_handle_baud(struct agent *agent, const struct message_baud *wanted)
{
	struct agent_port *port = agent->port;
	const uint16_t *bad_time = find_bad_time(wanted);
	uint32_t rate;
	int status;

	if (!port->ops->console_set_baud || port->console_baud == 0)
		return agent_answer_error(
			agent, WIRE_ERROR_UNSUPPORTED, 0, "the rate is fixed here");
	if (wanted->baud == 0)
		return answer_bauded(agent, agent->baud);
	if (agent->state == MESSAGE_STATE_ARMED)
		return agent_answer_error(
			agent, WIRE_ERROR_BAD_STATE, agent->state, "a window is armed");
	rate = nearest_rate(port, wanted->baud);
	if (!is_near(rate, wanted->baud))
		return agent_answer_error(
			agent, WIRE_ERROR_BAD_RANGE, rate, "the nearest rate is another");
	if (bad_time)
		return agent_answer_error(
			agent, WIRE_ERROR_BAD_RANGE, *bad_time, "confirm_ms or idle_ms");
	status = answer_bauded(agent, rate);
	if (status)
		return status;
	/* A port that fails here stays where it was: the host then hears nothing and asks again. */
	if (rate != agent->baud)
		set_rate(agent, rate);
	agent->baud_idle_ms = wanted->idle_ms;
	agent->baud_deadline_ns = now_ns(agent) + (uint64_t)wanted->confirm_ms * NS_PER_MS;
	agent->baud_is_new = true;
	return 0;
}
