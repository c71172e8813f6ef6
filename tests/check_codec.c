/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/codec.h"
#include "tests/samples.h"
#include "tests/vectors.h"

#define VALUES_MAX 4096u
#define BYTES_MAX  (16 + 48 * VALUES_MAX)

/* Check writes something for every assertion: too slow in an inner loop. */
#define EXPECT(condition) ((condition) ? (void)0 : ck_abort_msg("not so: %s", #condition))

static int32_t values[VALUES_MAX];
static int32_t decoded[VALUES_MAX];
static uint8_t bytes[BYTES_MAX];
static uint8_t pieces[BYTES_MAX];

/* ----------------------------------------------------------------- vectors */

static size_t parse_values(const char *text, int32_t *base)
{
	const char *at = strstr(text, "values=");
	size_t count = 0;

	ck_assert_ptr_nonnull(at);
	ck_assert_int_eq(sscanf(text, "base=%d", base), 1);
	for (at += strlen("values="); *at;) {
		char *end;
		long value = strtol(at, &end, 10);

		if (end == at)
			break;
		ck_assert_uint_lt(count, VALUES_MAX);
		values[count++] = (int32_t)value;
		at = *end == ',' ? end + 1 : end;
	}
	return count;
}

START_TEST(every_vector_is_encoded_and_decoded_byte_for_byte)
{
	struct vector vector = {.line = 0};
	FILE *file = vectors_open();
	int seen = 0;

	while (vectors_next(file, "coded", &vector)) {
		int32_t base = 0;
		size_t count = parse_values(vector.text, &base);
		size_t size = samples_encode(values, count, base, bytes);
		uint32_t offset;

		ck_assert_msg(size == vector.size && memcmp(bytes, vector.bytes, size) == 0,
			"vectors.txt:%d: encoded to other bytes", vector.line);
		ck_assert_int_eq(
			samples_decode(vector.bytes, size, decoded, count, &offset), (int)count);
		ck_assert_int_eq(memcmp(decoded, values, count * sizeof(*values)), 0);
		ck_assert_uint_eq(offset, size);
		seen++;
	}
	ck_assert_int_ge(seen, 16);
	fclose(file);
}
END_TEST

START_TEST(every_bad_vector_is_refused)
{
	struct vector vector = {.line = 0};
	FILE *file = vectors_open();
	int seen = 0;

	while (vectors_next(file, "bad-coded", &vector)) {
		uint32_t offset;
		unsigned int count;

		ck_assert_int_eq(sscanf(vector.text, "count=%u", &count), 1);
		ck_assert_uint_le(count, VALUES_MAX);
		ck_assert_msg(samples_decode(vector.bytes, vector.size, decoded, count, &offset) ==
				      WIRE_ERROR_BAD_MESSAGE,
			"vectors.txt:%d: accepted", vector.line);
		ck_assert_uint_le(offset, vector.size);
		seen++;
	}
	ck_assert_int_ge(seen, 8);
	fclose(file);
}
END_TEST

/* ------------------------------------------------------------ kinds of data */

static uint64_t seed;

static int32_t make_extreme(size_t i)
{
	static const int32_t extremes[] = {INT32_MIN, INT32_MAX, 0, -1, 1, INT32_MIN + 1};

	return extremes[i % 6];
}

static int32_t make_random(size_t i)
{
	(void)i;
	return (int32_t)vectors_random(&seed);
}

/* Of every length of a number. */
static int32_t make_scaled(size_t i)
{
	return (int32_t)(vectors_random(&seed) >> i % 32);
}

static int32_t make_constant(size_t i)
{
	(void)i;
	return -77;
}

static int32_t make_ramp(size_t i)
{
	return (int32_t)i * 1000 - 2000000;
}

static int32_t make_rare_late(size_t i)
{
	return i % 500 == 499 ? 13000000 : 200 + (int32_t)(vectors_random(&seed) % 50);
}

static int32_t make_early(size_t i)
{
	return (int32_t)(vectors_random(&seed) % 9) - 4 + (i == 700 ? -24000 : 0);
}

/* Costs the most: what has become certain changes. */
static int32_t make_turns(size_t i)
{
	return i / 70 % 2 ? INT32_MAX : INT32_MIN + (int32_t)(i % 2);
}

static const struct kind {
	const char *name;
	int32_t (*make)(size_t i);
	double bits_max; /* a value, at 4096 values */
} kinds[] = {
	{"extremes", make_extreme, 32},
	{"random", make_random, 33},
	{"scaled", make_scaled, 27.5},
	{"constant", make_constant, 0.05},
	{"ramp", make_ramp, 21.5},
	{"rare late ones", make_rare_late, 6.3},
	{"one early", make_early, 4},
	{"turns", make_turns, 33},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void make_values(const struct kind *kind)
{
	seed = 7;
	for (size_t i = 0; i < VALUES_MAX; i++)
		values[i] = kind->make(i);
}

START_TEST(every_kind_of_data_comes_back_whatever_the_base)
{
	const struct kind *kind = &kinds[_i];
	const size_t counts[] = {0, 1, 2, 3, 100, VALUES_MAX};

	make_values(kind);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		int32_t bases[] = {0, INT32_MIN, INT32_MAX, -1, codec_find_base(values, counts[i])};

		for (size_t b = 0; b < sizeof(bases) / sizeof(bases[0]); b++) {
			size_t size = samples_encode(values, counts[i], bases[b], bytes);
			uint32_t offset;
			int got;

			ck_assert_uint_le(size, samples_bound(counts[i]));
			memset(decoded, 0x55, sizeof(decoded));
			got = samples_decode(bytes, size, decoded, counts[i], &offset);
			ck_assert_msg(got == (int)counts[i] &&
					      memcmp(decoded, values, counts[i] * 4) == 0,
				"%s, %zu values, base %d", kind->name, counts[i], bases[b]);
			ck_assert_uint_eq(offset, size);
		}
	}
}
END_TEST

START_TEST(no_kind_of_data_costs_more_than_it_is_worth)
{
	const struct kind *kind = &kinds[_i];
	size_t size;
	double bits;

	make_values(kind);
	size = samples_encode(values, VALUES_MAX, codec_find_base(values, VALUES_MAX), bytes);
	bits = 8.0 * (double)size / VALUES_MAX;
	ck_assert_msg(bits <= kind->bits_max, "%s: %.3f bits a value", kind->name, bits);
}
END_TEST

/* ------------------------------------------------------------------ pieces */

static size_t piece(uint64_t *state, size_t left, size_t largest)
{
	size_t size = vectors_random(state) % (largest + 1);

	return size < left ? size : left;
}

static size_t encode_in_pieces(size_t count, size_t largest, uint64_t *state)
{
	struct codec_encoder encoder;
	struct codec_model model;
	size_t taken = 0;
	size_t size = 0;

	codec_encoder_init(&encoder, &model, codec_find_base(values, count));
	while (taken < count) {
		size_t used;
		size_t room = piece(state, sizeof(pieces) - size, largest);
		size_t put = codec_encode(&encoder, values + taken,
			piece(state, count - taken, largest), &used, pieces + size, room);

		EXPECT(put <= room);
		taken += used;
		size += put;
	}
	while (!encoder.is_ended)
		size += codec_encode_end(
			&encoder, pieces + size, piece(state, sizeof(pieces) - size, largest));
	ck_assert_uint_eq(codec_encode_end(&encoder, pieces + size, 1), 0);
	return size;
}

static size_t decode_in_pieces(size_t size, size_t count, size_t largest, uint64_t *state)
{
	struct codec_decoder decoder;
	struct codec_model model;
	size_t taken = 0;
	size_t got = 0;

	codec_decoder_init(&decoder, &model, (uint32_t)count, (uint32_t)size);
	while (!decoder.is_ended) {
		size_t used;
		size_t room = piece(state, count - got, largest);
		int put = codec_decode(&decoder, bytes + taken, piece(state, size - taken, largest),
			&used, decoded + got, room);

		EXPECT(put >= 0);
		EXPECT((size_t)put <= room);
		taken += used;
		got += (size_t)put;
		EXPECT(decoder.offset == taken);
	}
	ck_assert_uint_eq(taken, size);
	return got;
}

START_TEST(how_the_series_is_cut_changes_nothing)
{
	const size_t largest[] = {1, 2, 7, 100, 5000};
	uint64_t state = 11;
	size_t size;

	make_values(&kinds[_i]);
	size = samples_encode(values, VALUES_MAX, codec_find_base(values, VALUES_MAX), bytes);
	for (size_t i = 0; i < sizeof(largest) / sizeof(largest[0]); i++) {
		ck_assert_uint_eq(encode_in_pieces(VALUES_MAX, largest[i], &state), size);
		ck_assert_int_eq(memcmp(pieces, bytes, size), 0);
		memset(decoded, 0x55, sizeof(decoded));
		ck_assert_uint_eq(
			decode_in_pieces(size, VALUES_MAX, largest[i], &state), VALUES_MAX);
		ck_assert_int_eq(memcmp(decoded, values, sizeof(values)), 0);
	}
}
END_TEST

/* ------------------------------------------------------------------ damage */

/* An error, or other data: never the same. */
static void expect_other(const uint8_t *stream, size_t size, size_t count)
{
	uint32_t offset;
	uint8_t *copy = malloc(size + 1); /* so that a sanitizer sees what is read behind it */
	int got;

	memcpy(copy, stream, size);
	copy = realloc(copy, size ? size : 1);
	got = samples_decode(copy, size, decoded, count, &offset);
	free(copy);
	EXPECT(offset <= size);
	EXPECT(got == WIRE_ERROR_BAD_MESSAGE || got == (int)count);
	EXPECT(got < 0 || memcmp(decoded, values, count * sizeof(*values)) != 0);
}

START_TEST(truncations_and_flipped_bits_never_give_the_same_data)
{
	const size_t count = 60;
	size_t size;

	make_values(&kinds[_i]);
	size = samples_encode(values, count, codec_find_base(values, count), bytes);
	for (size_t cut = 0; cut < size; cut++)
		expect_other(bytes, cut, count);
	for (size_t bit = 0; bit < 8 * size; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		expect_other(bytes, size, count);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	for (unsigned int extra = 0; extra < 256; extra++) {
		bytes[size] = (uint8_t)extra;
		expect_other(bytes, size + 1, count);
	}
}
END_TEST

START_TEST(random_bytes_end_with_an_error_or_all_values)
{
	uint64_t state = 3;

	for (int round = 0; round < 1000; round++) {
		size_t size = vectors_random(&state) % 400;
		size_t count = vectors_random(&state) % VALUES_MAX;
		uint32_t offset;
		int got;

		for (size_t i = 0; i < size; i++)
			bytes[i] = (uint8_t)vectors_random(&state);
		got = samples_decode(bytes, size, decoded, count, &offset);
		EXPECT(got == WIRE_ERROR_BAD_MESSAGE || got == (int)count);
		EXPECT(offset <= size);
	}
}
END_TEST

START_TEST(a_decoder_that_has_failed_stays_so)
{
	struct codec_decoder decoder;
	struct codec_model model;
	size_t used;

	make_values(&kinds[1]);
	memset(bytes, 0, 100);
	codec_decoder_init(&decoder, &model, 4, 3);
	ck_assert_int_eq(codec_decode(&decoder, bytes, 3, &used, decoded, 4), -3);
	ck_assert_uint_eq(used, 3);
	ck_assert_int_eq(codec_decode(&decoder, bytes, 100, &used, decoded, 4), -3);
	ck_assert_uint_eq(used, 0);
	ck_assert(!decoder.is_ended);
}
END_TEST

START_TEST(what_is_kept_is_as_small_as_promised)
{
	ck_assert_uint_le(sizeof(struct codec_model), 4096);
	ck_assert_uint_le(sizeof(struct codec_encoder), 256);
	ck_assert_uint_le(sizeof(struct codec_decoder), 128);
	ck_assert_uint_eq(samples_encode(values, 0, 5, bytes), CODEC_EMPTY_SIZE);
}
END_TEST

/* --------------------------------------------------------------- real data */

START_TEST(real_latencies_take_no_more_than_their_entropy)
{
	DIR *directory = opendir("tests/data/latency");
	double entropy_bits = 0;
	double coded_bits = 0;
	struct dirent *entry;
	int seen = 0;

	ck_assert_ptr_nonnull(directory);
	while ((entry = readdir(directory))) {
		struct samples samples;
		char path[512];
		uint8_t *coded;
		double entropy, bits;

		if (!strstr(entry->d_name, ".ns.txt"))
			continue;
		snprintf(path, sizeof(path), "tests/data/latency/%s", entry->d_name);
		ck_assert_msg(
			samples_read(&samples, path, 24000000) == 0, "%s", samples_error(&samples));
		coded = malloc(samples_bound(samples.count));
		entropy = samples_entropy_bits(samples.values, samples.count);
		bits = 8.0 * (double)samples_encode(samples.values, samples.count,
				     codec_find_base(samples.values, samples.count), coded);
		ck_assert_msg(bits <= 1.04 * entropy, "%s: %.4f", path, bits / entropy);
		entropy_bits += entropy;
		coded_bits += bits;
		free(coded);
		samples_free(&samples);
		seen++;
	}
	closedir(directory);
	ck_assert_int_eq(seen, 19);
	ck_assert_msg(coded_bits <= 0.98 * entropy_bits, "total: %.4f", coded_bits / entropy_bits);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("codec");
	TCase *tcase = tcase_create("codec");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, every_vector_is_encoded_and_decoded_byte_for_byte);
	tcase_add_test(tcase, every_bad_vector_is_refused);
	tcase_add_loop_test(tcase, every_kind_of_data_comes_back_whatever_the_base, 0, KINDS);
	tcase_add_loop_test(tcase, no_kind_of_data_costs_more_than_it_is_worth, 0, KINDS);
	tcase_add_loop_test(tcase, how_the_series_is_cut_changes_nothing, 0, KINDS);
	tcase_add_loop_test(tcase, truncations_and_flipped_bits_never_give_the_same_data, 0, KINDS);
	tcase_add_test(tcase, random_bytes_end_with_an_error_or_all_values);
	tcase_add_test(tcase, a_decoder_that_has_failed_stays_so);
	tcase_add_test(tcase, what_is_kept_is_as_small_as_promised);
	tcase_add_test(tcase, real_latencies_take_no_more_than_their_entropy);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
