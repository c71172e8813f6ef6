/* SPDX-License-Identifier: Apache-2.0 */
/* From GO to DONE: silence, its record, and what to do when a frame was lost. */
#include <errno.h>
#include <string.h>

#include "harness/peer_private.h"

/* So many bytes of DONE may be wrong or missing, and it is still recognised. */
#define PEER_DONE_DAMAGE(size) ((size) / 4)

int peer_go(struct peer *peer, uint16_t window, int timeout_ms)
{
	struct message message = {.type = MESSAGE_GO, .go = {window}};
	struct frame_event event;
	int err = peer_check_open(peer);

	if (!err)
		err = peer_wait_quiet(peer, timeout_ms);
	if (!err)
		err = peer_check_open(peer);
	if (err)
		return err;
	/* What is held back was printed before GO. */
	frame_reader_flush(&peer->reader, &event);
	if (event.kind == FRAME_EVENT_TEXT && peer->events.text)
		peer->events.text(peer->events.context, peer->chunk_us, event.text, event.size);
	memset(&peer->current, 0, sizeof(peer->current));
	peer->current.done.window = window;
	peer->go_window = window;
	peer->is_done = false;
	peer->frozen_us = 0;
	peer->frozen_bytes = 0;
	err = peer_send(peer, &message, peer->nonce, &peer->go_seq);
	if (err)
		return err;
	peer->current.go_us = peer_now_us(peer);
	peer->is_going = true;
	peer->is_hushed = true;
	return 0;
}

/* Nothing is sent: 0 = DONE has come, 1 = the deadline passed without it. */
static int wait_silently(struct peer *peer, uint64_t deadline_us)
{
	struct peer_arrival arrival;
	int err = 0;

	while (!peer->is_done) {
		err = peer_next_frame(peer, deadline_us, &arrival);
		if (err < 0)
			return err;
		if (err == 0)
			return 1;
		peer_note_frame(peer, &arrival);
		if (peer->is_reset)
			return peer_fail(peer, -ECONNRESET,
				"the agent has restarted inside window %u", peer->go_window);
	}
	return 0;
}

/* From here on the host itself sends, so what comes tells nothing about silence. */
static void freeze_silence(struct peer *peer)
{
	peer->is_hushed = false;
	peer->frozen_us = peer_now_us(peer);
	peer->frozen_bytes = peer->reader.used;
	if (peer->reader.used > 0 && peer->reader.follows00)
		peer->frozen_bytes++;
}

/*
 * Where a damaged DONE begins in what was recorded, or kept when it is not
 * there: the start from which the fewest bytes must be changed, put in or left
 * out to get DONE. Text behind its first byte costs every start the same.
 */
static size_t find_damaged_done(const uint8_t *bytes, size_t kept, const uint8_t *done, size_t size)
{
	uint16_t row[FRAME_HOST_WIRE_MAX + 1]; /* cost of done[j..] from bytes[i..] */
	size_t best = SIZE_MAX, start = kept, surplus;

	for (size_t j = 0; j <= size; j++)
		row[j] = (uint16_t)(size - j);
	for (size_t i = kept; i-- > 0;) {
		uint16_t diagonal = row[size]++;

		for (size_t j = size; j-- > 0;) {
			uint16_t below = row[j], cost = diagonal;

			if (bytes[i] != done[j]) {
				cost = below < cost ? below : cost;
				cost = row[j + 1] < cost ? row[j + 1] : cost;
				cost++;
			}
			row[j] = cost;
			diagonal = below;
		}
		if (row[0] <= best) {
			best = row[0];
			start = i;
		}
	}
	surplus = kept - start > size ? kept - start - size : 0;
	return best != SIZE_MAX && best - surplus <= PEER_DONE_DAMAGE(size) ? start : kept;
}

/* DONE was sent but came damaged: its remains break no silence. */
static void excuse_damaged_done(struct peer *peer)
{
	struct peer_silence *silence = &peer->current.silence;
	struct message message = {.type = MESSAGE_DONE, .done = peer->current.done};
	uint8_t body[FRAME_HOST_BODY_MAX], wire[FRAME_HOST_WIRE_MAX];
	int size;

	if (silence->bytes == 0 || silence->bytes != silence->kept)
		return;
	size = message_encode_frame(
		&message, peer->go_seq, peer->nonce, body, sizeof(body), wire, sizeof(wire));
	if (size < 0)
		return;
	silence->kept = find_damaged_done(silence->content, silence->kept, wire, (size_t)size);
	silence->bytes = silence->kept;
	if (silence->bytes == 0)
		silence->first_us = silence->last_us = 0;
}

static int judge_pong(struct peer *peer, const struct message_pong *pong)
{
	uint16_t window = peer->go_window;

	if (pong->state == MESSAGE_STATE_DONE && pong->done.window == window) {
		peer->current.done = pong->done;
		peer->current.is_resolved_by_ping = true;
		excuse_damaged_done(peer);
		return 0;
	}
	if (pong->state == MESSAGE_STATE_ARMED && pong->done.window == window)
		return peer_fail(peer, -EAGAIN, "GO of window %u never arrived", window);
	return peer_fail(peer, -EPROTO, "window %u should be done, but the target is %s with %u",
		window, message_state_name(pong->state), pong->done.window);
}

/* The deadline has passed: PING, while DONE may still come. */
static int resolve(struct peer *peer)
{
	struct peer_exchange exchange;
	int err;

	freeze_silence(peer);
	err = peer_ping(peer, &exchange);
	if (peer->is_done) {
		/* It came after all, but the PING may have come before its end. */
		peer->current.is_disturbed = true;
		return 0;
	}
	if (err == -ETIMEDOUT)
		return peer_fail(peer, err,
			"window %u: no DONE, and no answer to PING after the deadline",
			peer->go_window);
	return err ? err : judge_pong(peer, &exchange.pong);
}

int peer_wait_done(struct peer *peer, uint32_t deadline_ms, struct peer_window *window)
{
	uint64_t deadline_us = peer->current.go_us + (uint64_t)deadline_ms * 1000;
	int err = peer_check_open(peer);

	if (!err && !peer->is_going && !peer->is_done)
		err = peer_fail(peer, -EINVAL, "no window was started");
	if (!err)
		err = wait_silently(peer, deadline_us);
	if (err == 1)
		err = resolve(peer);
	peer->is_hushed = false;
	peer->is_going = false;
	peer->is_done = false;
	*window = peer->current;
	return err;
}
