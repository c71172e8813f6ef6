/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/wire_campaign.h"

#include "harness/decode.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/peer.h"
#include "tests/vectors.h"
#include "tests/wire_agent.h"

#define NONCE	     0xdeadbeefu
#define HOUR_MS	     3600000u
#define CUT_NS	     5000000000u
#define SIMULATED_NS 30000000000u /* about what a session takes: cuts and resets lie in it */
#define TRIES	     20		  /* of any step, as a patient host would */
#define RAISED	     WIRE_AGENT_BASE

struct session {
	struct wire_line line;
	struct wire_agent agent;
	struct peer peer;
	struct wire_campaign_result *result;
	uint32_t n, seed;
	uint64_t begin_ns;
};

const char *wire_campaign_end_name(enum wire_campaign_end end)
{
	static const char *const names[WIRE_CAMPAIGN_ENDS] = {
		"whole", "failed", "silently different", "hung"};

	return names[end];
}

/* ---------------------------------------------------------------- the line */

/* One in so many: from few to many, and often none. */
static uint32_t pick_rate(uint64_t *random, uint32_t worst)
{
	uint32_t step = vectors_random(random) % 5;

	return step == 0 ? 0 : worst << 2 * (step - 1);
}

static void make_faults(struct session *session, uint64_t *random)
{
	struct wire_campaign_result *result = session->result;
	struct wire_line *line = &session->line;
	static const uint32_t timers_ms[] = {0, 0, 1, 2, 8, 16};

	line->noise_in = pick_rate(random, 1000);
	line->drop_in = pick_rate(random, 300);
	line->duplicate_in = pick_rate(random, 20);
	line->reorder_in = pick_rate(random, 20);
	line->timer_ns = timers_ms[vectors_random(random) % 6] * 1000000ull;
	if (vectors_random(random) % 4 == 0) {
		line->cut_from_ns =
			line->now_ns + vectors_random(random) % 2000 * (SIMULATED_NS / 2000);
		line->cut_until_ns = line->cut_from_ns + CUT_NS;
	}
	if (vectors_random(random) % 8 == 0)
		session->agent.reset_ns =
			line->now_ns + vectors_random(random) % 2000 * (SIMULATED_NS / 2000);
	result->is_raised = vectors_random(random) % 3 == 0;
	if (vectors_random(random) % 4 == 0)
		line->max_baud = RAISED / 2 + 1;
	result->is_killed = vectors_random(random) % 8 == 0;
	session->n = 100 + vectors_random(random) % 6000;
	session->seed = vectors_random(random);
}

static void describe(const struct session *session, int error)
{
	const struct wire_line *line = &session->line;
	struct wire_campaign_result *result = session->result;

	snprintf(result->what, sizeof(result->what),
		"n=%u noise=1/%u drop=1/%u duplicate=1/%u reorder=1/%u timer=%ums cut=%s reset=%s "
		"raised=%s killed=%s: %d %s",
		session->n, line->noise_in, line->drop_in, line->duplicate_in, line->reorder_in,
		(unsigned)(line->timer_ns / 1000000), line->cut_until_ns ? "5s" : "no",
		result->resets || session->agent.reset_ns ? "yes" : "no",
		result->is_raised ? "yes" : "no", result->is_killed ? "yes" : "no", error,
		peer_error(&session->peer));
}

/* ---------------------------------------------------------------- a session */

static bool is_worth_a_try(int error)
{
	return error == -ETIMEDOUT || error == -EBADMSG || error == -EAGAIN || error == -EBUSY;
}

static bool has_time(const struct session *session)
{
	return session->line.now_ns - session->begin_ns < HOUR_MS * 1000000ull;
}

static int open_session(struct session *session)
{
	int error = peer_wait_hello(&session->peer, 10000, NULL);

	for (int try = 0; try < TRIES && has_time(session); try++) {
		error = peer_open_session(&session->peer, NONCE, NULL);
		if (!is_worth_a_try(error))
			break;
	}
	return error;
}

static int arm(struct session *session, uint32_t *estimate_ms)
{
	struct message_arm body = {
		.window = 7, .bench = WIRE_AGENT_BENCH, .n = session->n, .seed = session->seed};
	int error = 0;

	for (int try = 0; try < TRIES && has_time(session); try++) {
		error = peer_arm(&session->peer, &body, estimate_ms);
		if (!is_worth_a_try(error))
			break;
	}
	return error;
}

static int measure(struct session *session, struct peer_window *window)
{
	uint32_t estimate_ms;
	int error = arm(session, &estimate_ms);

	for (int try = 0; error == 0 && try < TRIES && has_time(session); try++) {
		error = peer_go(&session->peer, 7, 20000);
		if (error == 0)
			error = peer_wait_done(&session->peer, estimate_ms + 500, window);
		if (!is_worth_a_try(error))
			break;
		error = try + 1 < TRIES ? 0 : error;
	}
	/* A line that was cut is asked again: the window may be done. */
	return error;
}

static int pull(struct session *session, const struct series_entry *entry, uint8_t *bytes)
{
	struct peer_transfer transfer;
	int error = peer_transfer_init(&transfer, 7, entry->id, entry->bytes, entry->crc, bytes);

	for (int try = 0; error == 0 && try < TRIES && has_time(session); try++) {
		error = peer_pull(&session->peer, &transfer);
		if (!is_worth_a_try(error))
			break;
		session->result->resumed++;
		error = peer_lower(&session->peer);
		if (!is_worth_a_try(error) && error != 0)
			break;
		error = try + 1 < TRIES ? 0 : -ETIMEDOUT;
	}
	return error;
}

static bool is_same(
	const struct session *session, const struct series_entry *entry, const uint8_t *bytes)
{
	char error[160];
	void *values;
	bool is_equal;

	if (strcmp(entry->name, "latency") != 0)
		return true;
	if (entry->count != session->n ||
		decode_series(entry, bytes, &values, error, sizeof(error)) != 0)
		return false;
	is_equal = true;
	for (uint32_t i = 0; i < session->n; i++)
		is_equal &= ((const int32_t *)values)[i] == wire_agent_value(session->seed, i);
	free(values);
	return is_equal;
}

static int pull_all(struct session *session, const struct series_entry *entries, size_t count)
{
	bool is_seen = false;
	int error = 0;

	for (size_t i = 0; error == 0 && i < count; i++) {
		uint8_t *bytes = calloc(1, (size_t)entries[i].bytes + 1);

		error = pull(session, &entries[i], bytes);
		if (error == 0 && !is_same(session, &entries[i], bytes))
			error = 1;
		is_seen |= strcmp(entries[i].name, "latency") == 0;
		free(bytes);
	}
	return error == 0 && !is_seen ? 1 : error;
}

static int pull_index(struct session *session, const struct peer_window *window,
	struct series_entry **entries, size_t *count)
{
	int error = 0;

	for (int try = 0; try < TRIES && has_time(session); try++) {
		error = peer_pull_index(&session->peer, &window->done, entries, count);
		if (!is_worth_a_try(error))
			break;
	}
	return error;
}

/* The host dies after DONE; its successor knows the nonce and asks what is left. */
static int take_over(struct session *session, struct peer_window *window)
{
	struct peer_link link = wire_line_get_link(&session->line);
	struct message_pong pong = {.state = MESSAGE_STATE_IDLE};
	int error = 0;

	if (!session->result->is_killed)
		return 0;
	peer_init(&session->peer, &link, NULL, NULL);
	for (int try = 0; try < TRIES && has_time(session); try++) {
		error = peer_resume_session(&session->peer, NONCE, &pong);
		if (!is_worth_a_try(error))
			break;
	}
	if (error == 0 && pong.state != MESSAGE_STATE_DONE)
		return -EPROTO;
	window->done = pong.done;
	return error;
}

static int raise_line(struct session *session)
{
	int error = session->result->is_raised ? peer_raise(&session->peer, RAISED) : 0;

	/* Not to be had over this line: then as it was. */
	return error == -ECOMM || is_worth_a_try(error) ? 0 : error;
}

static int lower_line(struct session *session)
{
	int error = 0;

	for (int try = 0; try < TRIES && has_time(session); try++) {
		error = peer_lower(&session->peer);
		if (!is_worth_a_try(error))
			break;
	}
	return error;
}

static int run_session(struct session *session)
{
	struct series_entry *entries = NULL;
	struct peer_window window;
	size_t count = 0;
	int error = open_session(session);

	if (error == 0)
		error = measure(session, &window);
	if (error == 0)
		error = take_over(session, &window);
	if (error == 0)
		error = pull_index(session, &window, &entries, &count);
	if (error == 0)
		error = raise_line(session);
	if (error == 0)
		error = pull_all(session, entries, count);
	if (error == 0)
		error = lower_line(session);
	for (int try = 0; error == 0 && try < TRIES && has_time(session); try++) {
		error = peer_release(&session->peer, 7);
		if (!is_worth_a_try(error))
			break;
		error = try + 1 < TRIES ? 0 : error;
	}
	free(entries);
	return error;
}

static enum wire_campaign_end judge(const struct session *session, int error)
{
	if (!has_time(session))
		return WIRE_CAMPAIGN_HUNG;
	if (error == 0)
		return WIRE_CAMPAIGN_WHOLE;
	return error > 0 ? WIRE_CAMPAIGN_SILENT : WIRE_CAMPAIGN_FAILED;
}

void wire_campaign_run(uint64_t seed, struct wire_campaign_result *result)
{
	struct session *session = calloc(1, sizeof(*session));
	struct peer_link link;
	uint64_t random = seed;
	int error;

	memset(result, 0, sizeof(*result));
	session->result = result;
	wire_line_init(&session->line, 115200, seed);
	wire_agent_init(&session->agent, &session->line);
	make_faults(session, &random);
	link = wire_line_get_link(&session->line);
	peer_init(&session->peer, &link, NULL, NULL);
	session->begin_ns = session->line.now_ns;
	error = run_session(session);
	result->end = judge(session, error);
	result->error = error;
	result->n = session->n;
	result->retries = session->peer.statistics.retries;
	result->resets = session->agent.resets;
	result->simulated_ms = (session->line.now_ns - session->begin_ns) / 1000000;
	describe(session, error);
	wire_agent_fini(&session->agent);
	wire_line_fini(&session->line);
	free(session);
}
