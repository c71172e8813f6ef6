/* SPDX-License-Identifier: Apache-2.0 */
/* Bulk data, from targets that are honest and from those that are not. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/peer_rig.h"
#include "tests/vectors.h"

/* A frame that the target could have sent long ago. */
static void send_late(const struct message *message, uint8_t seq)
{
	uint8_t body[FRAME_BODY_MAX], wire[FRAME_WIRE_SIZE(FRAME_BODY_MAX)];
	int size = message_encode_frame(
		message, seq, PEER_RIG_NONCE, body, sizeof(body), wire, sizeof(wire));

	ck_assert_int_gt(size, 0);
	wire_line_send(&peer_rig.line, wire, (size_t)size);
}

START_TEST(late_data_are_used_if_they_fit_and_a_lie_if_they_do_not)
{
	struct message late = {.type = MESSAGE_DATA, .data = {.window = 7, .series = 1}};
	struct peer_transfer transfer;
	struct peer_window window;
	struct series_entry entry;
	uint8_t *bytes;

	peer_rig_open(1, false);
	peer_rig_measure(&window);
	entry = peer_rig.model.entries[0];
	bytes = malloc(entry.bytes);
	/* Of another series, harmless; of this one, as far as it goes. */
	late.data.series = 2;
	late.data.size = 100;
	late.data.bytes = peer_rig.model.data[0];
	send_late(&late, 200);
	late.data.series = 1;
	send_late(&late, 200);
	peer_transfer_init(&transfer, 7, 1, entry.bytes, entry.crc, bytes);
	PEER_OK(peer_pull(&peer_rig.peer, &transfer));
	ck_assert_mem_eq(bytes, peer_rig.model.data[0], entry.bytes);
	late.data.offset = entry.bytes - 99;
	send_late(&late, 200);
	peer_transfer_init(&transfer, 7, 1, entry.bytes, entry.crc, bytes);
	PEER_GIVES(-EPROTO, peer_pull(&peer_rig.peer, &transfer));
	free(bytes);
	peer_rig_close();
}
END_TEST

/* --------------------------------------------------------------- pulls */

static int stop_at_half(void *context, uint32_t done, uint32_t size)
{
	uint32_t *last = context;

	ck_assert_uint_ge(done, *last);
	ck_assert_uint_le(done, size);
	*last = done;
	return done > size / 2;
}

START_TEST(a_pull_goes_on_where_it_was_stopped)
{
	struct series_entry entry;
	struct peer_transfer transfer;
	struct peer_window window;
	uint64_t received;
	uint32_t last = 0;
	uint8_t *bytes;

	peer_rig_open(1, false);
	peer_rig_measure(&window);
	entry = peer_rig.model.entries[1];
	bytes = malloc(entry.bytes);
	ck_assert_int_eq(
		peer_transfer_init(&transfer, 7, entry.id, entry.bytes, entry.crc, bytes), 0);
	transfer.progress = stop_at_half;
	transfer.progress_context = &last;
	PEER_GIVES(-ECANCELED, peer_pull(&peer_rig.peer, &transfer));
	ck_assert_uint_eq(last, entry.bytes - transfer.missing);
	transfer.progress = NULL;
	peer_rig.line.is_cut = true;
	PEER_GIVES(-ETIMEDOUT, peer_pull(&peer_rig.peer, &transfer));
	peer_rig.line.is_cut = false;
	received = peer_rig.peer.statistics.bytes_received;
	PEER_OK(peer_pull(&peer_rig.peer, &transfer));
	ck_assert_mem_eq(bytes, peer_rig.model.data[1], entry.bytes);
	ck_assert_uint_le(
		peer_rig.peer.statistics.bytes_received - received, entry.bytes * 55 / 100);
	free(bytes);
	peer_rig_close();
}
END_TEST

START_TEST(frames_in_odd_order_and_twice_are_put_in_their_place)
{
	struct peer_window window;

	peer_rig_open(1, false);
	peer_rig.model.shuffles = true;
	peer_rig_measure(&window);
	peer_rig_pull_everything(&window);
	peer_rig_close();
}
END_TEST

START_TEST(a_target_that_lies_gives_an_error_in_bounded_time)
{
	static const int expected[WIRE_LIE_COUNT] = {
		[WIRE_LIE_MAJOR] = -EPROTONOSUPPORT,
		[WIRE_LIE_STILL_COUNTER] = -EPROTO,
		[WIRE_LIE_SHORT_HELLO] = -EPROTO,
		[WIRE_LIE_COOKIE] = -EPROTO,
		[WIRE_LIE_PONG_IDLE] = -EPROTO,
		[WIRE_LIE_PONG_RUNNING] = -EPROTO,
		[WIRE_LIE_ARMED_OTHER] = -EPROTO,
		[WIRE_LIE_RELEASED_OTHER] = -EPROTO,
		[WIRE_LIE_FACTS_HUGE] = -EMSGSIZE,
		[WIRE_LIE_FACTS_NUL] = -EPROTO,
		[WIRE_LIE_FACTS_CRC] = -EPROTO,
		[WIRE_LIE_INDEX_HUGE] = -EMSGSIZE,
		[WIRE_LIE_INDEX_GARBAGE] = -EPROTO,
		[WIRE_LIE_INDEX_TWICE] = -EPROTO,
		[WIRE_LIE_SERIES_HUGE] = -EMSGSIZE,
		[WIRE_LIE_WINDOW_HUGE] = -EMSGSIZE,
		[WIRE_LIE_SERIES_CRC] = -EPROTO,
		[WIRE_LIE_DATA_BEFORE] = 0,
		[WIRE_LIE_DATA_BEHIND] = -EPROTO,
		[WIRE_LIE_DATA_FAR] = -EPROTO,
		[WIRE_LIE_DATA_OTHER] = -EPROTO,
		[WIRE_LIE_DATA_SHORT] = -EPROTO,
		[WIRE_LIE_DATA_FIRST_ONLY] = -ETIMEDOUT,
		[WIRE_LIE_ERROR_SHORT] = -EPROTO,
		[WIRE_LIE_ERROR_READ] = -EREMOTEIO,
		[WIRE_LIE_FLOOD] = -ETIMEDOUT,
	};

	for (int lie = 1; lie < WIRE_LIE_COUNT; lie++) {
		struct message_arm body = {.window = 7, .bench = 1};
		struct series_entry *entries = NULL;
		struct peer_exchange exchange;
		struct peer_window window;
		uint8_t *bytes = NULL;
		uint32_t estimate_ms;
		uint64_t begin_ms;
		size_t count, size;
		char *text = NULL;
		int err;

		peer_rig_open(1, false);
		peer_rig.model.lie = (enum wire_lie)lie;
		begin_ms = peer_rig_now_ms();
		err = peer_open_session(&peer_rig.peer, PEER_RIG_NONCE, NULL);
		if (!err)
			err = peer_ping(&peer_rig.peer, &exchange);
		if (!err)
			err = peer_probe(&peer_rig.peer, &text, &size);
		if (!err)
			err = peer_arm(&peer_rig.peer, &body, &estimate_ms);
		if (!err)
			err = peer_go(&peer_rig.peer, 7, 1000);
		if (!err)
			err = peer_wait_done(&peer_rig.peer, 4000, &window);
		if (!err)
			err = peer_pull_index(&peer_rig.peer, &window.done, &entries, &count);
		if (lie == WIRE_LIE_SERIES_HUGE || lie == WIRE_LIE_WINDOW_HUGE)
			ck_assert_ptr_null(entries);
		for (size_t i = 0; !err && i < count; i++) {
			free(bytes);
			err = peer_rig_pull(&entries[i], &bytes);
		}
		if (!err)
			err = peer_release(&peer_rig.peer, 7);
		if (lie == WIRE_LIE_DATA_BEFORE)
			ck_assert_msg(err == 0 || err == -EPROTO, "lie %d: %d", lie, err);
		else
			ck_assert_msg(err == expected[lie], "lie %d: %d (%s)", lie, err,
				peer_error(&peer_rig.peer));
		ck_assert_uint_le(peer_rig_now_ms() - begin_ms, 1000000);
		free(bytes);
		free(text);
		free(entries);
		peer_rig_close();
	}
}
END_TEST

/* Valid frames with the right session and seq, and nonsense in them. */
struct babbler {
	struct wire_line *line;
	struct frame_reader reader;
	uint8_t chunk[FRAME_CHUNK_SIZE(FRAME_HOST_BODY_MAX)];
	uint64_t random;
	struct frame last;
	unsigned int owes;
};

static void babbler_receive(void *context, uint8_t byte)
{
	struct babbler *babbler = context;
	struct frame_event event;

	frame_reader_feed(&babbler->reader, &byte, 1, &event);
	if (event.kind == FRAME_EVENT_FRAME) {
		babbler->last = event.frame;
		babbler->owes = vectors_random(&babbler->random) % 4;
	}
}

static uint64_t babbler_wake_ns(void *context)
{
	struct babbler *babbler = context;

	return babbler->owes > 0 ? babbler->line->to_host.free_ns : WIRE_NEVER;
}

static void babbler_act(void *context)
{
	struct babbler *babbler = context;
	uint8_t body[200], wire[300];
	struct frame frame = babbler->last;
	int size;

	babbler->owes--;
	for (size_t i = 0; i < sizeof(body); i++)
		body[i] = (uint8_t)(vectors_random(&babbler->random) % 3
					    ? 0
					    : vectors_random(&babbler->random) % 5);
	frame.body = body;
	frame.size = vectors_random(&babbler->random) % sizeof(body);
	/* Mostly the right answer's type and session. */
	frame.type++;
	if (vectors_random(&babbler->random) % 5 == 0)
		frame.type = (uint8_t)(vectors_random(&babbler->random) % 24);
	if (babbler->last.type == MESSAGE_SESSION)
		frame.type = MESSAGE_HELLO;
	if (frame.session == 0 && vectors_random(&babbler->random) % 4)
		frame.session = PEER_RIG_NONCE;
	if (frame.type == MESSAGE_HELLO && frame.size > 16)
		body[0] = 1, body[13] = 1;
	if (frame.type == MESSAGE_ERROR && frame.size > 2)
		body[1] = 0xff, body[0] = (uint8_t)(0xff - body[0]);
	size = frame_encode(&frame, wire, sizeof(wire));
	wire_line_send(babbler->line, wire, (size_t)size);
}

START_TEST(a_target_that_babbles_never_breaks_or_hangs_the_host)
{
	static struct babbler babbler;
	int answered = 0;

	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct message_arm body = {.window = 0};
		struct message_done done = {.window = 0, .index_size = 60};
		struct series_entry *entries;
		struct peer_exchange exchange;
		struct peer_window window;
		struct message_hello hello;
		uint8_t bytes[500];
		struct peer_transfer transfer;
		uint32_t estimate_ms;
		size_t size;
		char *text;

		peer_rig_open(seed, false);
		memset(&babbler, 0, sizeof(babbler));
		babbler.line = &peer_rig.line;
		babbler.random = seed;
		frame_reader_init(&babbler.reader, babbler.chunk, sizeof(babbler.chunk));
		peer_rig.line.end =
			(struct wire_end){&babbler, babbler_receive, babbler_wake_ns, babbler_act};
		for (int i = 0; i < 5 && !peer_rig.peer.is_open; i++)
			answered += peer_open_session(&peer_rig.peer, PEER_RIG_NONCE, &hello) == 0;
		answered += peer_ping(&peer_rig.peer, &exchange) == 0;
		answered += peer_arm(&peer_rig.peer, &body, &estimate_ms) == 0;
		answered += peer_probe(&peer_rig.peer, &text, &size) == 0;
		free(text);
		if (peer_go(&peer_rig.peer, 0, 1000) == 0)
			answered += peer_wait_done(&peer_rig.peer, 500, &window) == 0;
		answered += peer_pull_index(&peer_rig.peer, &done, &entries, &size) == 0;
		free(entries);
		peer_transfer_init(&transfer, 0, 0, sizeof(bytes), 1, bytes);
		answered += peer_pull(&peer_rig.peer, &transfer) == 0;
		answered += peer_release(&peer_rig.peer, 0) == 0;
		ck_assert_uint_le(peer_rig_now_ms(), 3600000);
		peer_rig_close();
	}
	ck_assert_int_gt(answered, 400);
}
END_TEST

START_TEST(limits_are_checked_before_anything_is_asked)
{
	struct peer_transfer transfer;

	peer_rig_open(1, false);
	peer_rig_open_session();
	ck_assert_int_eq(
		peer_transfer_init(&transfer, 1, 1, PEER_SERIES_MAX + 1, 0, NULL), -EMSGSIZE);
	ck_assert_int_eq(peer_transfer_init(&transfer, 1, 1, 0, 0, NULL), 0);
	PEER_OK(peer_pull(&peer_rig.peer, &transfer));
	ck_assert_uint_eq(peer_rig.model.reads, 0);
	PEER_GIVES(-EINVAL, peer_open_session(&peer_rig.peer, 0, NULL));
	peer_rig_close();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("peer_pull");
	TCase *tcase = tcase_create("peer_pull");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, late_data_are_used_if_they_fit_and_a_lie_if_they_do_not);
	tcase_add_test(tcase, a_pull_goes_on_where_it_was_stopped);
	tcase_add_test(tcase, frames_in_odd_order_and_twice_are_put_in_their_place);
	tcase_add_test(tcase, a_target_that_lies_gives_an_error_in_bounded_time);
	tcase_add_test(tcase, a_target_that_babbles_never_breaks_or_hangs_the_host);
	tcase_add_test(tcase, limits_are_checked_before_anything_is_asked);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
