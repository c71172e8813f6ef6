/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/message.h"
#include "protocol/series.h"
#include "tests/vectors.h"

/* The one frame on the line; body points into chunk. */
static void read_frame(const struct vector *vector, uint8_t *chunk, struct frame *frame)
{
	struct frame_reader reader;
	struct frame_event event = {0};

	frame_reader_init(&reader, chunk, FRAME_CHUNK_SIZE(FRAME_BODY_MAX));
	for (size_t at = 0; at < vector->size;)
		at += frame_reader_feed(&reader, vector->bytes + at, vector->size - at, &event);
	ck_assert_msg(event.kind == FRAME_EVENT_FRAME, "vectors.txt:%d: no frame", vector->line);
	*frame = event.frame;
}

START_TEST(every_vector_decodes_to_its_fields_and_is_encoded_from_them)
{
	struct vector vector = {.line = 0};
	FILE *file = vectors_open();
	bool is_seen[256] = {false};

	while (vectors_next(file, "frame", &vector)) {
		uint8_t chunk[FRAME_CHUNK_SIZE(FRAME_BODY_MAX)], body[FRAME_BODY_MAX];
		uint8_t wire[FRAME_WIRE_SIZE(FRAME_BODY_MAX)];
		static char text[8192];
		struct message message;
		struct frame frame;
		int size;

		read_frame(&vector, chunk, &frame);
		ck_assert_int_eq(message_decode(frame.type, frame.body, frame.size, &message), 0);
		vectors_print_message(&frame, &message, text, sizeof(text));
		ck_assert_str_eq(text, vector.text);
		size = message_encode_frame(
			&message, frame.seq, frame.session, body, sizeof(body), wire, sizeof(wire));
		ck_assert_int_eq(size, (int)vector.size);
		ck_assert_mem_eq(wire, vector.bytes, vector.size);
		for (size_t room = 0; room < frame.size; room++)
			ck_assert_int_eq(message_encode(&message, body, room), WIRE_ERROR_NO_ROOM);
		is_seen[frame.type] = true;
	}
	for (unsigned int type = 0; type < 256; type++)
		ck_assert_msg(is_seen[type] == (message_type_name((uint8_t)type) != NULL),
			"type %u has a vector or a name, not both", type);
	fclose(file);
}
END_TEST

START_TEST(bytes_behind_the_last_known_field_are_ignored)
{
	struct vector vector = {.line = 0};
	FILE *file = vectors_open();
	int count = 0;

	while (vectors_next(file, "grown", &vector)) {
		uint8_t chunk[FRAME_CHUNK_SIZE(FRAME_BODY_MAX)];
		static char text[8192];
		struct message message;
		struct frame frame;

		read_frame(&vector, chunk, &frame);
		ck_assert_int_eq(message_decode(frame.type, frame.body, frame.size, &message), 0);
		vectors_print_message(&frame, &message, text, sizeof(text));
		ck_assert_str_eq(text, vector.text);
		count++;
	}
	ck_assert_int_ge(count, 5);
	fclose(file);
}
END_TEST

static uint8_t type_of(const char *name)
{
	for (unsigned int type = 0; type < 256; type++) {
		const char *known = message_type_name((uint8_t)type);

		if (known && strcmp(known, name) == 0)
			return (uint8_t)type;
	}
	return (uint8_t)strtoul(name, NULL, 16);
}

START_TEST(bad_bodies_are_refused_with_the_error_of_the_vector)
{
	struct vector vector = {.line = 0};
	FILE *file = vectors_open();
	int count = 0;

	while (vectors_next(file, "bad-body", &vector)) {
		uint8_t type = type_of(vector.type);
		struct message message, zeros = {.type = type};
		int err = message_decode(type, vector.bytes, vector.size, &message);

		ck_assert_msg(strcmp(wire_error_name(err), vector.text) == 0, "vectors.txt:%d: %s",
			vector.line, wire_error_name(err));
		ck_assert_mem_eq(&message, &zeros, sizeof(message));
		count++;
	}
	ck_assert_int_ge(count, 20);
	fclose(file);
}
END_TEST

START_TEST(a_body_cut_anywhere_is_refused)
{
	struct vector vector = {.line = 0};
	FILE *file = vectors_open();

	while (vectors_next(file, "frame", &vector)) {
		uint8_t chunk[FRAME_CHUNK_SIZE(FRAME_BODY_MAX)];
		struct message message;
		struct frame frame;

		read_frame(&vector, chunk, &frame);
		for (size_t size = 0; size < frame.size; size++) {
			/* A copy of exactly that size, so that a sanitizer sees overreads. */
			uint8_t *body = malloc(size ? size : 1);

			memcpy(body, frame.body, size);
			ck_assert_int_eq(message_decode(frame.type, body, size, &message),
				WIRE_ERROR_BAD_MESSAGE);
			free(body);
		}
	}
	fclose(file);
}
END_TEST

START_TEST(random_bodies_decode_to_what_encodes_again_or_are_refused)
{
	uint64_t random = 3;
	int good = 0;

	for (int round = 0; round < 100000; round++) {
		uint8_t body[80], again[FRAME_BODY_MAX];
		uint8_t type = (uint8_t)(vectors_random(&random) % 22);
		size_t size = vectors_random(&random) % sizeof(body);
		struct message message;
		int length;

		for (size_t i = 0; i < size; i++)
			body[i] = (uint8_t)(vectors_random(&random) % (round % 3 ? 256 : 40));
		if (message_decode(type, body, size, &message) != 0)
			continue;
		length = message_encode(&message, again, sizeof(again));
		ck_assert_int_ge(length, 0);
		ck_assert_int_le(length, (int)size);
		ck_assert_mem_eq(again, body, (size_t)length);
		good++;
	}
	ck_assert_int_gt(good, 1000);
}
END_TEST

START_TEST(what_is_sent_can_always_be_read)
{
	struct message message = {.type = MESSAGE_ERROR}, back;
	uint8_t body[FRAME_BODY_MAX];
	int size;

	memset(message.error.text, 'x', sizeof(message.error.text));
	message.error.text[1] = '\n';
	size = message_encode(&message, body, sizeof(body));
	ck_assert_int_eq(size, 7 + 1 + 63);
	ck_assert_int_eq(message_decode(MESSAGE_ERROR, body, (size_t)size, &back), 0);
	ck_assert_uint_eq(strlen(back.error.text), 63);
	ck_assert_int_eq(back.error.text[1], '?');

	message = (struct message){.type = MESSAGE_DATA};
	ck_assert_int_eq(message_encode(&message, body, sizeof(body)), WIRE_ERROR_BAD_RANGE);
	message.data.size = MESSAGE_DATA_MAX + 1;
	ck_assert_int_eq(message_encode(&message, body, sizeof(body)), WIRE_ERROR_BAD_RANGE);
	message.type = 0;
	ck_assert_int_eq(message_encode(&message, body, sizeof(body)), WIRE_ERROR_UNKNOWN_TYPE);
	message.type = 200;
	ck_assert_int_eq(message_encode(&message, body, sizeof(body)), WIRE_ERROR_UNKNOWN_TYPE);
}
END_TEST

START_TEST(every_host_frame_fits_in_sixty_bytes)
{
	static const uint8_t types[] = {MESSAGE_SESSION, MESSAGE_PING, MESSAGE_PROBE,
		MESSAGE_CATALOG, MESSAGE_ARM, MESSAGE_GO, MESSAGE_READ, MESSAGE_RELEASE,
		MESSAGE_QUIT};
	/* The table of PROTOCOL.md. */
	static const int on_the_wire[] = {19, 21, 13, 13, 36, 15, 25, 15, 13};

	for (size_t i = 0; i < sizeof(types); i++) {
		struct message message;
		uint8_t body[FRAME_HOST_BODY_MAX], wire[FRAME_HOST_WIRE_MAX];

		memset(&message, 0xff, sizeof(message));
		message.type = types[i];
		ck_assert_int_eq(message_encode_frame(&message, 255, 0xffffffff, body, sizeof(body),
					 wire, sizeof(wire)),
			on_the_wire[i]);
	}
	ck_assert_uint_eq(FRAME_WIRE_SIZE(FRAME_HOST_BODY_MAX), FRAME_HOST_WIRE_MAX);
}
END_TEST

START_TEST(arm_is_equal_only_when_every_field_is)
{
	struct message_arm arm = {1, 2, 3, 4, 5, 6, 7, 8, 9};
	uint8_t body[64];
	struct message message = {.type = MESSAGE_ARM, .arm = arm}, other;
	int size = message_encode(&message, body, sizeof(body));

	ck_assert(message_arm_is_equal(&arm, &message.arm));
	for (int i = 0; i < size; i++) {
		body[i] ^= 1;
		ck_assert_int_eq(message_decode(MESSAGE_ARM, body, (size_t)size, &other), 0);
		ck_assert_msg(!message_arm_is_equal(&arm, &other.arm), "byte %d", i);
		body[i] ^= 1;
	}
}
END_TEST

START_TEST(names_are_those_of_the_document)
{
	ck_assert_str_eq(wire_error_name(0), "ok");
	ck_assert_str_eq(wire_error_name(WIRE_ERROR_NO_SESSION), "no-session");
	ck_assert_str_eq(wire_error_name(WIRE_ERROR_VERSION), "version");
	ck_assert_str_eq(wire_error_name(WIRE_ERROR_NO_ROOM), "no-room");
	ck_assert_str_eq(wire_error_name(WIRE_ERROR_NO_ROOM - 1), "unknown");
	ck_assert_str_eq(wire_error_name(1), "unknown");
	ck_assert_str_eq(message_state_name(MESSAGE_STATE_RUNNING), "running");
	ck_assert_str_eq(message_state_name(4), "unknown");
	ck_assert_ptr_null(message_type_name(0));
	ck_assert_ptr_null(message_type_name(0x16));
}
END_TEST

START_TEST(index_vectors_list_their_series)
{
	struct vector vector = {.line = 0};
	FILE *file = vectors_open();
	int count = 0;

	while (vectors_next(file, "index", &vector)) {
		struct series_iterator iterator;
		struct series_entry entry;
		char text[1024] = "";
		int err;

		series_iterator_init(&iterator, vector.bytes, vector.size);
		while ((err = series_iterator_next(&iterator, &entry)) == 1) {
			char *end = text + strlen(text);

			if (end != text)
				*end++ = ' ';
			vectors_print_entry(&entry, end, 200);
		}
		ck_assert_int_eq(err, 0);
		ck_assert_str_eq(text, vector.text);
		count++;
	}
	ck_assert_int_ge(count, 3);
	fclose(file);
}
END_TEST

START_TEST(index_entries_are_encoded_as_they_are_read)
{
	struct series_entry entry = {7, SERIES_KIND_STAMPS, 0, 3, 1, 24, 0xabcdef01, ""}, back;
	struct series_iterator iterator;
	uint8_t bytes[SERIES_ENTRY_SIZE_MAX];

	for (size_t length = 0; length < MESSAGE_NAME_SIZE; length++) {
		int size;

		memset(entry.name, 0, sizeof(entry.name));
		memset(entry.name, 'n', length);
		size = series_encode_entry(&entry, bytes, sizeof(bytes));
		ck_assert_int_eq(size, (int)(SERIES_ENTRY_FIXED + length));
		series_iterator_init(&iterator, bytes, (size_t)size);
		ck_assert_int_eq(series_iterator_next(&iterator, &back), 1);
		ck_assert_mem_eq(&back, &entry, sizeof(back));
		ck_assert_int_eq(series_iterator_next(&iterator, &back), 0);
		for (int room = 0; room < size; room++)
			ck_assert_int_eq(series_encode_entry(&entry, bytes, (size_t)room),
				WIRE_ERROR_NO_ROOM);
	}
}
END_TEST

START_TEST(a_lying_index_is_refused)
{
	struct vector vector = {.line = 0};
	FILE *file = vectors_open();
	uint64_t random = 11;
	int count = 0;

	while (vectors_next(file, "bad-index", &vector)) {
		uint8_t *bytes = malloc(vector.size);
		struct series_iterator iterator;
		struct series_entry entry;
		int err;

		memcpy(bytes, vector.bytes, vector.size);
		series_iterator_init(&iterator, bytes, vector.size);
		while ((err = series_iterator_next(&iterator, &entry)) == 1)
			;
		ck_assert_msg(
			err == WIRE_ERROR_BAD_MESSAGE, "vectors.txt:%d: %d", vector.line, err);
		free(bytes);
		count++;
	}
	ck_assert_int_ge(count, 9);
	for (int round = 0; round < 20000; round++) {
		size_t size = vectors_random(&random) % 120;
		uint8_t *bytes = malloc(size ? size : 1);
		struct series_iterator iterator;
		struct series_entry entry;
		size_t steps = 0;

		for (size_t i = 0; i < size; i++)
			bytes[i] = (uint8_t)(vectors_random(&random) % 60);
		series_iterator_init(&iterator, bytes, size);
		while (series_iterator_next(&iterator, &entry) == 1)
			steps++;
		ck_assert_uint_le(steps, size / SERIES_ENTRY_FIXED);
		free(bytes);
	}
	fclose(file);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("message");
	TCase *tcase = tcase_create("message");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, every_vector_decodes_to_its_fields_and_is_encoded_from_them);
	tcase_add_test(tcase, bytes_behind_the_last_known_field_are_ignored);
	tcase_add_test(tcase, bad_bodies_are_refused_with_the_error_of_the_vector);
	tcase_add_test(tcase, a_body_cut_anywhere_is_refused);
	tcase_add_test(tcase, random_bodies_decode_to_what_encodes_again_or_are_refused);
	tcase_add_test(tcase, what_is_sent_can_always_be_read);
	tcase_add_test(tcase, every_host_frame_fits_in_sixty_bytes);
	tcase_add_test(tcase, arm_is_equal_only_when_every_field_is);
	tcase_add_test(tcase, names_are_those_of_the_document);
	tcase_add_test(tcase, index_vectors_list_their_series);
	tcase_add_test(tcase, index_entries_are_encoded_as_they_are_read);
	tcase_add_test(tcase, a_lying_index_is_refused);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
