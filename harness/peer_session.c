/* SPDX-License-Identifier: Apache-2.0 */
/* The requests that are one question and one answer. */
#include <errno.h>
#include <string.h>

#include "harness/peer_private.h"

#define PONG_WIRE FRAME_WIRE_SIZE(53)

static int check_hello(struct peer *peer, const struct message_hello *hello)
{
	if (hello->proto_major != MESSAGE_PROTO_MAJOR)
		return peer_fail(peer, -EPROTONOSUPPORT,
			"the agent (%s %s) speaks protocol %u.%u, this host %u.%u", hello->system,
			hello->version, hello->proto_major, hello->proto_minor, MESSAGE_PROTO_MAJOR,
			MESSAGE_PROTO_MINOR);
	if (hello->counter_hz == 0)
		return peer_fail(peer, -EPROTO, "the agent says that its counter stands still");
	return 0;
}

static int take_hello(struct peer *peer, struct message_hello *hello)
{
	int err = check_hello(peer, &peer->hello);

	peer->has_hello = false;
	if (hello)
		*hello = peer->hello;
	return err ? err : 1;
}

int peer_wait_hello(struct peer *peer, int timeout_ms, struct message_hello *hello)
{
	uint64_t quiet_us = (uint64_t)peer->config.quiet_ms * 1000;
	uint64_t deadline_us = peer_now_us(peer) + (uint64_t)timeout_ms * 1000;
	uint32_t zeros = peer->reader.counters.zeros;

	if (hello)
		memset(hello, 0, sizeof(*hello));
	for (;;) {
		bool is_told = peer->reader.counters.zeros != zeros;
		uint64_t until_us = deadline_us;
		struct peer_arrival arrival;
		int err;

		if (peer->has_hello)
			return take_hello(peer, hello);
		if (is_told && peer_now_us(peer) >= peer->last_byte_us + quiet_us)
			return 0;
		if (peer_now_us(peer) >= deadline_us)
			break;
		/* In steps, since a 00 alone does not end the wait for a frame. */
		if (until_us > peer_now_us(peer) + quiet_us / 4)
			until_us = peer_now_us(peer) + quiet_us / 4;
		err = peer_next_frame(peer, until_us, &arrival);
		if (err < 0)
			return err;
		if (err == 1)
			peer_note_frame(peer, &arrival);
	}
	return peer_fail(peer, -ETIMEDOUT, "no agent announced itself within %d ms", timeout_ms);
}

int peer_open_session(struct peer *peer, uint32_t nonce, struct message_hello *hello)
{
	struct peer_request ask = {
		.request = {.type = MESSAGE_SESSION,
			.session = {MESSAGE_PROTO_MAJOR, MESSAGE_PROTO_MINOR, nonce}},
		.answer_type = MESSAGE_HELLO,
		.answer_body = sizeof(struct message_hello),
	};
	int err;

	if (hello)
		memset(hello, 0, sizeof(*hello));
	if (nonce == 0)
		return peer_fail(peer, -EINVAL, "a session needs a nonce that is not 0");
	peer->is_open = false;
	peer->is_reset = false;
	peer->is_going = false;
	peer->is_hushed = false;
	peer->nonce = nonce;
	err = peer_ask(peer, &ask);
	if (err)
		return err;
	peer->has_hello = false;
	peer->hello = ask.answer.hello;
	if (hello)
		*hello = peer->hello;
	err = check_hello(peer, &peer->hello);
	peer->is_open = err == 0;
	return err;
}

/* One PING, sent once. */
static int ping_once(
	struct peer *peer, uint64_t cookie, uint32_t doubling, struct peer_exchange *exchange)
{
	uint64_t timeout_us = peer_timeout_us(peer, 8, sizeof(struct message_pong));
	struct peer_request ask = {
		.request = {.type = MESSAGE_PING, .ping = {.cookie = cookie}},
		.answer_type = MESSAGE_PONG,
		.answer_body = sizeof(struct message_pong),
		.work_ms = (uint32_t)((timeout_us << doubling) / 1000),
		.tries = 1,
	};
	int err = peer_ask(peer, &ask);

	if (err)
		return err;
	if (ask.answer.pong.cookie != ask.request.ping.cookie)
		return peer_fail(peer, -EPROTO, "the target's PONG has another cookie");
	exchange->host_sent_us = ask.sent_us;
	exchange->pong = ask.answer.pong;
	/* The other end's rate may be a little higher than ours. */
	exchange->out_us = (uint32_t)(peer_line_us(peer, FRAME_WIRE_SIZE(8)) * 97 / 100);
	exchange->back_us = (uint32_t)(peer_line_us(peer, PONG_WIRE) * 97 / 100);
	exchange->host_received_us = ask.received_us;
	/* An adapter may hold the end back long after it has delivered the beginning. */
	if (ask.began_us + exchange->back_us < ask.received_us) {
		exchange->back_us = (uint32_t)(peer_line_us(peer, 1) * 97 / 100);
		exchange->host_received_us = ask.began_us;
	}
	return 0;
}

static int ping_until(struct peer *peer, const uint64_t *cookie, struct peer_exchange *exchange)
{
	int err = peer_check_open(peer), last = err;

	memset(exchange, 0, sizeof(*exchange));
	for (uint32_t try = 0; !last && try < peer->config.tries; try++) {
		/* A damaged answer once is reason enough to call the line garbled. */
		int now = ping_once(
			peer, cookie ? *cookie : peer_now_us(peer), try < 4 ? try : 4, exchange);

		if (now == 0)
			return 0;
		peer->statistics.retries += try > 0;
		if (now != -ETIMEDOUT && now != -EBADMSG)
			return now;
		if (err != -EBADMSG)
			err = now;
	}
	return err;
}

int peer_ping(struct peer *peer, struct peer_exchange *exchange)
{
	return ping_until(peer, NULL, exchange);
}

int peer_echo(struct peer *peer, uint64_t cookie, struct peer_exchange *exchange)
{
	return ping_until(peer, &cookie, exchange);
}

int peer_resume_session(struct peer *peer, uint32_t nonce, struct message_pong *pong)
{
	struct peer_exchange exchange;
	int err;

	memset(pong, 0, sizeof(*pong));
	if (nonce == 0)
		return peer_fail(peer, -EINVAL, "a session needs a nonce that is not 0");
	peer->nonce = nonce;
	peer->is_open = true;
	peer->is_reset = false;
	err = peer_ping(peer, &exchange);
	peer->is_open = err == 0;
	*pong = exchange.pong;
	return err;
}

int peer_arm(struct peer *peer, const struct message_arm *arm, uint32_t *estimate_ms)
{
	struct peer_request ask = {
		.request = {.type = MESSAGE_ARM, .arm = *arm},
		.answer_type = MESSAGE_ARMED,
		.answer_body = sizeof(struct message_armed),
		.work_ms = peer->config.work_ms,
	};
	int err = peer_check_open(peer);

	*estimate_ms = 0;
	if (!err)
		err = peer_ask(peer, &ask);
	if (err)
		return err;
	if (ask.answer.armed.window != arm->window)
		return peer_fail(peer, -EPROTO, "the target armed window %u instead of %u",
			ask.answer.armed.window, arm->window);
	*estimate_ms = ask.answer.armed.estimate_ms;
	return 0;
}

int peer_release(struct peer *peer, uint16_t window)
{
	struct peer_request ask = {
		.request = {.type = MESSAGE_RELEASE, .release = {window}},
		.answer_type = MESSAGE_RELEASED,
		.answer_body = sizeof(struct message_window),
	};
	int err = peer_check_open(peer);

	if (!err)
		err = peer_ask(peer, &ask);
	if (err)
		return err;
	if (ask.answer.released.window != window)
		return peer_fail(peer, -EPROTO, "the target released window %u instead of %u",
			ask.answer.released.window, window);
	return 0;
}

int peer_quit(struct peer *peer)
{
	struct peer_request ask = {
		.request = {.type = MESSAGE_QUIT},
		.answer_type = MESSAGE_BYE,
	};
	int err = peer_check_open(peer);

	if (!err)
		err = peer_ask(peer, &ask);
	/* BYE may be lost, and then there is nobody left to repeat it. */
	if (err == -ETIMEDOUT || err == -EBADMSG)
		err = 0;
	if (err == 0)
		peer->is_open = false;
	return err;
}
