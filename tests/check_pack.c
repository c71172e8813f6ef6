/* SPDX-License-Identifier: Apache-2.0 */
/* Series packed over their own memory on the target and decoded on the host. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agents/core/pack.h"
#include "harness/decode.h"
#include "tests/vectors.h"

#define VALUES_MAX 5000u
#define GUARD	   0xa5
#define GUARD_SIZE 16

static uint8_t memory[1 << 17];
static struct window window;
static struct arena arena;
static struct codec_model model;
static uint64_t seed;

static void setup(void)
{
	memset(memory, 0, sizeof(memory));
	arena = (struct arena){.base = memory, .size = sizeof(memory)};
	window = (struct window){.arena = &arena};
	seed = 5;
}

static struct series_entry entry_of(const struct window_series *series)
{
	struct series_entry entry = {
		.id = 1,
		.kind = series->kind,
		.encoding = series->encoding,
		.count = series->count,
		.bytes = window_series_size(series),
		.name = "x",
	};

	return entry;
}

/* The guard must stay, and the values must come back. */
static void expect_back(struct window_series *series, const uint8_t *guard, const void *values)
{
	size_t size = series->count * series_kind_size(series->kind);
	struct series_entry entry;
	char error[160] = "";
	void *back;

	pack_series(series, &model, arena.base + arena.used, arena.size - arena.used);
	for (int i = 0; i < GUARD_SIZE; i++)
		ck_assert_uint_eq(guard[i], GUARD);
	entry = entry_of(series);
	ck_assert_uint_le(entry.bytes, size);
	ck_assert_msg(
		decode_series(&entry, series->data, &back, error, sizeof(error)) == 0, "%s", error);
	ck_assert_int_eq(memcmp(back, values, size), 0);
	free(back);
}

static const uint8_t *add_guard_at(uint8_t *guard)
{
	memset(guard, GUARD, GUARD_SIZE);
	return guard;
}

/* Behind what was added last. */
static const uint8_t *add_guard(void)
{
	return add_guard_at(arena_take(&arena, GUARD_SIZE));
}

/* ------------------------------------------------------------------ counts */

static int32_t make_late(uint32_t i)
{
	return 200 + (int32_t)(vectors_random(&seed) % 64) + (i % 700 == 699 ? 100000 : 0);
}

static int32_t make_random(uint32_t i)
{
	(void)i;
	return (int32_t)vectors_random(&seed);
}

static int32_t make_bad_start(uint32_t i)
{
	return i < 400 ? make_random(i) : 3;
}

static int32_t make_constant(uint32_t i)
{
	(void)i;
	return 7;
}

static const struct {
	const char *name;
	int32_t (*make)(uint32_t i);
	uint8_t encoding;
} kinds[] = {
	{"late", make_late, SERIES_ENCODING_CODED},
	{"random", make_random, SERIES_ENCODING_RAW},
	{"bad start", make_bad_start, SERIES_ENCODING_CODED},
	{"constant", make_constant, SERIES_ENCODING_CODED},
};

START_TEST(counts_come_back_from_their_own_memory)
{
	const uint32_t counts[] = {0, 1, 15, 16, 17, 100, VALUES_MAX};

	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
		struct window_series *series;
		int32_t values[VALUES_MAX];
		const uint8_t *guard;

		setup();
		series = window_add_counts(&window, "x", counts[c]);
		guard = add_guard();
		for (uint32_t i = 0; i < counts[c]; i++) {
			values[i] = kinds[_i].make(i);
			window_store_counts(series, values[i]);
		}
		expect_back(series, guard, values);
		if (counts[c] < 16)
			ck_assert_uint_eq(series->encoding, SERIES_ENCODING_RAW);
		if (counts[c] == VALUES_MAX)
			ck_assert_uint_eq(series->encoding, kinds[_i].encoding);
	}
}
END_TEST

START_TEST(what_does_not_fit_into_the_spare_memory_stays_raw)
{
	const size_t code_size = 1 + 4 + 16 * 2; /* about */
	uint32_t packed = 0;

	for (size_t spare = 0; spare < 2 * code_size; spare++) {
		struct window_series *series;
		int32_t values[40];

		setup();
		series = window_add_counts(&window, "x", 40);
		for (uint32_t i = 0; i < 40; i++) {
			values[i] = make_late(i);
			window_store_counts(series, values[i]);
		}
		arena.size = arena.used + spare;
		expect_back(series, add_guard_at(arena.base + arena.size), values);
		if (series->encoding == SERIES_ENCODING_RAW)
			ck_assert_uint_eq(packed, 0);
		else
			packed++;
	}
	ck_assert_uint_gt(packed, 10);
	ck_assert_uint_lt(packed, code_size);
}
END_TEST

/* ------------------------------------------------------------------ stamps */

START_TEST(stamps_come_back_from_their_steps)
{
	const uint64_t firsts[] = {0, 123456789012, UINT64_MAX - 1000};
	struct window_series *series;
	uint64_t values[400];
	const uint8_t *guard;

	setup();
	series = window_add_stamps(&window, "x", 400);
	guard = add_guard();
	for (uint32_t i = 0; i < 400; i++) {
		values[i] = i ? values[i - 1] + 1200000 + vectors_random(&seed) % 3000 : firsts[_i];
		window_store_stamp(series, values[i]);
	}
	expect_back(series, guard, values);
	ck_assert_uint_eq(series->encoding, SERIES_ENCODING_STEPS);
	ck_assert_uint_lt(series->encoded_size, 800);
}
END_TEST

START_TEST(stamps_whose_steps_do_not_fit_stay_raw)
{
	static const struct {
		int64_t step;
		uint8_t encoding;
	} cases[] = {
		{INT32_MAX, SERIES_ENCODING_STEPS},
		{INT32_MIN, SERIES_ENCODING_STEPS},
		{(int64_t)INT32_MAX + 1, SERIES_ENCODING_RAW},
		{(int64_t)INT32_MIN - 1, SERIES_ENCODING_RAW},
		{INT64_MAX, SERIES_ENCODING_RAW},
		{INT64_MIN, SERIES_ENCODING_RAW},
	};
	struct window_series *series;
	uint64_t values[100];
	const uint8_t *guard;

	setup();
	series = window_add_stamps(&window, "x", 100);
	guard = add_guard();
	for (uint32_t i = 0; i < 100; i++) {
		values[i] = 1000 + i + (i > 50 ? (uint64_t)cases[_i].step : 0);
		/* One step of exactly that size. */
		if (i > 50)
			values[i]--;
		window_store_stamp(series, values[i]);
	}
	expect_back(series, guard, values);
	ck_assert_uint_eq(series->encoding, cases[_i].encoding);
}
END_TEST

START_TEST(every_vector_of_steps_is_decoded)
{
	struct vector vector = {.line = 0};
	FILE *file = vectors_open();
	int seen = 0;

	while (vectors_next(file, "steps", &vector)) {
		const char *at = strstr(vector.text, "values=") + strlen("values=");
		struct series_entry entry = {.kind = SERIES_KIND_STAMPS,
			.encoding = SERIES_ENCODING_STEPS,
			.bytes = (uint32_t)vector.size,
			.name = "x"};
		char error[160] = "";
		void *values;
		char *end;

		for (const char *comma = at; comma; comma = strchr(comma + 1, ','))
			entry.count++;
		ck_assert_msg(decode_series(&entry, vector.bytes, &values, error, 160) == 0,
			"vectors.txt:%d: %s", vector.line, error);
		for (uint32_t i = 0; i < entry.count; i++, at = end + 1)
			ck_assert_uint_eq(((uint64_t *)values)[i], strtoull(at, &end, 10));
		free(values);
		seen++;
	}
	ck_assert_int_ge(seen, 5);
	fclose(file);
}
END_TEST

/* ---------------------------------------------------------------- refusals */

static const struct {
	struct series_entry entry;
	int error;
} refused[] = {
	{{.kind = 1, .encoding = 1, .count = 3, .bytes = 0}, -EPROTO},
	{{.kind = 1, .encoding = 1, .count = 3, .bytes = 64}, -EPROTO},
	{{.kind = 1, .encoding = 2, .count = 3, .bytes = 13}, -EPROTO},
	{{.kind = 2, .encoding = 1, .count = 3, .bytes = 13}, -EPROTO},
	{{.kind = 2, .encoding = 2, .count = 0, .bytes = 13}, -EPROTO},
	{{.kind = 2, .encoding = 2, .count = 1, .bytes = 7}, -EPROTO},
	{{.kind = 2, .encoding = 2, .count = 3, .bytes = 8}, -EPROTO},
	{{.kind = 3, .encoding = 1, .count = 3, .bytes = 3}, -EPROTO},
	{{.kind = 1, .encoding = 3, .count = 3, .bytes = 12}, -EPROTO},
	{{.kind = 4, .encoding = 0, .count = 3, .bytes = 3}, -EPROTO},
	{{.kind = 1, .encoding = 0, .count = 3, .bytes = 11}, -EPROTO},
	{{.kind = 1, .encoding = 1, .count = UINT32_MAX, .bytes = 64}, -EMSGSIZE},
	{{.kind = 2, .encoding = 2, .count = UINT32_MAX, .bytes = 64}, -EMSGSIZE},
};

START_TEST(what_cannot_be_is_refused_with_a_reason)
{
	const uint8_t zeros[64] = {0};
	char error[160] = "";
	void *values = memory;

	ck_assert_int_eq(decode_series(&refused[_i].entry, zeros, &values, error, sizeof(error)),
		refused[_i].error);
	ck_assert_ptr_null(values);
	ck_assert_str_ne(error, "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pack");
	TCase *tcase = tcase_create("pack");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tcase, counts_come_back_from_their_own_memory, 0, 4);
	tcase_add_test(tcase, what_does_not_fit_into_the_spare_memory_stays_raw);
	tcase_add_loop_test(tcase, stamps_come_back_from_their_steps, 0, 3);
	tcase_add_loop_test(tcase, stamps_whose_steps_do_not_fit_stay_raw, 0, 6);
	tcase_add_test(tcase, every_vector_of_steps_is_decoded);
	tcase_add_loop_test(tcase, what_cannot_be_is_refused_with_a_reason, 0,
		sizeof(refused) / sizeof(refused[0]));
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
