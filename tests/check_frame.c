/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/crc32c.h"
#include "protocol/frame.h"
#include "protocol/message.h"
#include "tests/vectors.h"

/* What a reader made of a line: pieces in order, text runs joined. */
struct seen {
	size_t length; /* of pieces */
	uint32_t frames;
	size_t frame_wire;
	size_t text_size;
	uint8_t last_type;
	size_t last_size;
	bool ends_in_text;
	uint8_t last_body[FRAME_BODY_MAX];
	char pieces[40000];
};

struct rig {
	struct frame_reader reader;
	uint8_t chunk[FRAME_CHUNK_SIZE(FRAME_BODY_MAX)];
	struct seen seen;
};

static void rig_init(struct rig *rig, size_t body_max)
{
	memset(&rig->seen, 0, offsetof(struct seen, last_body));
	rig->seen.pieces[0] = '\0';
	frame_reader_init(&rig->reader, rig->chunk, FRAME_CHUNK_SIZE(body_max));
}

static void see_text(struct seen *seen, const uint8_t *text, size_t size)
{
	static const char digits[] = "0123456789abcdef";

	if (!seen->ends_in_text)
		seen->length += (size_t)sprintf(
			seen->pieces + seen->length, "%stext:", seen->length ? " " : "");
	for (size_t i = 0; i < size; i++) {
		seen->pieces[seen->length++] = digits[text[i] >> 4];
		seen->pieces[seen->length++] = digits[text[i] & 15];
	}
	seen->pieces[seen->length] = '\0';
	seen->text_size += size;
	seen->ends_in_text = true;
}

static void see(struct seen *seen, const struct frame_event *event)
{
	const char *name = message_type_name(event->frame.type);

	if (event->kind == FRAME_EVENT_TEXT)
		see_text(seen, event->text, event->size);
	if (event->kind != FRAME_EVENT_FRAME)
		return;
	seen->length += (size_t)sprintf(
		seen->pieces + seen->length, "%s%s", seen->length ? " " : "", name ? name : "?");
	seen->frames++;
	seen->frame_wire += event->size;
	seen->last_type = event->frame.type;
	seen->last_size = event->frame.size;
	memcpy(seen->last_body, event->frame.body, event->frame.size);
	seen->ends_in_text = false;
}

/* A 00 between two texts parts them, so that splits do not matter. */
static void rig_feed(struct rig *rig, const uint8_t *bytes, size_t size)
{
	struct frame_event event;

	while (size > 0) {
		size_t used = frame_reader_feed(&rig->reader, bytes, size, &event);

		ck_assert_uint_le(used, size);
		ck_assert(used > 0 || event.kind != FRAME_EVENT_NONE);
		see(&rig->seen, &event);
		if (used > 0 && bytes[used - 1] == 0)
			rig->seen.ends_in_text = false;
		bytes += used;
		size -= used;
	}
}

static void rig_flush(struct rig *rig)
{
	struct frame_event event;

	frame_reader_flush(&rig->reader, &event);
	see(&rig->seen, &event);
	ck_assert_uint_eq(rig->reader.used, 0);
}

static size_t encode(uint8_t type, const uint8_t *body, size_t size, uint8_t *wire)
{
	struct frame frame = {type, 5, 0xdeadbeef, body, size};
	int length = frame_encode(&frame, wire, FRAME_WIRE_SIZE(FRAME_BODY_MAX));

	ck_assert_int_gt(length, 0);
	return (size_t)length;
}

START_TEST(crc32c_gives_the_published_values)
{
	struct vector vector = {.line = 0};
	FILE *file = vectors_open();
	int count = 0;

	while (vectors_next(file, "crc", &vector)) {
		uint32_t crc = (uint32_t)strtoul(vector.text, NULL, 16);

		ck_assert_uint_eq(crc32c_update(0, vector.bytes, vector.size), crc);
		for (size_t i = 0; i <= vector.size; i++) {
			uint32_t head = crc32c_update(0, vector.bytes, i);

			head = crc32c_update(head, vector.bytes + i, vector.size - i);
			ck_assert_uint_eq(head, crc);
		}
		count++;
	}
	ck_assert_int_ge(count, 4);
	ck_assert_uint_eq(crc32c_update(0, NULL, 0), 0);
	fclose(file);
}
END_TEST

START_TEST(every_frame_vector_is_encoded_byte_for_byte)
{
	struct vector vector = {.line = 0};
	FILE *file = vectors_open();
	int count = 0;

	while (vectors_next(file, "frame", &vector)) {
		uint8_t chunk[FRAME_CHUNK_SIZE(FRAME_BODY_MAX)];
		uint8_t wire[FRAME_WIRE_SIZE(FRAME_BODY_MAX)];
		struct frame_reader reader;
		struct frame_event event;
		int size;

		frame_reader_init(&reader, chunk, sizeof(chunk));
		for (size_t at = 0; at < vector.size;)
			at += frame_reader_feed(
				&reader, vector.bytes + at, vector.size - at, &event);
		ck_assert_int_eq(event.kind, FRAME_EVENT_FRAME);
		ck_assert_uint_eq(event.size, vector.size);
		size = frame_encode(&event.frame, wire, sizeof(wire));
		ck_assert_int_eq(size, (int)vector.size);
		ck_assert_mem_eq(wire, vector.bytes, vector.size);
		for (size_t room = 0; room < vector.size; room++)
			ck_assert_int_eq(
				frame_encode(&event.frame, wire, room), WIRE_ERROR_NO_ROOM);
		count++;
	}
	ck_assert_int_ge(count, 25);
	fclose(file);
}
END_TEST

START_TEST(bad_frames_come_out_as_text_and_are_counted)
{
	struct vector vector = {.line = 0};
	FILE *file = vectors_open();
	int count = 0;

	while (vectors_next(file, "bad-frame", &vector)) {
		static struct rig rig;
		const struct frame_counters *counters = &rig.reader.counters;

		rig_init(&rig, FRAME_BODY_MAX);
		rig_feed(&rig, vector.bytes, vector.size);
		ck_assert_uint_eq(rig.seen.frames, 0);
		ck_assert_uint_eq(rig.seen.text_size, vector.size - 2);
		ck_assert_uint_eq(counters->bad_crc, strcmp(vector.text, "bad_crc") == 0);
		ck_assert_uint_eq(counters->bad_cobs, strcmp(vector.text, "bad_cobs") == 0);
		ck_assert_uint_eq(counters->oversize, strcmp(vector.text, "oversize") == 0);
		count++;
	}
	ck_assert_int_ge(count, 6);
	fclose(file);
}
END_TEST

START_TEST(text_and_frames_are_told_apart_however_the_line_is_cut)
{
	struct vector vector = {.line = 0};
	FILE *file = vectors_open();
	static struct rig rig;
	int count = 0;

	while (vectors_next(file, "line", &vector)) {
		/* Every cut; of long runs of the same byte, some. */
		for (size_t cut = 0; cut <= vector.size; cut += cut > 100 ? 23 : 1) {
			rig_init(&rig, FRAME_BODY_MAX);
			rig_feed(&rig, vector.bytes, cut);
			rig_feed(&rig, vector.bytes + cut, vector.size - cut);
			rig_flush(&rig);
			ck_assert_str_eq(rig.seen.pieces, vector.text);
		}
		rig_init(&rig, FRAME_BODY_MAX);
		for (size_t i = 0; i < vector.size; i++)
			rig_feed(&rig, vector.bytes + i, 1);
		rig_flush(&rig);
		ck_assert_str_eq(rig.seen.pieces, vector.text);
		count++;
	}
	ck_assert_int_ge(count, 11);
	fclose(file);
}
END_TEST

START_TEST(bodies_of_every_length_survive_the_line)
{
	static struct rig rig;
	uint8_t body[FRAME_BODY_MAX], wire[FRAME_WIRE_SIZE(FRAME_BODY_MAX)];
	uint64_t random = 1;

	for (size_t size = 0; size <= FRAME_BODY_MAX; size++) {
		/* Few zeros, many zeros: full blocks and empty ones. */
		for (unsigned int zeros = 0; zeros < 3; zeros++) {
			size_t length;

			for (size_t i = 0; i < size; i++) {
				body[i] = (uint8_t)(vectors_random(&random) % 255 + 1);
				if (zeros > 0 &&
					vectors_random(&random) % (zeros == 1 ? 256 : 3) == 0)
					body[i] = 0;
			}
			length = encode(MESSAGE_DATA, body, size, wire);
			ck_assert_uint_le(length, FRAME_WIRE_SIZE(size));
			ck_assert_ptr_null(memchr(wire + 1, 0, length - 2));
			rig_init(&rig, FRAME_BODY_MAX);
			rig_feed(&rig, wire, length);
			ck_assert_str_eq(rig.seen.pieces, "DATA");
			ck_assert_uint_eq(rig.seen.last_size, size);
			ck_assert_mem_eq(rig.seen.last_body, body, size);
		}
	}
	ck_assert_int_eq(frame_encode(&(struct frame){.body = body, .size = FRAME_BODY_MAX + 1},
				 wire, sizeof(wire)),
		WIRE_ERROR_BAD_RANGE);
}
END_TEST

START_TEST(a_frame_cut_anywhere_costs_only_itself)
{
	static struct rig rig;
	uint8_t body[40], wire[FRAME_WIRE_SIZE(FRAME_BODY_MAX)], next[64];
	size_t length, next_length;

	memset(body, 0xa5, sizeof(body));
	body[7] = 0;
	length = encode(MESSAGE_PONG, body, sizeof(body), wire);
	next_length = encode(MESSAGE_GO, body, 2, next);
	for (size_t head = 0; head <= length; head++) {
		for (size_t tail = head; tail <= length; tail++) {
			bool is_whole = tail - head == 0 ||
					(tail == length && head == length - 1) ||
					(head == 0 && tail == 1);

			/* The bytes from head to tail are lost. */
			rig_init(&rig, FRAME_BODY_MAX);
			rig_feed(&rig, next, next_length);
			rig_feed(&rig, wire, head);
			rig_feed(&rig, wire + tail, length - tail);
			rig_feed(&rig, next, next_length);
			rig_flush(&rig);
			if (is_whole)
				ck_assert_str_eq(rig.seen.pieces, "GO PONG GO");
			else
				ck_assert_uint_eq(rig.seen.frames, 2);
			ck_assert_uint_eq(rig.seen.last_type, MESSAGE_GO);
		}
	}
}
END_TEST

START_TEST(a_flipped_bit_never_makes_another_frame)
{
	struct vector vector = {.line = 0};
	FILE *file = vectors_open();
	static struct rig rig;

	while (vectors_next(file, "frame", &vector)) {
		static uint8_t good[FRAME_BODY_MAX];
		size_t good_size, wire_size = vector.size;
		uint8_t type;

		rig_init(&rig, FRAME_BODY_MAX);
		rig_feed(&rig, vector.bytes, wire_size);
		good_size = rig.seen.last_size;
		type = rig.seen.last_type;
		memcpy(good, rig.seen.last_body, good_size);
		for (size_t bit = 0; bit<wire_size * 8; bit += wire_size> 200 ? 7 : 1) {
			size_t accounted;

			vector.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
			rig_init(&rig, FRAME_BODY_MAX);
			rig_feed(&rig, vector.bytes, wire_size);
			rig_flush(&rig);
			vector.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
			ck_assert_uint_le(rig.seen.frames, 1);
			if (rig.seen.frames == 1) {
				ck_assert_uint_eq(rig.seen.last_type, type);
				ck_assert_uint_eq(rig.seen.last_size, good_size);
				ck_assert_mem_eq(rig.seen.last_body, good, good_size);
				continue;
			}
			accounted = rig.seen.text_size + rig.reader.counters.zeros;
			ck_assert_uint_eq(accounted, wire_size);
		}
	}
	fclose(file);
}
END_TEST

START_TEST(text_put_into_a_frame_anywhere_is_never_lost)
{
	static const uint8_t text[] = "[   12.345678] random: crng init done\r\n";
	static struct rig rig;
	uint8_t body[20], wire[64], next[64];
	size_t length, next_length;

	memset(body, 0, sizeof(body));
	length = encode(MESSAGE_PING, body, sizeof(body), wire);
	next_length = encode(MESSAGE_GO, body, 2, next);
	for (size_t at = 0; at <= length; at++) {
		char printed[200] = "";
		bool is_inside = at > 0 && at < length;

		rig_init(&rig, FRAME_BODY_MAX);
		rig_feed(&rig, wire, at);
		rig_feed(&rig, text, sizeof(text) - 1);
		rig_feed(&rig, wire + at, length - at);
		rig_feed(&rig, next, next_length);
		for (size_t i = 0; i < sizeof(text) - 1; i++)
			sprintf(printed + 2 * i, "%02x", text[i]);
		ck_assert_msg(strstr(rig.seen.pieces, printed) != NULL, "at %zu: %s", at,
			rig.seen.pieces);
		ck_assert_uint_eq(rig.seen.frames, is_inside ? 1 : 2);
		ck_assert_uint_eq(rig.reader.counters.bad_cobs + rig.reader.counters.bad_crc,
			is_inside ? 1 : 0);
		ck_assert_uint_eq(rig.seen.last_type, MESSAGE_GO);
	}
}
END_TEST

START_TEST(noise_makes_no_frames_and_every_byte_is_accounted_for)
{
	static struct rig rig;
	uint64_t random = 7;
	uint8_t body[8] = {1, 2, 3}, wire[64];
	size_t length = encode(MESSAGE_PING, body, sizeof(body), wire);

	for (int round = 0; round < 300; round++) {
		uint8_t noise[3000];
		size_t size = vectors_random(&random) % sizeof(noise);
		size_t accounted;

		for (size_t i = 0; i < size; i++) {
			noise[i] = (uint8_t)vectors_random(&random);
			if (vectors_random(&random) % 16 == 0)
				noise[i] = 0;
		}
		rig_init(&rig, round % 2 ? FRAME_BODY_MAX : FRAME_HOST_BODY_MAX);
		for (size_t at = 0; at < size;) {
			size_t step = vectors_random(&random) % 200 + 1;

			step = step > size - at ? size - at : step;
			rig_feed(&rig, noise + at, step);
			at += step;
		}
		rig_feed(&rig, wire, length);
		rig_flush(&rig);
		ck_assert_uint_eq(rig.seen.frames, 1);
		ck_assert_uint_eq(rig.seen.last_type, MESSAGE_PING);
		/* Zeros of the frame are among the zeros. */
		accounted = rig.seen.text_size + rig.reader.counters.zeros + length - 2;
		ck_assert_uint_eq(accounted, size + length);
		ck_assert_uint_eq(rig.reader.counters.text_bytes, rig.seen.text_size);
	}
}
END_TEST

START_TEST(a_small_reader_takes_every_host_frame_and_passes_longer_ones_as_text)
{
	static struct rig rig;
	uint8_t body[FRAME_BODY_MAX] = {0}, wire[FRAME_WIRE_SIZE(FRAME_BODY_MAX)];
	size_t length;

	memset(body, 0x55, sizeof(body));
	rig_init(&rig, FRAME_HOST_BODY_MAX);
	length = encode(MESSAGE_ARM, body, FRAME_HOST_BODY_MAX, wire);
	ck_assert_uint_eq(length, FRAME_HOST_WIRE_MAX);
	rig_feed(&rig, wire, length);
	ck_assert_str_eq(rig.seen.pieces, "ARM");

	rig_init(&rig, FRAME_HOST_BODY_MAX);
	length = encode(MESSAGE_DATA, body, FRAME_HOST_BODY_MAX + 1, wire);
	rig_feed(&rig, wire, length);
	ck_assert_uint_eq(rig.seen.frames, 0);
	ck_assert_uint_eq(rig.seen.text_size, length - 2);
	ck_assert_uint_eq(rig.reader.counters.oversize, 1);
	length = encode(MESSAGE_GO, body, 2, wire);
	rig_feed(&rig, wire, length);
	ck_assert_uint_eq(rig.seen.frames, 1);
}
END_TEST

START_TEST(a_flush_gives_a_prompt_out_and_the_next_frame_is_read)
{
	static struct rig rig;
	uint8_t body[2] = {1, 0}, wire[64];
	size_t length = encode(MESSAGE_GO, body, sizeof(body), wire);

	rig_init(&rig, FRAME_BODY_MAX);
	rig_feed(&rig, (const uint8_t *)"=> ", 3);
	ck_assert_uint_eq(rig.reader.used, 3);
	rig_flush(&rig);
	ck_assert_str_eq(rig.seen.pieces, "text:3d3e20");
	ck_assert_uint_eq(rig.reader.counters.abandoned, 0);
	rig_feed(&rig, wire, 6);
	rig_flush(&rig);
	ck_assert_uint_eq(rig.reader.counters.abandoned, 1);
	rig_feed(&rig, wire + 6, length - 6);
	rig_feed(&rig, wire, length);
	ck_assert_uint_eq(rig.seen.frames, 1);
	ck_assert_uint_eq(rig.reader.counters.bad_cobs + rig.reader.counters.bad_crc, 1);
	rig_flush(&rig);
	ck_assert_uint_eq(rig.reader.counters.abandoned, 1);
}
END_TEST

START_TEST(damage_is_counted_for_frames_and_not_for_text)
{
	static struct rig rig;
	uint8_t body[2] = {1, 0}, wire[64], bad[64];
	size_t length = encode(MESSAGE_GO, body, sizeof(body), wire);
	const struct frame_counters *counters = &rig.reader.counters;

	memcpy(bad, wire, length);
	bad[5] ^= 0x40;
	rig_init(&rig, FRAME_BODY_MAX);
	for (int i = 0; i < 3; i++) {
		rig_feed(&rig, wire, length);
		rig_feed(&rig, (const uint8_t *)"text", 4);
	}
	ck_assert_uint_eq(counters->bad_crc + counters->bad_cobs, 0);
	for (int i = 0; i < 3; i++) {
		rig_feed(&rig, bad, length);
		rig_feed(&rig, (const uint8_t *)"text", 4);
	}
	rig_feed(&rig, wire, length);
	ck_assert_uint_eq(counters->bad_crc + counters->bad_cobs, 3);
	ck_assert_uint_eq(rig.seen.frames, 4);
}
END_TEST

START_TEST(a_frame_is_as_long_as_what_came_of_it)
{
	static struct rig rig;
	uint8_t body[2] = {1, 0}, wire[64];
	size_t length = encode(MESSAGE_GO, body, sizeof(body), wire);

	rig_init(&rig, FRAME_BODY_MAX);
	rig_feed(&rig, wire + 1, length - 1);
	ck_assert_uint_eq(rig.seen.frame_wire, length - 1);
	rig_feed(&rig, wire, length);
	ck_assert_uint_eq(rig.seen.frame_wire, length - 1 + length);
	/* After a flush the text has no 00 before it, and neither has the frame. */
	rig_feed(&rig, (const uint8_t *)"text", 4);
	rig_flush(&rig);
	rig_feed(&rig, wire + 1, length - 1);
	ck_assert_uint_eq(rig.seen.frame_wire, 2 * (length - 1) + length);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("frame");
	TCase *tcase = tcase_create("frame");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, crc32c_gives_the_published_values);
	tcase_add_test(tcase, every_frame_vector_is_encoded_byte_for_byte);
	tcase_add_test(tcase, bad_frames_come_out_as_text_and_are_counted);
	tcase_add_test(tcase, text_and_frames_are_told_apart_however_the_line_is_cut);
	tcase_add_test(tcase, bodies_of_every_length_survive_the_line);
	tcase_add_test(tcase, a_frame_cut_anywhere_costs_only_itself);
	tcase_add_test(tcase, a_flipped_bit_never_makes_another_frame);
	tcase_add_test(tcase, text_put_into_a_frame_anywhere_is_never_lost);
	tcase_add_test(tcase, noise_makes_no_frames_and_every_byte_is_accounted_for);
	tcase_add_test(tcase, a_small_reader_takes_every_host_frame_and_passes_longer_ones_as_text);
	tcase_add_test(tcase, a_flush_gives_a_prompt_out_and_the_next_frame_is_read);
	tcase_add_test(tcase, damage_is_counted_for_frames_and_not_for_text);
	tcase_add_test(tcase, a_frame_is_as_long_as_what_came_of_it);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
