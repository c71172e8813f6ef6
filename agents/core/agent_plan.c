/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/core/agent_private.h"

#include "agents/core/benches.h"

/* One window of the plan, from before the first HELLO until the end. */
struct agent_planned {
	struct message_arm arm;
	struct window window;
	int status;
};

static void measure(struct agent *agent, const struct message_arm *arm)
{
	const struct bench *bench = benches_find(agent->port, arm->bench);
	struct agent_planned *planned;

	/* What cannot be armed is refused when the host asks for it. */
	if (agent->planned_count == AGENT_PLAN_MAX || !bench || arm->window == 0 ||
		benches_check(agent->port, bench))
		return;
	agent->arm = *arm;
	if (agent_prepare_window(agent, bench, arm->n) != 0) {
		agent->arena.used = agent->arena_mark;
		return;
	}
	text_put(&agent->window.counters, "plan", "card");
	planned = &agent->planned[agent->planned_count++];
	planned->arm = *arm;
	planned->status = window_run(&agent->window);
	planned->window = agent->window;
	/* Its series stay where they are. */
	agent->arena_mark = agent->arena.used;
}

/* The plan lies in memory as it would come over the line: frames, and text between them. */
static void measure_all(struct agent *agent)
{
	const struct agent_port *port = agent->port;
	struct frame_event event;
	size_t at = 0;

	while (at < port->plan_size) {
		struct message message;

		at += frame_reader_feed(
			&agent->reader, port->plan + at, port->plan_size - at, &event);
		if (event.kind == FRAME_EVENT_FRAME && event.frame.type == MESSAGE_ARM &&
			message_decode(event.frame.type, event.frame.body, event.frame.size,
				&message) == 0)
			measure(agent, &message.arm);
	}
	frame_reader_flush(&agent->reader, &event);
}

int agent_measure_plan(struct agent *agent)
{
	struct agent_port *port = agent->port;

	if (!port->plan)
		return 0;
	agent->planned = arena_take(&agent->arena, AGENT_PLAN_MAX * sizeof(*agent->planned));
	if (!agent->planned)
		return -1;
	agent->arena_mark = agent->arena.used;
	if (port->ops->quiet)
		port->ops->quiet(port, true);
	measure_all(agent);
	if (port->ops->quiet)
		port->ops->quiet(port, false);
	return 0;
}

bool agent_recall_window(struct agent *agent, const struct message_arm *arm)
{
	for (size_t i = 0; i < agent->planned_count; i++) {
		const struct agent_planned *planned = &agent->planned[i];

		if (!message_arm_is_equal(arm, &planned->arm))
			continue;
		agent->arm = *arm;
		agent->window = planned->window;
		agent->recalled_status = planned->status;
		agent->recalled = &agent->planned[i];
		return true;
	}
	return false;
}

void agent_keep_recalled(struct agent *agent)
{
	agent->recalled->window = agent->window;
}
