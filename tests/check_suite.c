/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/suite.h"
#include "tests/scratch.h"

START_TEST(the_catalogue_is_in_order_with_unique_names)
{
	size_t count;
	const struct catalogue_bench *benches = catalogue_benches(&count);

	ck_assert_uint_eq(count, 38);
	for (size_t i = 0; i < count; i++) {
		ck_assert(i == 0 || benches[i].id > benches[i - 1].id);
		ck_assert_uint_le(benches[i].id, 99);
		ck_assert(benches[i].what && benches[i].what[0]);
		/* Either so many samples or so long. */
		ck_assert((benches[i].n != 0) != (benches[i].duration_ms != 0));
		ck_assert_ptr_eq(catalogue_find(benches[i].name), &benches[i]);
		ck_assert_ptr_eq(catalogue_find_id(benches[i].id), &benches[i]);
	}
	ck_assert_ptr_null(catalogue_find("wake"));
	ck_assert_ptr_null(catalogue_find_id(9));
	ck_assert_str_eq(catalogue_load_name(CATALOGUE_LOAD_CPU), "cpu");
	ck_assert_str_eq(catalogue_load_name((enum catalogue_load)77), "?");
}
END_TEST

START_TEST(what_this_version_measures_is_what_its_agents_have)
{
	static const unsigned ids[] = {0, 1, 2, 3, 4, 5, 7, 8, 10, 11, 12, 13, 20, 21, 22, 30, 31,
		32, 40, 41, 42, 50, 60, 70, 80, 90, 95, 98, 99};
	size_t count, at = 0;
	const struct catalogue_bench *benches = catalogue_benches(&count);

	for (size_t i = 0; i < count; i++) {
		if (benches[i].implemented)
			ck_assert_uint_eq(benches[i].id, ids[at++]);
	}
	ck_assert_uint_eq(at, sizeof(ids) / sizeof(ids[0]));
}
END_TEST

static struct suite *parse(const char *text)
{
	struct suite *suite;
	int result = suite_parse(&suite, "dir/nightly.json", text, strlen(text));

	ck_assert_msg(result == 0, "%s", suite_error(suite));
	return suite;
}

START_TEST(defaults_come_from_the_catalogue_and_both_phases_are_two_windows)
{
	struct suite *suite = parse("{\"systems\": [\"linux\"], \"windows\": ["
				    "{\"bench\": \"wake.cpu\"}, {\"bench\": \"clock.audit\"},"
				    "{\"bench\": \"sem.handoff\", \"load\": \"cpu\"}]}");
	const struct suite_window *windows = suite->windows;

	ck_assert_str_eq(suite->name, "nightly");
	ck_assert_str_eq(suite->description, "");
	ck_assert_uint_eq(suite->boots, 1);
	ck_assert_uint_eq(suite->soak_s, 20);
	ck_assert_uint_eq(suite->primary_count, 0);
	ck_assert_uint_eq(suite->window_count, 4);
	for (int i = 0; i < 2; i++) {
		ck_assert_str_eq(windows[i].name, "wake.cpu");
		ck_assert_uint_eq(windows[i].n, 20000);
		ck_assert_uint_eq(windows[i].period_us, 1000);
		ck_assert_uint_eq(windows[i].settle_ms, 200);
		ck_assert_uint_eq(windows[i].duration_ms, 0);
		ck_assert_uint_eq(windows[i].seed, 1);
		ck_assert_int_eq(windows[i].load, CATALOGUE_LOAD_CPU);
	}
	ck_assert_int_eq(windows[0].phase, SUITE_PHASE_ALIGNED);
	ck_assert_int_eq(windows[1].phase, SUITE_PHASE_ARBITRARY);
	ck_assert_uint_eq(windows[2].n, 0);
	ck_assert_uint_eq(windows[2].duration_ms, 20000);
	ck_assert_int_eq(windows[2].load, CATALOGUE_LOAD_IDLE);
	ck_assert_int_eq(windows[3].load, CATALOGUE_LOAD_CPU);
	ck_assert(!suite_allows_unknown(suite, "temperature"));
	suite_close(suite);
}
END_TEST

START_TEST(everything_that_is_written_is_taken)
{
	struct suite *suite = parse(
		"{\"name\": \"x\", \"description\": \"d\", \"systems\": [\"linux\", \"rt-1.0\"],"
		"\"boots\": 5, \"soak_s\": 0, \"primary\": [\"wake.idle/p99.9\"],"
		"\"allow_unknown\": [\"temperature\", \"soak\"],"
		"\"accept_clock_ppm\": {\"linux\": 41.7, \"x\": -1},"
		"\"windows\": [{\"bench\": \"wake.idle\", \"n\": 7, \"period_us\": 500,"
		"\"load\": \"idle\", \"settle_ms\": 10, \"phase\": \"arbitrary\", \"seed\": 9}]}");

	ck_assert_str_eq(suite->name, "x");
	ck_assert_str_eq(suite->description, "d");
	ck_assert_uint_eq(suite->system_count, 2);
	ck_assert_str_eq(suite->systems[1], "rt-1.0");
	ck_assert_uint_eq(suite->boots, 5);
	ck_assert_uint_eq(suite->soak_s, 0);
	ck_assert_uint_eq(suite->primary_count, 1);
	ck_assert_uint_eq(suite->primary[0].bench->id, 1);
	ck_assert_str_eq(suite->primary[0].statistic, "p99.9");
	ck_assert_str_eq(suite->primary[0].text, "wake.idle/p99.9");
	ck_assert(suite_allows_unknown(suite, "temperature"));
	ck_assert(!suite_allows_unknown(suite, "silence"));
	ck_assert_double_eq(suite_accepted_ppm(suite, "linux"), 41.7);
	ck_assert_double_eq(suite_accepted_ppm(suite, "other"), 0);
	ck_assert_uint_eq(suite->window_count, 1);
	ck_assert_uint_eq(suite->windows[0].n, 7);
	ck_assert_uint_eq(suite->windows[0].period_us, 500);
	ck_assert_uint_eq(suite->windows[0].settle_ms, 10);
	ck_assert_uint_eq(suite->windows[0].seed, 9);
	ck_assert_int_eq(suite->windows[0].phase, SUITE_PHASE_ARBITRARY);
	suite_close(suite);
}
END_TEST

#define S  "{\"systems\": [\"linux\"],\n"
#define W  "\"windows\": [{\"bench\": \"wake.idle\"}]}"
#define SW S "\"windows\": [\n"

/* All that agents of this version have. */
#define KNOWN                                                                                              \
	"\"floor\", \"wake.idle\", \"wake.cpu\", \"wake.cache\", \"wake.ipc\", \"irq.split\", "            \
	"\"wake.period\", \"irq.thread\", \"syscall\", \"mutex.pair\", \"sem.pair\", "                     \
	"\"yield.switch\", \"sem.handoff\", \"sem.handoff.low\", \"mutex.handoff\", "                      \
	"\"thread.create\", \"thread.join\", \"create.join\", \"timer.oneshot\", \"timer.set\", "          \
	"\"clock.audit\", \"pi.bound\", \"malloc\", \"noise\", \"pipeline\", \"containment\", \"price\", " \
	"\"sleep.check\" or \"reference\""

static const struct {
	const char *text, *error;
} bad[] = {
	{"{" W, "f:1: key \"systems\" is missing; expected it in a suite"},
	{S "\"boots\": 1}", "f:1: key \"windows\" is missing; expected it in a suite"},
	{"{\"systems\": [], " W, "f:1: systems: is empty; expected 1 to 32 texts"},
	{"{\"systems\": [\"a b\"], " W,
		"f:1: systems: \"a b\" is no name of a system; expected 1 to 63 letters, digits, "
		"'.', '_' or '-', a letter or digit first"},
	{"{\"systems\": [\"../x\"], " W,
		"f:1: systems: \"../x\" is no name of a system; expected 1 to 63 letters, digits, "
		"'.', '_' or '-', a letter or digit first"},
	{"{\"systems\": [\"a\", \"b\", \"a\"], " W,
		"f:1: systems: \"a\" is named twice; expected each system once"},
	{S "\"boots\": 0, " W,
		"f:2: boots: 0 is out of range; expected an integer from 1 to 1000 boots"},
	{S "\"boot\": 1, " W, "f:2: boot: unknown key; did you mean \"boots\"?"},
	{S "\"windows\": []}", "f:2: windows: is empty; expected 1 to 200 objects"},
	{SW "{}]}", "f:3: windows[0]: key \"bench\" is missing; expected it in a window"},
	{SW "{\"bench\": \"wake.idel\"}]}",
		"f:3: windows[0].bench: benchmark \"wake.idel\" is unknown; did you mean "
		"\"wake.idle\"?"},
	{SW "{\"bench\": \"x\"}]}",
		"f:3: windows[0].bench: benchmark \"x\" is unknown; expected " KNOWN},
	{SW "{\"bench\": \"wake.long\"}]}",
		"f:3: windows[0].bench: benchmark \"wake.long\" is not implemented yet; expected " KNOWN},
	{SW "{\"bench\": \"wake.idle\",\n\"n\": 0}]}",
		"f:4: windows[0].n: 0 is out of range; expected an integer from 1 to 100000 "
		"samples"},
	{SW "{\"bench\": \"wake.idle\",\n\"phase\": \"none\"}]}",
		"f:4: windows[0].phase: \"none\" is unknown; expected \"aligned\", \"arbitrary\" "
		"or \"both\""},
	{SW "{\"bench\": \"wake.cpu\",\n\"load\": \"heavy\"}]}",
		"f:4: windows[0].load: wake.cpu is defined under load cpu; expected \"cpu\", or "
		"another benchmark"},
	{SW "{\"bench\": \"wake.idle\",\n\"duration_ms\": 1000}]}",
		"f:4: windows[0].duration_ms: wake.idle lasts as long as its samples; expected n"},
	{SW "{\"bench\": \"clock.audit\",\n\"n\": 5}]}",
		"f:4: windows[0].n: clock.audit has no number of samples to choose; expected "
		"duration_ms"},
	{SW "{\"bench\": \"clock.audit\",\n\"duration_ms\": 5000}]}",
		"f:4: windows[0].duration_ms: 5000 ms are too short for the clock-audit gate; "
		"expected at least 10000 ms"},
	{SW "{\"bench\": \"price\",\n\"n\": 5}]}",
		"f:4: windows[0].n: price has no number of samples to choose; expected no n"},
	{SW "{\"bench\": \"floor\",\n\"n\": 5}]}",
		"f:4: windows[0].n: floor has no number of samples to choose; expected no n"},
	{SW "{\"bench\": \"sem.handoff\",\n\"period_us\": 500}]}",
		"f:4: windows[0].period_us: sem.handoff has no period; expected no period_us"},
	{SW "{\"bench\": \"sem.handoff\",\n\"phase\": \"both\"}]}",
		"f:4: windows[0].phase: sem.handoff has no phase; expected no phase"},
	{SW "{\"bench\": \"wake.idle\"},\n{\"bench\": \"wake.idle\", \"phase\": \"aligned\"}]}",
		"f:4: windows[1]: the same window as in line 3; expected another benchmark, load, "
		"phase, period, n or seed"},
	{S "\"primary\": [\"wake.cpu\"], " W,
		"f:2: primary: \"wake.cpu\" is no row; expected BENCHMARK/STATISTIC, like "
		"\"wake.cpu/p99\""},
	{S "\"primary\": [\"wake.idle/max\"], " W,
		"f:2: primary: \"wake.idle/max\" has no statistic \"max\"; expected \"p50\", "
		"\"p90\", \"p95\", \"p99\" or \"p99.9\""},
	{S "\"primary\": [\"wake.cpu/p99\"], " W,
		"f:2: primary: \"wake.cpu\" is measured by no window; expected a benchmark of "
		"\"windows\""},
	{S "\"primary\": [\"wake.cpo/p99\"], " W,
		"f:2: primary: benchmark \"wake.cpo\" is unknown; did you mean \"wake.cpu\"?"},
	{S "\"primary\": [\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\"], " W,
		"f:2: primary: has 7 texts; expected 0 to 6"},
	{S "\"allow_unknown\": [\"silense\"], " W,
		"f:2: allow_unknown: gate \"silense\" is unknown; did you mean \"silence\"?"},
	{S "\"accept_clock_ppm\": {\"linux\": \"1\"}, " W,
		"f:2: accept_clock_ppm.linux: is a text; expected a number from -100000 to 100000 "
		"ppm"},
};

START_TEST(every_mistake_in_a_suite_is_named)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct suite *suite;
		int result = suite_parse(&suite, "f", bad[i].text, strlen(bad[i].text));

		ck_assert_str_eq(suite_error(suite), bad[i].error);
		ck_assert_int_eq(result, -EINVAL);
		suite_close(suite);
	}
}
END_TEST

START_TEST(the_suites_that_are_shipped_can_be_read)
{
	static const char *const names[] = {"demo", "smoke", "core"};

	/* The test lies one folder deeper than the program. */
	setenv("SAMEBOARD_SUITES", "harness/suites", 1);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct suite *suite;
		int result = suite_open(&suite, names[i]);

		ck_assert_msg(result == 0, "%s", suite_error(suite));
		ck_assert_str_eq(suite->name, names[i]);
		ck_assert(suite->description[0]);
		suite_close(suite);
	}
}
END_TEST

START_TEST(a_suite_is_found_by_name_or_the_error_says_what_there_is)
{
	static const char text[] = S W;
	struct scratch scratch;
	struct suite *suite;
	char expected[512];

	scratch_init(&scratch);
	scratch_write(&scratch, "mine.json", text, sizeof(text) - 1);
	setenv("SAMEBOARD_SUITES", scratch.dir, 1);
	ck_assert_int_eq(suite_open(&suite, "mine"), 0);
	ck_assert_str_eq(suite->name, "mine");
	suite_close(suite);
	ck_assert_int_eq(suite_open(&suite, scratch_path(&scratch, "mine.json")), 0);
	suite_close(suite);
	ck_assert_int_eq(suite_open(&suite, "mien"), -ENOENT);
	ck_assert_str_eq(suite_error(suite), "there is no suite \"mien\"; did you mean \"mine\"?");
	suite_close(suite);
	ck_assert_int_eq(suite_open(&suite, "zzzzzz"), -ENOENT);
	ck_assert_ptr_nonnull(strstr(suite_error(suite),
		"there is no suite \"zzzzzz\"; expected \"mine\", or the path"));
	suite_close(suite);
	scratch_path(&scratch, "none.json");
	ck_assert_int_eq(suite_open(&suite, scratch.path), -ENOENT);
	snprintf(expected, sizeof(expected), "%s: cannot be read: No such file or directory",
		scratch.path);
	ck_assert_str_eq(suite_error(suite), expected);
	suite_close(suite);
	suite_close(NULL);
	scratch_fini(&scratch);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("suite");
	TCase *tcase = tcase_create("suite");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, the_catalogue_is_in_order_with_unique_names);
	tcase_add_test(tcase, what_this_version_measures_is_what_its_agents_have);
	tcase_add_test(tcase, defaults_come_from_the_catalogue_and_both_phases_are_two_windows);
	tcase_add_test(tcase, everything_that_is_written_is_taken);
	tcase_add_test(tcase, every_mistake_in_a_suite_is_named);
	tcase_add_test(tcase, the_suites_that_are_shipped_can_be_read);
	tcase_add_test(tcase, a_suite_is_found_by_name_or_the_error_says_what_there_is);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
