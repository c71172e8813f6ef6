/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A faster line for pulls (PROTOCOL.md, "A faster line").  Whatever goes wrong,
 * both ends come back to the console's rate by themselves; the host waits for
 * the target's times before it says anything there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/peer_private.h"
#include "protocol/crc32c.h"

#define BAUD_CONFIRM_MS	       400u
#define BAUD_IDLE_MS	       4000u
#define BAUD_QUIET_MS	       20u  /* after a switch, until the host speaks */
#define BAUD_MARGIN_MS	       200u /* a target's clock may be a tick late, and it works slowly */
#define BAUD_SWITCH_TRIES      3u
#define BAUD_CONFIRM_TRIES     2u
#define BAUD_PROOF_PATIENCE_MS 2000u
#define BAUD_PROOF_PINGS       69u /* of 60 bytes: 4 KiB towards the target */

/* Rates of targets that make any: those that adapters know. */
static const uint32_t usual_rates[] = {1500000, 1000000, 921600, 750000, 500000, 460800, 230400};

bool peer_is_raised(const struct peer *peer)
{
	return peer->console_baud != 0;
}

int peer_pause(struct peer *peer, uint32_t ms)
{
	uint64_t until_us = peer_now_us(peer) + (uint64_t)ms * 1000;
	struct peer_arrival arrival;
	int err;

	while ((err = peer_next_frame(peer, until_us, &arrival)) == 1)
		peer_note_frame(peer, &arrival);
	return err;
}

/* ---------------------------------------------------------------- rates */

static int ask_baud(struct peer *peer, uint32_t baud, struct message_bauded *answer)
{
	struct peer_request ask = {
		.request = {.type = MESSAGE_BAUD, .baud = {baud, BAUD_CONFIRM_MS, BAUD_IDLE_MS}},
		.answer_type = MESSAGE_BAUDED,
		.answer_body = sizeof(struct message_bauded),
		/* A switch that went through unheard must not be asked for at the old rate. */
		.tries = baud ? 1 : 0,
	};
	int err = peer_ask(peer, &ask);

	*answer = ask.answer.bauded;
	return err;
}

int peer_query_rates(struct peer *peer, struct message_bauded *rates)
{
	int err = peer_check_open(peer);

	memset(rates, 0, sizeof(*rates));
	if (!err)
		err = ask_baud(peer, 0, rates);
	if (!err && rates->console == 0)
		err = peer_fail(peer, -EPROTO, "the target says that its console runs at 0 baud");
	if (err)
		memset(rates, 0, sizeof(*rates));
	return err;
}

size_t peer_list_rates(
	const struct message_bauded *rates, uint32_t max_baud, uint32_t list[PEER_RATES_MAX])
{
	uint32_t min_baud = rates->console + rates->console / 2;
	size_t count = 0;

	if (rates->console == 0 || min_baud < rates->console)
		return 0;
	for (uint32_t i = 0; rates->base == 0 && i < sizeof(usual_rates) / sizeof(uint32_t); i++)
		if (usual_rates[i] <= max_baud && usual_rates[i] >= min_baud)
			list[count++] = usual_rates[i];
	for (uint32_t divisor = 1; rates->base / divisor >= min_baud && count < PEER_RATES_MAX;
		divisor++)
		if (rates->base / divisor <= max_baud)
			list[count++] = rates->base / divisor;
	return count;
}

/* ------------------------------------------------------------- switching */

static int set_own_rate(struct peer *peer, uint32_t baud)
{
	struct frame_event event;
	int err = 0;

	/* A port with one rate only refuses even that. */
	if (baud != peer->config.baud)
		err = peer->link.set_baud(peer->link.context, baud);
	if (err)
		return peer_fail(peer, err, "cannot set the console port to %u baud: %s", baud,
			strerror(-err));
	frame_reader_flush(&peer->reader, &event);
	if (event.kind == FRAME_EVENT_TEXT && peer->events.text)
		peer->events.text(peer->events.context, peer->chunk_us, event.text, event.size);
	peer->config.baud = baud;
	return 0;
}

/* One answer at the new rate confirms it. */
static int confirm(struct peer *peer, uint32_t tries)
{
	uint32_t usual = peer->config.tries;
	struct peer_exchange exchange;
	int err;

	peer->config.tries = tries;
	err = peer_ping(peer, &exchange);
	peer->config.tries = usual;
	return err;
}

/*
 * This end at the console's rate, and silence for as long as the target may
 * wait for us; then it is there too, or gone.
 */
static int fall_back(struct peer *peer, uint32_t target_ms)
{
	uint32_t baud = peer->console_baud ? peer->console_baud : peer->config.baud;
	int err = 0;

	/* The rest of a train is still sent at the raised rate before the target's time runs. */
	if (peer_is_raised(peer))
		target_ms += (uint32_t)(peer_line_us(peer, MESSAGE_READ_MAX) / 1000);
	if (peer_is_raised(peer))
		err = set_own_rate(peer, baud);
	peer->console_baud = 0;
	if (!err)
		err = peer_pause(peer, target_ms + BAUD_MARGIN_MS + 2 * peer->config.latency_ms);
	if (!err)
		err = peer_check_open(peer);
	return err ? err : confirm(peer, peer->config.tries);
}

static bool is_lost(int err)
{
	return err == -ETIMEDOUT || err == -EBADMSG;
}

/* The target has said yes: 0, or is_lost() when nothing is heard at the new rate. */
static int switch_over(struct peer *peer, uint32_t baud)
{
	uint32_t before = peer->config.baud;
	int err = set_own_rate(peer, baud);

	if (!peer_is_raised(peer))
		peer->console_baud = before;
	if (!err)
		err = peer_pause(peer, BAUD_QUIET_MS);
	if (!err)
		err = confirm(peer, BAUD_CONFIRM_TRIES);
	return err;
}

int peer_raise(struct peer *peer, uint32_t baud)
{
	struct message_bauded answer;
	int err = peer_check_open(peer);

	if (err)
		return err;
	if (!peer->link.set_baud)
		return peer_fail(peer, -ENOTSUP, "the console port has only one rate");
	if (peer_is_raised(peer))
		return peer_fail(peer, -EALREADY, "the line is raised already");
	for (uint32_t try = 0; try < BAUD_SWITCH_TRIES; try++) {
		peer->statistics.retries += try > 0;
		err = ask_baud(peer, baud, &answer);
		if (err == 0)
			break;
		if (!is_lost(err))
			return err;
		err = fall_back(peer, BAUD_CONFIRM_MS);
		if (err)
			return err;
		err = -ECOMM;
	}
	if (err)
		return peer_fail(peer, err, "BAUD %u was asked for %u times without an answer",
			baud, BAUD_SWITCH_TRIES);
	err = switch_over(peer, answer.baud);
	if (err == 0)
		return 0;
	if (!is_lost(err) && err != -EINVAL && err != -ENOTSUP)
		return err;
	err = fall_back(peer, BAUD_CONFIRM_MS);
	if (err)
		return err;
	return peer_fail(peer, -ECOMM, "nothing was heard at %u baud", answer.baud);
}

int peer_lower(struct peer *peer)
{
	uint32_t console_baud = peer->console_baud;
	struct message_bauded answer;
	int err = peer_check_open(peer);

	if (!peer_is_raised(peer))
		return 0;
	/* The target names its own exact rate of the console; ours is the usual one. */
	if (!err)
		err = ask_baud(peer, 0, &answer);
	if (!err)
		err = ask_baud(peer, answer.console, &answer);
	if (!err)
		err = switch_over(peer, console_baud);
	if (err == 0 || err == -ECONNRESET) {
		if (err)
			set_own_rate(peer, console_baud);
		peer->console_baud = 0;
		return err;
	}
	return is_lost(err) || err == -EREMOTEIO ? fall_back(peer, BAUD_IDLE_MS) : err;
}

/* ---------------------------------------------------------------- proof */

static int prove_down(struct peer *peer)
{
	uint8_t *bytes = malloc(SERIES_PATTERN_SIZE);
	struct peer_transfer transfer;
	int err;

	if (!bytes)
		return peer_fail(peer, -ENOMEM, "no memory for the test pattern");
	for (uint32_t at = 0; at < SERIES_PATTERN_SIZE; at++)
		bytes[at] = series_pattern_byte(at);
	peer_transfer_init(&transfer, SERIES_WINDOW_FACTS, SERIES_ID_PATTERN, SERIES_PATTERN_SIZE,
		crc32c_update(0, bytes, SERIES_PATTERN_SIZE), bytes);
	memset(bytes, 0, SERIES_PATTERN_SIZE);
	err = peer_pull(peer, &transfer);
	free(bytes);
	return err;
}

/* The longest frames a host sends, one at a time as ever. */
static int prove_up(struct peer *peer)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < BAUD_PROOF_PINGS; i++) {
		struct peer_request ask = {
			.request = {.type = MESSAGE_PING, .ping = {.cookie = peer_now_us(peer)}},
			.answer_type = MESSAGE_PONG,
			.answer_body = sizeof(struct message_pong),
			.padding = FRAME_HOST_BODY_MAX - sizeof(uint64_t),
			/* Late on a busy machine is not lost; lost is. */
			.work_ms = BAUD_PROOF_PATIENCE_MS,
			.tries = 1,
		};

		err = peer_ask(peer, &ask);
	}
	return err;
}

int peer_prove_rate(struct peer *peer)
{
	uint64_t damage = peer_get_damage(peer);
	uint32_t retries = peer->statistics.retries;
	int err = peer_check_open(peer);

	if (!err && !peer_is_raised(peer))
		err = peer_fail(peer, -EINVAL, "the line is not raised");
	if (!err)
		err = prove_up(peer);
	if (!err)
		err = prove_down(peer);
	if (err)
		return err;
	if (peer_get_damage(peer) == damage && peer->statistics.retries == retries)
		return 0;
	return peer_fail(peer, -EBADMSG, "%u baud: of 64 KiB not every byte came through",
		peer->config.baud);
}
