/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Release grids, saturating series and the window's own bookkeeping, with
 * every lateness chosen by the test.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "agents/core/grid.h"
#include "agents/core/text.h"
#include "protocol/series.h"
#include "tests/agent_script.h"

/* ---------------------------------------------------------------- grid */

static const struct {
	uint64_t first;
	uint32_t period_us;
	uint64_t rate_hz;
	uint64_t index;
	uint64_t release;
} releases[] = {
	{0, 1000, 24000000, 0, 0},
	{0, 1000, 24000000, 20000, 480000000},
	{5, 1000, 10000000, 3, 30005},
	/* 333 us at 10 MHz is whole; 1 us at 1.5 MHz is 1.5 counts. */
	{0, 1, 1500000, 1, 1},
	{0, 1, 1500000, 2, 3},
	{0, 1, 1500000, 1000001, 1500001},
	{0, 1000, 2095987952, 1000000, 2095987952000},
	/* Across the borders of 32 and 64 bits. */
	{0xfffffff0, 1000, 24000000, 1, 0x100005db0},
	{UINT64_MAX - 23999, 1000, 24000000, 1, 0},
	{UINT64_MAX - 23999, 1000, 24000000, 3, 48000},
	{UINT64_MAX, 10000000, 4000000000, 1, 39999999999},
};

START_TEST(releases_lie_on_the_grid)
{
	struct grid grid;
	uint64_t release = 0;

	grid_init(&grid, releases[_i].first, releases[_i].period_us, releases[_i].rate_hz);
	for (uint64_t i = 0; i <= releases[_i].index; i++)
		release = grid_next(&grid, releases[_i].first - 1);
	ck_assert_uint_eq(release, releases[_i].release);
}
END_TEST

static const struct {
	uint64_t release;
	uint64_t stamp;
	int64_t lateness;
	uint32_t missed;
	uint32_t early;
} judgements[] = {
	{1000, 1000, 0, 0, 0},
	{1000, 1001, 1, 0, 0},
	{1000, 999, -1, 0, 1},
	{1000, 24999, 23999, 0, 0},
	{1000, 25000, 24000, 1, 0},
	{UINT64_MAX, 9, 10, 0, 0},
	{5, UINT64_MAX, -6, 0, 1},
	{UINT64_MAX - 5, 30000, 30006, 1, 0},
	{0xffffffff, 0x100000000, 1, 0, 0},
};

START_TEST(lateness_is_judged_across_a_wrap)
{
	struct grid grid;

	grid_init(&grid, 0, 1000, 24000000);
	ck_assert_int_eq(grid_judge(&grid, judgements[_i].release, judgements[_i].stamp),
		judgements[_i].lateness);
	ck_assert_uint_eq(grid.missed, judgements[_i].missed);
	ck_assert_uint_eq(grid.early, judgements[_i].early);
}
END_TEST

START_TEST(a_fractional_period_is_missed_only_when_it_has_passed)
{
	struct grid grid;

	/* 1.5 counts: one count late is not a whole period late, two are. */
	grid_init(&grid, 0, 1, 1500000);
	grid_judge(&grid, 10, 11);
	ck_assert_uint_eq(grid.missed, 0);
	grid_judge(&grid, 10, 12);
	ck_assert_uint_eq(grid.missed, 1);
}
END_TEST

START_TEST(a_phase_depends_on_the_seed_alone_and_stays_below_the_period)
{
	uint32_t different = 0;

	ck_assert_uint_eq(grid_phase(7, 0), 0);
	for (uint32_t seed = 0; seed < 1000; seed++) {
		uint64_t phase = grid_phase(seed, 24000);

		ck_assert_uint_lt(phase, 24000);
		ck_assert_uint_eq(phase, grid_phase(seed, 24000));
		different += phase != grid_phase(seed + 1, 24000);
	}
	ck_assert_uint_gt(different, 990);
}
END_TEST

/* ---------------------------------------------------------------- series */

START_TEST(values_saturate_and_are_counted)
{
	static const struct {
		int64_t value;
		int32_t stored;
		uint32_t clipped;
	} cases[] = {
		{0, 0, 0},
		{INT32_MAX, INT32_MAX, 0},
		{(int64_t)INT32_MAX + 1, INT32_MAX, 1},
		{INT32_MIN, INT32_MIN, 1},
		{(int64_t)INT32_MIN - 1, INT32_MIN, 2},
		{INT64_MAX, INT32_MAX, 3},
		{INT64_MIN, INT32_MIN, 4},
	};
	int32_t data[7] = {0};
	struct window_series series = {.capacity = 7, .data = data};

	for (size_t i = 0; i < 7; i++) {
		window_store_counts(&series, cases[i].value);
		ck_assert_int_eq(data[i], cases[i].stored);
		ck_assert_uint_eq(series.clipped, cases[i].clipped);
	}
	window_store_counts(&series, INT64_MAX);
	ck_assert_uint_eq(series.count, 7);
	ck_assert_uint_eq(series.clipped, 4);
}
END_TEST

START_TEST(the_arena_is_aligned_and_ends)
{
	_Alignas(64) uint8_t memory[256];
	struct arena arena = {.base = memory + 1, .size = 255};
	uint8_t *first;

	memset(memory, 0xee, sizeof(memory));
	first = arena_take(&arena, 10);
	ck_assert_ptr_eq(first, memory + 64);
	ck_assert_uint_eq(first[0] | first[9], 0);
	ck_assert_uint_eq(first[10], 0xee);
	ck_assert_ptr_eq(arena_take(&arena, 128), memory + 128);
	ck_assert_ptr_null(arena_take(&arena, 1));
	ck_assert_ptr_null(arena_take(&arena, SIZE_MAX));
}
END_TEST

START_TEST(text_has_a_line_for_each_key_with_its_value)
{
	static const char wanted[] = "missed=0\nearly=18446744073709551615\nlast=7\na=b c\nd=\n";
	char data[128];
	struct text text;

	text_init(&text, data, sizeof(data));
	text_put_u64s(&text, "missed early last", (const uint64_t[]){0, UINT64_MAX, 7});
	text_put_lines(&text, "a=b c\nd=\n");
	ck_assert_uint_eq(text.size, sizeof(wanted) - 1);
	ck_assert_mem_eq(data, wanted, sizeof(wanted) - 1);
	/* As far as whole lines go. */
	text_init(&text, data, 15);
	text_put_u64s(&text, "missed early last", (const uint64_t[]){0, 12345, 7});
	ck_assert(text.truncated);
	ck_assert_uint_eq(text.size, 9);
}
END_TEST

START_TEST(text_drops_whole_lines_that_do_not_fit)
{
	char data[24];
	struct text text;

	text_init(&text, data, sizeof(data));
	text_put_u64(&text, "a", UINT64_MAX); /* 23 bytes */
	ck_assert_uint_eq(text.size, 23);
	ck_assert(!text.truncated);
	text_put(&text, "b", "");
	ck_assert(text.truncated);
	ck_assert_uint_eq(text.size, 23);
	text_init(&text, data, sizeof(data));
	text_put_i64(&text, "m", INT64_MIN);
	ck_assert_mem_eq(data, "m=-9223372036854775808\n", 23);
	text_init(&text, data, sizeof(data));
	text_put(&text, "k", "a\nb\tc");
	ck_assert_mem_eq(data, "k=a b c\n", 8);
	text_init(&text, data, sizeof(data));
	text_append_hex(&text, 0);
	text_append_hex(&text, 0xe3069283);
	ck_assert_mem_eq(data, "0e3069283", 9);
}
END_TEST

/* ---------------------------------------------------------------- windows */

struct view {
	struct series_entry entries[WINDOW_SERIES_MAX];
	size_t count;
	char counters[WINDOW_COUNTERS_SIZE + 1];
	_Alignas(8) uint8_t data[WINDOW_SERIES_MAX][16384];
};

static struct view view;

static void arm_and_go(const struct message_arm *arm)
{
	struct message message = {.type = MESSAGE_ARM};

	message.arm = *arm;
	script_session();
	script_send(&message);
	script_go(arm->window);
}

static void keep_script(const struct message_arm *arm)
{
	const int64_t *lateness = script.lateness;
	size_t lateness_count = script.lateness_count;

	script_reset();
	script.lateness = lateness;
	script.lateness_count = lateness_count;
	arm_and_go(arm);
}

/* A script cannot know sizes beforehand: it runs for the index' size, for the index, for the rest.
 */
static void run_window(const struct message_arm *arm)
{
	struct series_iterator iterator;
	uint8_t index[2048];
	uint32_t size;

	memset(&view, 0, sizeof(view));
	keep_script(arm);
	script_run();
	size = script_answer(3, MESSAGE_DONE)->message.done.index_size;
	keep_script(arm);
	script_read(arm->window, 0, 0, size);
	script_run();
	ck_assert_uint_eq(script_collect(arm->window, 0, index, sizeof(index)), size);
	series_iterator_init(&iterator, index, size);
	while (series_iterator_next(&iterator, &view.entries[view.count]) > 0)
		view.count++;
	keep_script(arm);
	for (size_t i = 0; i < view.count; i++) {
		/* window_counts=, the last line, may be shorter in another run. */
		bool is_text = view.entries[i].kind == SERIES_KIND_TEXT;

		if (view.entries[i].bytes)
			script_read(arm->window, view.entries[i].id, 0,
				view.entries[i].bytes - (is_text ? 40 : 0));
	}
	script_run();
	for (size_t i = 0; i < view.count; i++) {
		script_collect(arm->window, view.entries[i].id, view.data[i], sizeof(view.data[i]));
		if (view.entries[i].kind == SERIES_KIND_TEXT)
			memcpy(view.counters, view.data[i], WINDOW_COUNTERS_SIZE);
	}
}

static const struct series_entry *find_entry(const char *name, const int32_t **counts)
{
	for (size_t i = 0; i < view.count; i++) {
		if (strcmp(view.entries[i].name, name) == 0) {
			*counts = (const int32_t *)(const void *)view.data[i];
			return &view.entries[i];
		}
	}
	ck_abort_msg("no series %s", name);
}

static void expect_counter(const char *line)
{
	ck_assert_msg(strstr(view.counters, line), "no %s in\n%s", line, view.counters);
}

START_TEST(each_release_gets_a_sample_and_late_ones_run_back_to_back)
{
	/* A stall of 3.5 ms at the fourth release of each ten, then caught up. */
	static const int64_t lateness[] = {
		100, 200, 300, 3500000, 2500000, 1500000, 500000, 100, -5, 400};
	const struct message_arm arm = {.window = 1, .bench = 1, .n = 50, .period_us = 1000};
	const struct series_entry *entry;
	const int32_t *counts;

	script.lateness = lateness;
	script.lateness_count = 10;
	run_window(&arm);
	entry = find_entry("cold", &counts);
	ck_assert_uint_eq(entry->count, 10);
	entry = find_entry("latency", &counts);
	ck_assert_uint_eq(entry->count, 50);
	ck_assert_uint_eq(entry->clipped, 0);
	for (uint32_t i = 0; i < 50; i++)
		ck_assert_int_eq(counts[i], lateness[i % 10]);
	expect_counter("\nmissed=15\n");
	expect_counter("\nearly=5\n");
	/* Of each ten, the three after the stall had passed when their turn came. */
	expect_counter("\nback_to_back=15\n");
	expect_counter("\ncold_missed=3\n");
	expect_counter("\nbracket_counts=3\n");
	expect_counter("\nperiod_counts=1000000\n");
}
END_TEST

START_TEST(a_clipped_lateness_is_told)
{
	static const int64_t lateness[] = {3000000000, -3000000000, 0, 0, 0};
	const struct message_arm arm = {.window = 1, .bench = 1, .n = 5, .period_us = 1000};
	const struct series_entry *entry;
	const int32_t *counts;

	script.lateness = lateness;
	script.lateness_count = 5;
	run_window(&arm);
	entry = find_entry("latency", &counts);
	ck_assert_uint_eq(entry->clipped, 2);
	/* The one cold release took the first lateness. */
	ck_assert_int_eq(counts[0], INT32_MIN);
	ck_assert_int_eq(counts[4], INT32_MAX);
}
END_TEST

START_TEST(an_arbitrary_phase_moves_the_whole_grid)
{
	struct message_arm arm = {.window = 1,
		.bench = 1,
		.n = 5,
		.period_us = 1000,
		.seed = 9,
		.flags = MESSAGE_ARM_ARBITRARY_PHASE};
	char line[64];
	struct text text;

	run_window(&arm);
	text_init(&text, line, sizeof(line) - 1);
	text_append(&text, "phase_counts=");
	text_append_u64(&text, grid_phase(9, 1000000));
	line[text.size] = '\0';
	expect_counter(line);
	expect_counter("\nphase=arbitrary\n");
	expect_counter("\nseed=9\n");
}
END_TEST

START_TEST(warm_up_is_a_fifth_but_at_most_a_thousand)
{
	static const struct {
		uint32_t n;
		uint32_t cold;
	} cases[] = {{1, 0}, {4, 0}, {5, 1}, {2000, 400}, {5000, 1000}, {20000, 1000}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct window window = {.plan.n = cases[i].n};

		ck_assert_uint_eq(window_cold_count(&window), cases[i].cold);
	}
}
END_TEST

START_TEST(every_window_has_its_two_floors)
{
	const struct message_arm arm = {.window = 1, .bench = 0, .n = 20};
	const int32_t *counts;

	run_window(&arm);
	ck_assert_uint_eq(find_entry("floor.before", &counts)->count, WINDOW_FLOOR_SAMPLES);
	ck_assert_uint_eq(find_entry("floor.after", &counts)->count, WINDOW_FLOOR_SAMPLES);
	ck_assert_uint_eq(find_entry("floor", &counts)->count, 20);
	ck_assert_uint_eq(find_entry("counters", &counts)->kind, SERIES_KIND_TEXT);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent_window");
	TCase *grid = tcase_create("grid");
	TCase *series = tcase_create("series");
	TCase *windows = tcase_create("windows");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(
		grid, releases_lie_on_the_grid, 0, (int)(sizeof(releases) / sizeof(releases[0])));
	tcase_add_loop_test(grid, lateness_is_judged_across_a_wrap, 0,
		(int)(sizeof(judgements) / sizeof(judgements[0])));
	tcase_add_test(grid, a_fractional_period_is_missed_only_when_it_has_passed);
	tcase_add_test(grid, a_phase_depends_on_the_seed_alone_and_stays_below_the_period);
	suite_add_tcase(suite, grid);
	tcase_add_test(series, values_saturate_and_are_counted);
	tcase_add_test(series, the_arena_is_aligned_and_ends);
	tcase_add_test(series, text_has_a_line_for_each_key_with_its_value);
	tcase_add_test(series, text_drops_whole_lines_that_do_not_fit);
	suite_add_tcase(suite, series);
	tcase_add_checked_fixture(windows, script_reset, NULL);
	tcase_add_test(windows, each_release_gets_a_sample_and_late_ones_run_back_to_back);
	tcase_add_test(windows, a_clipped_lateness_is_told);
	tcase_add_test(windows, an_arbitrary_phase_moves_the_whole_grid);
	tcase_add_test(windows, warm_up_is_a_fifth_but_at_most_a_thousand);
	tcase_add_test(windows, every_window_has_its_two_floors);
	suite_add_tcase(suite, windows);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
