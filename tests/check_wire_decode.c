/* SPDX-License-Identifier: Apache-2.0 */
#include <cjson/cJSON.h>
#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "harness/wire_decode.h"
#include "tests/scratch.h"
#include "tests/vboard_rig.h"
#include "tests/vectors.h"

/* What was told, a word an item. */
struct told {
	char words[4096];
	size_t length;
	uint64_t covered; /* bytes of items */
	uint64_t last_offset;
	struct wire_item last;
	struct message last_message;
};

static struct told told;

static void see(void *context, const struct wire_item *item)
{
	struct told *to = context;
	const char *what = item->kind == WIRE_ITEM_TEXT	     ? "text"
			   : item->kind == WIRE_ITEM_DAMAGED ? item->problem
			   : item->problem		     ? item->problem
							     : message_type_name(item->frame.type);

	if (to->length < sizeof(to->words) - 80)
		to->length += (size_t)sprintf(to->words + to->length, "%s%s%s@%llu+%zu",
			to->length ? " " : "", item->is_sent ? ">" : "", what,
			(unsigned long long)item->offset, item->size);
	to->covered += item->size;
	to->last = *item;
	to->last_message = item->message;
}

static struct wire_decoder *begin(void)
{
	static struct wire_decoder decoder;

	memset(&told, 0, sizeof(told));
	wire_decode_init(&decoder, see, &told);
	return &decoder;
}

static size_t make_frame(uint8_t *wire, size_t capacity, const struct message *message)
{
	uint8_t body[FRAME_BODY_MAX];
	int size = message_encode_frame(message, 7, 0xabcd, body, sizeof(body), wire, capacity);

	ck_assert_int_gt(size, 0);
	return (size_t)size;
}

START_TEST(frames_text_and_damage_have_their_offsets)
{
	struct message message = {.type = MESSAGE_PROBE};
	struct wire_decoder *decoder = begin();
	uint8_t line[200];
	size_t size = 0, frame;

	memcpy(line, "one\ntwo\n=> ", 11);
	size = 11;
	frame = make_frame(line + size, sizeof(line) - size, &message);
	ck_assert_uint_eq(frame, 13);
	size += frame;
	frame = make_frame(line + size, sizeof(line) - size, &message);
	line[size + 5] ^= 1;
	size += frame;
	memcpy(line + size, "last", 4);
	size += 4;
	wire_decode_feed(decoder, line, size, false, 1234);
	wire_decode_finish(decoder);
	ck_assert_str_eq(
		told.words, "text@0+4 text@4+4 text@8+3 PROBE@12+11 bad-crc@25+11 text@37+4");
	ck_assert_int_eq(told.last.at_ms, 1234);
	ck_assert_uint_eq(decoder->totals.frames, 1);
	ck_assert_uint_eq(decoder->totals.damaged, 1);
	ck_assert_uint_eq(decoder->totals.text_bytes, 15);
}
END_TEST

START_TEST(directions_do_not_mix)
{
	struct message ping = {.type = MESSAGE_PING, .ping = {.cookie = 5}};
	struct message pong = {.type = MESSAGE_PONG};
	struct wire_decoder *decoder = begin();
	uint8_t sent[100], got[200];
	size_t sent_size = make_frame(sent, sizeof(sent), &ping);
	size_t got_size = make_frame(got, sizeof(got), &pong);

	/* One cut into the other. */
	wire_decode_feed(decoder, got, 10, false, 10);
	wire_decode_feed(decoder, sent, sent_size, true, 20);
	wire_decode_feed(decoder, got + 10, got_size - 10, false, 30);
	wire_decode_finish(decoder);
	ck_assert_uint_eq(decoder->totals.frames, 2);
	ck_assert_uint_eq(decoder->totals.damaged, 0);
	ck_assert_int_eq(strncmp(told.words, ">PING@11+", 9), 0);
	ck_assert_ptr_nonnull(strstr(told.words, " PONG@1+"));
	ck_assert_int_eq(told.last.at_ms, 10);
}
END_TEST

/* A loader is stopped by Ctrl-C and typed to before the first frame. */
START_TEST(what_is_typed_to_a_loader_is_text)
{
	struct message ping = {.type = MESSAGE_PING, .ping = {.cookie = 5}};
	struct wire_decoder *decoder = begin();
	uint8_t sent[100];
	size_t size = make_frame(sent, sizeof(sent), &ping);

	wire_decode_feed(decoder, (const uint8_t *)"\x03\x03printenv\r", 11, true, 0);
	wire_decode_feed(decoder, sent, size, true, 0);
	wire_decode_finish(decoder);
	ck_assert_int_eq(strncmp(told.words, ">text@0+11 >PING@12+", 20), 0);
	ck_assert_uint_eq(decoder->totals.damaged, 0);
}
END_TEST

START_TEST(a_body_that_cannot_be_read_is_named)
{
	static const uint8_t body[3] = {1, 2, 3};
	struct frame frame = {.type = MESSAGE_ARM, .seq = 1, .body = body, .size = sizeof(body)};
	struct wire_decoder *decoder = begin();
	uint8_t wire[100];
	int size = frame_encode(&frame, wire, sizeof(wire));

	wire_decode_feed(decoder, wire, (size_t)size, false, 0);
	frame.type = 0x7f;
	size = frame_encode(&frame, wire, sizeof(wire));
	wire_decode_feed(decoder, wire, (size_t)size, false, 0);
	ck_assert_str_eq(told.words, "bad-message@1+14 unknown-type@17+14");
	ck_assert_uint_eq(decoder->totals.unreadable, 2);
}
END_TEST

START_TEST(fields_are_those_of_the_vectors)
{
	struct vector vector = {.line = 0};
	FILE *file = vectors_open();
	unsigned int types = 0;

	while (vectors_next(file, "frame", &vector)) {
		struct wire_decoder *decoder = begin();
		const char *at = vector.text;
		struct wire_field field;
		char word[100];

		wire_decode_feed(decoder, vector.bytes, vector.size, false, 0);
		ck_assert_uint_eq(decoder->totals.frames, 1);
		types |= 1u << told.last.frame.type;
		for (size_t i = 0; wire_decode_get_field(&told.last_message, i, &field); i++) {
			snprintf(word, sizeof(word), " %s=", field.name);
			at = strstr(at, word);
			ck_assert_msg(at, "line %d: no%s", vector.line, word);
			if (field.is_signed)
				ck_assert_int_eq(strtoll(at + strlen(word), NULL, 10),
					(long long)(int64_t)field.number);
			else if (field.is_number)
				ck_assert_uint_eq(strtoull(at + strlen(word), NULL, 10),
					(unsigned long long)field.number);
			else
				ck_assert_int_eq(
					strncmp(at + strlen(word), field.text, strlen(field.text)),
					0);
			at += strlen(word);
		}
	}
	fclose(file);
	ck_assert_uint_eq(types, (1u << (MESSAGE_BAUDED + 1)) - 2);
}
END_TEST

START_TEST(every_byte_of_any_line_is_accounted_for)
{
	uint64_t random = (uint64_t)_i + 1;
	struct wire_decoder *decoder = begin();
	uint64_t zeros = 0, total = 0;

	for (int piece = 0; piece < 200; piece++) {
		uint8_t bytes[1500];
		size_t size = vectors_random(&random) % sizeof(bytes);
		struct message message = {.type = MESSAGE_PONG};

		if (piece % 3 == 0) {
			size = make_frame(bytes, sizeof(bytes), &message);
			if (piece % 2)
				bytes[vectors_random(&random) % size] ^= 0x10;
		} else {
			for (size_t i = 0; i < size; i++)
				bytes[i] = vectors_random(&random) % 9
						   ? (uint8_t)(0x20 + vectors_random(&random) % 90)
						   : (uint8_t)vectors_random(&random);
		}
		for (size_t i = 0; i < size; i++)
			zeros += bytes[i] == 0;
		total += size;
		wire_decode_feed(decoder, bytes, size, false, 0);
	}
	wire_decode_finish(decoder);
	ck_assert_uint_eq(decoder->totals.bytes, total);
	ck_assert_uint_eq(told.covered + zeros, total);
	ck_assert_uint_gt(decoder->totals.frames, 10);
}
END_TEST

/* The command itself over a file of line ends: as JSON, which is never held as a whole. */
#ifdef __SANITIZE_ADDRESS__ /* whose strstr() measures the whole text each time */
#define LINES 15000
#else
#define LINES 150000
#endif

START_TEST(a_capture_of_many_items_takes_little_memory)
{
	char program[PATH_MAX], command[PATH_MAX + 512], end[64];
	char *capture = malloc(LINES), *text = calloc(1, LINES * 100);
	struct scratch scratch;
	struct rusage usage;
	size_t size, items = 0;
	FILE *out;

	ck_assert(capture && text);
	memset(capture, '\n', LINES);
	scratch_init(&scratch);
	scratch_write(&scratch, "capture", capture, LINES);
	rig_find_program("sameboard", program, sizeof(program));
	snprintf(command, sizeof(command), "%s wire decode --json %s", program,
		scratch_path(&scratch, "capture"));
	out = popen(command, "r");
	ck_assert_ptr_nonnull(out);
	size = fread(text, 1, LINES * 100 - 1, out);
	ck_assert_int_eq(pclose(out), 0);
	scratch_fini(&scratch);
	for (const char *at = text; (at = strstr(at, "\"text\":\"\\\\n\"")); at++)
		items++;
	ck_assert_uint_eq(items, LINES);
	snprintf(end, sizeof(end), "\"text_bytes\": %d}\n", LINES);
	ck_assert_ptr_nonnull(strstr(text + size - 100, end));
	ck_assert_int_eq(getrusage(RUSAGE_CHILDREN, &usage), 0);
#ifndef __SANITIZE_ADDRESS__ /* which keeps what was freed */
	ck_assert_int_lt(usage.ru_maxrss, 48 * 1024);
#endif
	free(capture);
	free(text);
}
END_TEST

START_TEST(a_decoded_line_is_json)
{
	char program[PATH_MAX], command[PATH_MAX + 512], text[4096] = "";
	struct scratch scratch;
	cJSON *json, *items;
	FILE *out;

	for (int is_empty = 0; is_empty < 2; is_empty++) {
		scratch_init(&scratch);
		scratch_write(&scratch, "capture", "a\x1b\xff\0bc\n", is_empty ? 0 : 7);
		rig_find_program("sameboard", program, sizeof(program));
		snprintf(command, sizeof(command), "%s wire decode --json %s", program,
			scratch_path(&scratch, "capture"));
		out = popen(command, "r");
		ck_assert_ptr_nonnull(out);
		memset(text, 0, sizeof(text));
		ck_assert_uint_gt(fread(text, 1, sizeof(text) - 1, out), 0);
		ck_assert_int_eq(pclose(out), 0);
		scratch_fini(&scratch);
		json = cJSON_Parse(text);
		ck_assert_msg(json != NULL, "%s", text);
		items = cJSON_GetObjectItem(json, "items");
		ck_assert_int_eq(cJSON_GetArraySize(items), is_empty ? 0 : 2);
		ck_assert_int_eq((int)cJSON_GetNumberValue(cJSON_GetObjectItem(json, "bytes")),
			is_empty ? 0 : 7);
		cJSON_Delete(json);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("wire_decode");
	TCase *tcase = tcase_create("wire_decode");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tcase, frames_text_and_damage_have_their_offsets);
	tcase_add_test(tcase, directions_do_not_mix);
	tcase_add_test(tcase, what_is_typed_to_a_loader_is_text);
	tcase_add_test(tcase, a_body_that_cannot_be_read_is_named);
	tcase_add_test(tcase, fields_are_those_of_the_vectors);
	tcase_add_loop_test(tcase, every_byte_of_any_line_is_accounted_for, 0, 10);
	tcase_add_test(tcase, a_capture_of_many_items_takes_little_memory);
	tcase_add_test(tcase, a_decoded_line_is_json);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
