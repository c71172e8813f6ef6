/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/blob.h"
#include "protocol/crc32c.h"
#include "tests/scratch.h"
#include "tests/store_fixture.h"

static struct scratch scratch;
static char path[320];

static void set_up(void)
{
	scratch_init(&scratch);
	strcpy(path, scratch_path(&scratch, "runs.db"));
}

static void tear_down(void)
{
	scratch_fini(&scratch);
}

START_TEST(crc32c_has_the_published_check_values)
{
	unsigned char zeroes[32] = {0};

	ck_assert_uint_eq(blob_crc32c("", 0), 0);
	ck_assert_uint_eq(blob_crc32c("123456789", 9), 0xe3069283);
	ck_assert_uint_eq(blob_crc32c(zeroes, sizeof(zeroes)), 0x8a9136aa); /* RFC 3720 */
}
END_TEST

START_TEST(crc32c_of_long_data_is_that_of_the_wire)
{
	uint8_t bytes[9000];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * i >> 3);
	for (size_t size = 4080; size < 4110; size++)
		ck_assert_uint_eq(blob_crc32c(bytes + size % 7, size),
			crc32c_update(0, bytes + size % 7, size));
	ck_assert_uint_eq(
		blob_crc32c(bytes, sizeof(bytes)), crc32c_update(0, bytes, sizeof(bytes)));
}
END_TEST

START_TEST(every_verdict_has_one_name_and_comes_back_from_it)
{
	static const char *const runs[] = {
		"running", "pass", "fail", "invalid", "lab-failure", "skipped", "interrupted"};
	static const char *const gates[] = {"pass", "fail", "unknown", "not-applicable"};
	enum gate_verdict gate;
	enum verdict verdict;

	for (int i = 0; i < VERDICT_COUNT; i++) {
		ck_assert_str_eq(verdict_name((enum verdict)i), runs[i]);
		ck_assert_int_eq(verdict_parse(runs[i], &verdict), 0);
		ck_assert_int_eq(verdict, i);
	}
	for (int i = 0; i < GATE_VERDICT_COUNT; i++) {
		ck_assert_str_eq(verdict_gate_name((enum gate_verdict)i), gates[i]);
		ck_assert_int_eq(verdict_gate_parse(gates[i], &gate), 0);
		ck_assert_int_eq(gate, i);
	}
	ck_assert_str_eq(verdict_name(VERDICT_COUNT), "?");
	ck_assert_int_eq(verdict_parse("passed", &verdict), -EINVAL);
	ck_assert_int_eq(verdict_gate_parse(NULL, &gate), -EINVAL);
}
END_TEST

START_TEST(a_run_comes_back_as_it_was_stored)
{
	struct store *store = fixture_open(path);
	int64_t job = fixture_job(store, "smoke");
	int64_t id = fixture_run(store, job, "linux", 5);
	struct query_run *run;
	struct query_job *job_row;
	char *manifest;

	ck_assert_int_eq(query_run(store, id, &run), 0);
	ck_assert_int_eq(run->job_id, job);
	ck_assert_str_eq(run->board, "panel1");
	ck_assert_str_eq(run->model, "lichee-rv-86-panel");
	ck_assert_str_eq(run->system, "linux");
	ck_assert_str_eq(run->suite, "smoke");
	ck_assert_str_eq(run->image_version, "1.0");
	ck_assert_str_eq(run->image_file, "test.img");
	ck_assert_str_eq(run->image_sha256, "00ff");
	ck_assert_int_eq(run->boot, 1);
	ck_assert_uint_eq(run->seed, UINT64_MAX);
	ck_assert_int_eq(run->session, 0xfedcba98);
	ck_assert(run->emulated);
	ck_assert_int_eq(run->verdict, VERDICT_RUNNING);
	ck_assert_str_eq(run->reason, "");
	ck_assert_int_eq(run->started_ms, FIXTURE_T0 + 5);
	ck_assert_int_eq(run->ended_ms, 0);
	free(run);
	ck_assert_int_eq(store_set_emulated(store, id, false), 0);
	ck_assert_int_eq(store_set_session(store, id, 7), 0);
	ck_assert_int_eq(
		store_end_run(store, id, VERDICT_INVALID, "soak", FIXTURE_T0 + 9, NULL, 0), 0);
	ck_assert_int_eq(query_run(store, id, &run), 0);
	ck_assert(!run->emulated);
	ck_assert_int_eq(run->session, 7);
	ck_assert_int_eq(run->verdict, VERDICT_INVALID);
	ck_assert_str_eq(run->reason, "soak");
	ck_assert_int_eq(run->ended_ms, FIXTURE_T0 + 9);
	free(run);
	ck_assert_int_eq(query_manifest(store, id, &manifest), 0);
	ck_assert_str_eq(manifest, "{\"system\": \"test\"}");
	free(manifest);
	ck_assert_int_eq(store_end_job(store, job, 1, FIXTURE_T0 + 10), 0);
	ck_assert_int_eq(query_job(store, job, &job_row), 0);
	ck_assert_str_eq(job_row->command, "run test");
	ck_assert_int_eq(job_row->exit_code, 1);
	ck_assert_int_eq(job_row->runs, 1);
	free(job_row);
	store_close(store);
}
END_TEST

START_TEST(samples_of_every_kind_come_back_bit_for_bit)
{
	static const int32_t counts[] = {0, 1, -1, INT32_MAX, INT32_MIN};
	static const uint64_t stamps[] = {0, 1, UINT64_MAX, 0x0123456789abcdef};
	static const char text[] = "ticks=1\nnote=\xc3\xa4\n";
	static const struct store_series series[] = {
		{1, "counts", STORE_SERIES_COUNTS, counts, 5, 3},
		{2, "stamps", STORE_SERIES_STAMPS, stamps, 4, 0},
		{3, "text", STORE_SERIES_TEXT, text, sizeof(text) - 1, 0},
		{4, "empty", STORE_SERIES_COUNTS, NULL, 0, 0},
	};
	static const size_t sizes[] = {sizeof(counts), sizeof(stamps), sizeof(text) - 1, 0};
	const struct store_window window = fixture_window(1);
	struct store *store = fixture_open(path);
	int64_t run = fixture_run(store, fixture_job(store, "s"), "linux", 0);
	struct query_window *windows;
	struct query_series *rows;
	int64_t first;

	ck_assert_int_eq(store_begin_window(store, run, &window), 0);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(store_add_series(store, &series[i]), 0);
	ck_assert_int_eq(store_commit_window(store), 0);
	ck_assert_int_eq(query_windows(store, run, &windows), 1);
	ck_assert_str_eq(windows->name, "wake.idle");
	ck_assert_str_eq(windows->phase, "arbitrary");
	ck_assert_int_eq(windows->seed, UINT32_MAX);
	ck_assert_int_eq(windows->duration_ms, 7);
	ck_assert_int_eq(windows->ended_ms, FIXTURE_T0 + 200);
	ck_assert_int_eq(query_series(store, windows->id, &rows), 4);
	first = rows[0].id;
	for (int i = 0; i < 4; i++) {
		void *data;
		size_t count;

		ck_assert_str_eq(rows[i].name, series[i].name);
		ck_assert_int_eq(rows[i].clipped, (int64_t)series[i].clipped);
		ck_assert_int_eq(
			query_samples(store, rows[i].id, series[i].kind, &data, &count), 0);
		ck_assert_uint_eq(count, series[i].count);
		ck_assert_mem_eq(data, series[i].data ? series[i].data : "", sizes[i]);
		if (series[i].kind == STORE_SERIES_TEXT)
			ck_assert_int_eq(((char *)data)[count], 0);
		free(data);
	}
	free(rows);
	{
		void *data;
		size_t count;

		ck_assert_int_eq(
			query_samples(store, first, STORE_SERIES_STAMPS, &data, &count), -EINVAL);
		ck_assert_ptr_null(data);
		ck_assert_str_eq(store_error(store), "series counts holds counts, not stamps");
		ck_assert_int_eq(query_samples_named(store, windows->id, "nope",
					 STORE_SERIES_STAMPS, &data, &count),
			-ENOENT);
		ck_assert_str_eq(store_error(store), "the window has no series nope");
	}
	free(windows);
	store_close(store);
}
END_TEST

START_TEST(a_window_is_stored_once_and_an_aborted_one_leaves_nothing)
{
	const struct store_window window = fixture_window(3);
	const struct store_metric metric = {"latency", "p99", 4.5, "counts"};
	struct store *store = fixture_open(path);
	int64_t run = fixture_run(store, fixture_job(store, "s"), "linux", 0);
	struct query_event *events;
	struct query_window *windows;

	ck_assert_int_eq(store_begin_window(store, run, &window), 0);
	ck_assert_int_eq(store_add_event(store, run, 1, "state", "armed"), 0);
	store_abort_window(store);
	ck_assert_int_eq(query_windows(store, run, &windows), 0);
	ck_assert_int_eq(query_events(store, run, &events), 0);
	ck_assert_int_eq(fixture_store_window(store, run, 3, 1000), 0);
	ck_assert_int_eq(fixture_store_window(store, run, 3, 10), -EEXIST);
	ck_assert_str_eq(store_error(store), "window 3 of run 1 is stored already");
	fixture_check_window(store, run, 3, 1000);
	ck_assert_int_eq(store_add_metric(store, run, &metric), -EINVAL);
	ck_assert_str_eq(store_error(store), "no window is open");
	ck_assert_int_eq(store_commit_window(store), -EINVAL);
	ck_assert_int_eq(store_end_run(store, run, VERDICT_PASS, NULL, 9, NULL, 0), 0);
	ck_assert_int_eq(fixture_store_window(store, run, 4, 10), -EINVAL);
	ck_assert_str_eq(store_error(store), "run 1 is closed; it takes no more windows");
	ck_assert_int_eq(fixture_store_window(store, 99, 4, 10), -ENOENT);
	store_close(store);
}
END_TEST

START_TEST(metrics_gates_events_and_facts_come_back_with_their_window)
{
	static const struct store_gate gates[] = {
		{"soak", 0, GATE_VERDICT_PASS, "21.5 s up", ">= 20 s"},
		{"silence", 2, GATE_VERDICT_FAIL, "3 bytes", NULL},
	};
	static const char facts_text[] = "a=1\r\nprotection=process=x\nbare\n\nlast=2";
	const struct store_window window = fixture_window(2);
	const int32_t values[] = {1, 2};
	const struct store_series series = {1, "latency", STORE_SERIES_COUNTS, values, 2, 0};
	const struct store_metric metrics[] = {
		{"latency", "p99", 4.5, "counts"}, {NULL, "missed", NAN, NULL}};
	struct store *store = fixture_open(path);
	int64_t run = fixture_run(store, fixture_job(store, "s"), "linux", 0);
	struct query_metric *metric;
	struct query_gate *gate;
	struct query_event *event;
	struct query_fact *fact;

	ck_assert_int_eq(store_add_event(store, run, 10, "state", "power on"), 0);
	ck_assert_int_eq(store_begin_window(store, run, &window), 0);
	ck_assert_int_eq(store_add_series(store, &series), 0);
	ck_assert_int_eq(store_add_metric(store, run, &metrics[0]), 0);
	ck_assert_int_eq(store_add_metric(store, run, &metrics[1]), 0);
	ck_assert_int_eq(store_add_event(store, run, 20, "state", "done"), 0);
	ck_assert_int_eq(store_commit_window(store), 0);
	ck_assert_int_eq(store_set_facts(store, run, facts_text, sizeof(facts_text) - 1), 0);
	ck_assert_int_eq(store_set_fact(store, run, "a", "2"), 0);
	ck_assert_int_eq(store_end_run(store, run, VERDICT_FAIL, "silence", 30, gates, 2), 0);

	ck_assert_int_eq(query_metrics(store, run, &metric), 2);
	ck_assert_str_eq(metric[0].series, "latency");
	ck_assert_double_eq(metric[0].value, 4.5);
	ck_assert_str_eq(metric[1].series, "");
	ck_assert(isnan(metric[1].value));
	ck_assert_int_ne(metric[1].window_id, 0);
	free(metric);
	ck_assert_int_eq(query_gates(store, run, &gate), 2);
	ck_assert_str_eq(gate[0].id, "soak");
	ck_assert_int_eq(gate[0].window, 0);
	ck_assert_int_eq(gate[1].window, 2);
	ck_assert_int_eq(gate[1].verdict, GATE_VERDICT_FAIL);
	ck_assert_str_eq(gate[1].evidence, "3 bytes");
	ck_assert_str_eq(gate[1].threshold, "");
	free(gate);
	ck_assert_int_eq(query_events(store, run, &event), 2);
	ck_assert_int_eq(event[0].window, 0);
	ck_assert_str_eq(event[1].text, "done");
	ck_assert_int_eq(event[1].window, 2);
	free(event);
	ck_assert_int_eq(query_facts(store, run, &fact), 4);
	ck_assert_str_eq(query_find_fact(fact, 4, "a", "?"), "2");
	ck_assert_str_eq(query_find_fact(fact, 4, "protection", "?"), "process=x");
	ck_assert_str_eq(query_find_fact(fact, 4, "line.3", "?"), "bare");
	ck_assert_str_eq(query_find_fact(fact, 4, "last", "?"), "2");
	ck_assert_str_eq(query_find_fact(fact, 4, "nope", "?"), "?");
	free(fact);
	ck_assert_int_eq(store_end_run(store, run, VERDICT_PASS, "", 31, gates, 2), -EEXIST);
	ck_assert_str_eq(store_error(store), "run 1 is closed already");
	ck_assert_int_eq(query_gates(store, run, &gate), 2);
	free(gate);
	store_close(store);
}
END_TEST

START_TEST(a_gate_of_a_window_that_is_not_there_closes_nothing)
{
	const struct store_gate gate = {"silence", 5, GATE_VERDICT_PASS, "", ""};
	struct store *store = fixture_open(path);
	int64_t run = fixture_run(store, fixture_job(store, "s"), "linux", 0);
	struct query_run *row;

	ck_assert_int_eq(store_end_run(store, run, VERDICT_PASS, "", 1, &gate, 1), -ENOENT);
	ck_assert_str_eq(store_error(store), "gate silence: run 1 has no window 5");
	ck_assert_int_eq(store_end_run(store, run, VERDICT_RUNNING, "", 1, NULL, 0), -EINVAL);
	ck_assert_int_eq(query_run(store, run, &row), 0);
	ck_assert_int_eq(row->verdict, VERDICT_RUNNING);
	free(row);
	ck_assert_int_eq(store_end_run(store, 77, VERDICT_PASS, "", 1, NULL, 0), -ENOENT);
	store_close(store);
}
END_TEST

START_TEST(the_console_comes_back_byte_for_byte_with_its_marks)
{
	static const char first[] = "U-Boot\r\n\0\x1b[6n\xff";
	static const struct store_mark marks[] = {
		{0, FIXTURE_T0, false}, {8, FIXTURE_T0 + 3, true}, {15, -1, false}};
	struct store *store = fixture_open(path);
	int64_t run = fixture_run(store, fixture_job(store, "s"), "linux", 0);
	size_t big_size = 300000;
	char *big = malloc(big_size);
	struct store_mark *got_marks;
	size_t size, mark_count;
	char *data;

	for (size_t i = 0; i < big_size; i++)
		big[i] = (char)(i * 2654435761u >> 13);
	ck_assert_int_eq(query_console(store, run, &data, &size, &got_marks, &mark_count), 0);
	ck_assert_uint_eq(size, 0);
	free(data);
	free(got_marks);
	ck_assert_int_eq(store_append_console(store, run, first, sizeof(first) - 1, marks, 2), 0);
	ck_assert_int_eq(store_append_console(store, run, big, big_size, marks + 2, 1), 0);
	ck_assert_int_eq(store_append_console(store, run, NULL, 0, NULL, 0), 0);
	ck_assert_int_eq(query_console(store, run, &data, &size, &got_marks, &mark_count), 0);
	ck_assert_uint_eq(size, sizeof(first) - 1 + big_size);
	ck_assert_mem_eq(data, first, sizeof(first) - 1);
	ck_assert_mem_eq(data + sizeof(first) - 1, big, big_size);
	ck_assert_uint_eq(mark_count, 3);
	for (int i = 0; i < 3; i++) {
		ck_assert_uint_eq(got_marks[i].offset, marks[i].offset);
		ck_assert_int_eq(got_marks[i].at_ms, marks[i].at_ms);
		ck_assert_int_eq(got_marks[i].sent, marks[i].sent);
	}
	free(data);
	free(got_marks);
	free(big);
	store_close(store);
}
END_TEST

START_TEST(lists_are_newest_first_and_every_filter_narrows_them)
{
	struct store *store = fixture_open(path);
	int64_t job1 = fixture_job(store, "smoke"), job2 = fixture_job(store, "core");
	int64_t a = fixture_run(store, job1, "linux", 10);
	int64_t b = fixture_run(store, job1, "baremetal", 30);
	int64_t c = fixture_run(store, job2, "linux", 20);
	const struct {
		struct query_filter filter;
		int64_t ids[4];
	} table[] = {
		{{0}, {b, c, a}},
		{{.system = "linux"}, {c, a}},
		{{.suite = "smoke"}, {b, a}},
		{{.board = "panel1", .limit = 2}, {b, c}},
		{{.board = "panel2"}, {0}},
		{{.job_id = job2}, {c}},
		{{.verdicts = 1u << VERDICT_PASS}, {b}},
		{{.verdicts = 1u << VERDICT_RUNNING | 1u << VERDICT_LAB_FAILURE}, {c, a}},
		{{.since_ms = FIXTURE_T0 + 20}, {b, c}},
		{{.baseline = "good"}, {c, a}},
	};

	ck_assert_int_eq(store_end_run(store, b, VERDICT_PASS, "", 40, NULL, 0), 0);
	ck_assert_int_eq(store_end_run(store, a, VERDICT_LAB_FAILURE, "", 40, NULL, 0), 0);
	ck_assert_int_eq(store_set_baseline(store, "good", "first", (int64_t[]){b}, 1, 1), 0);
	ck_assert_int_eq(store_set_baseline(store, "good", "again", (int64_t[]){a, c}, 2, 2), 0);
	ck_assert_int_eq(store_set_baseline(store, "bad", "", (int64_t[]){999}, 1, 2), -EINVAL);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct query_run *runs;
		int count = query_runs(store, &table[i].filter, &runs);

		for (int k = 0; k < count; k++)
			ck_assert_int_eq(runs[k].id, table[i].ids[k]);
		ck_assert_int_ge(count, 0);
		ck_assert_int_eq(table[i].ids[count], 0);
		ck_assert(count > 0 || !runs);
		free(runs);
	}
	store_close(store);
}
END_TEST

START_TEST(a_run_is_found_by_age_or_number_or_the_error_says_what_there_is)
{
	struct store *store = fixture_open(path);
	char expected[512];
	int64_t id, a, b;
	static const struct {
		const char *word;
		int result;
		const char *error;
	} bad[] = {
		{"", -EINVAL, "\"\" names no run; expected LAST, LAST~N or a number"},
		{"LASTX", -EINVAL, "\"LASTX\" names no run; expected LAST, LAST~N or a number"},
		{"LAST~", -EINVAL, "\"LAST~\" names no run; expected LAST, LAST~N or a number"},
		{"-1", -EINVAL, "\"-1\" names no run; expected LAST, LAST~N or a number"},
		{"1x", -EINVAL, "\"1x\" names no run; expected LAST, LAST~N or a number"},
		{"9999999999999999999", -EINVAL,
			"\"9999999999999999999\" names no run; expected LAST, LAST~N or a number"},
		{"LAST~2", -ENOENT, "there is no run LAST~2 in %s; it has 2, the newest is 2"},
		{"7", -ENOENT, "there is no run 7 in %s; it has 2, the newest is 2"},
	};

	ck_assert_int_eq(query_resolve_run(store, "LAST", &id), -ENOENT);
	snprintf(expected, sizeof(expected), "there are no runs in %s yet", path);
	ck_assert_str_eq(store_error(store), expected);
	a = fixture_run(store, fixture_job(store, "s"), "linux", 50);
	b = fixture_run(store, 1, "linux", 10);
	ck_assert_int_eq(query_resolve_run(store, "LAST", &id), 0);
	ck_assert_int_eq(id, a);
	ck_assert_int_eq(query_resolve_run(store, "LAST~1", &id), 0);
	ck_assert_int_eq(id, b);
	ck_assert_int_eq(query_resolve_run(store, "2", &id), 0);
	ck_assert_int_eq(id, 2);
	ck_assert_int_eq(query_resolve_job(store, "LAST", &id), 0);
	ck_assert_int_eq(id, 1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_int_eq(query_resolve_run(store, bad[i].word, &id), bad[i].result);
		if (bad[i].result == -ENOENT)
			snprintf(expected, sizeof(expected),
				"there is no run %s in %s; it has 2, "
				"the newest is 2",
				bad[i].word, path);
		else
			snprintf(expected, sizeof(expected), "%s", bad[i].error);
		ck_assert_str_eq(store_error(store), expected);
	}
	store_close(store);
}
END_TEST

START_TEST(damaged_samples_are_refused_on_read)
{
	static const char *const damages[] = {
		/* A bit of the frame; another whole frame; cut; the wrong count; the wrong CRC. */
		"UPDATE series SET data = CAST(substr(data, 1, 8) || 'U' || substr(data, 10) AS BLOB)",
		"UPDATE series SET data = (SELECT data FROM series WHERE id = 2) WHERE id = 1",
		"UPDATE series SET data = substr(data, 1, length(data) - 1)",
		"UPDATE series SET count = count + 1",
		"UPDATE series SET count = -1",
		"UPDATE series SET count = 1 << 60",
		"UPDATE series SET crc32c = crc32c + 1",
		"UPDATE series SET data = X''",
	};
	char expected[512];

	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		struct store *store = fixture_open(path);
		int64_t run = fixture_run(store, fixture_job(store, "s"), "linux", 0);
		size_t count;
		void *data;

		ck_assert_int_eq(fixture_store_window(store, run, 1, 100), 0);
		ck_assert_int_eq(fixture_store_window(store, run, 2, 100), 0);
		store_close(store);
		fixture_sql(path, damages[i]);
		store = fixture_open(path);
		ck_assert_msg(
			query_samples(store, 1, STORE_SERIES_COUNTS, &data, &count) == -EBADMSG,
			"%s", damages[i]);
		ck_assert_ptr_null(data);
		snprintf(expected, sizeof(expected),
			"series latency in %s is damaged: its samples do not have the checksum "
			"they were stored with",
			path);
		ck_assert_str_eq(store_error(store), expected);
		store_close(store);
		ck_assert_int_eq(remove(path), 0);
	}
}
END_TEST

START_TEST(a_damaged_console_is_refused_on_read)
{
	static const char *const damages[] = {
		"UPDATE console_logs SET crc32c = crc32c + 1",
		"UPDATE console_logs SET size = size - 1",
		"UPDATE console_logs SET mark_count = 2",
		"UPDATE console_logs SET marks_crc32c = 0",
	};
	const struct store_mark mark = {0, 1, false};

	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		struct store *store = fixture_open(path);
		int64_t run = fixture_run(store, fixture_job(store, "s"), "linux", 0);
		struct store_mark *marks;
		size_t size, count;
		char *data;

		ck_assert_int_eq(store_append_console(store, run, "abc", 3, &mark, 1), 0);
		store_close(store);
		fixture_sql(path, damages[i]);
		store = fixture_open(path);
		ck_assert_msg(query_console(store, run, &data, &size, &marks, &count) == -EBADMSG,
			"%s", damages[i]);
		ck_assert_ptr_null(data);
		ck_assert_ptr_null(marks);
		store_close(store);
		ck_assert_int_eq(remove(path), 0);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("store");
	TCase *tcase = tcase_create("store");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, crc32c_has_the_published_check_values);
	tcase_add_test(tcase, crc32c_of_long_data_is_that_of_the_wire);
	tcase_add_test(tcase, every_verdict_has_one_name_and_comes_back_from_it);
	tcase_add_test(tcase, a_run_comes_back_as_it_was_stored);
	tcase_add_test(tcase, samples_of_every_kind_come_back_bit_for_bit);
	tcase_add_test(tcase, a_window_is_stored_once_and_an_aborted_one_leaves_nothing);
	tcase_add_test(tcase, metrics_gates_events_and_facts_come_back_with_their_window);
	tcase_add_test(tcase, a_gate_of_a_window_that_is_not_there_closes_nothing);
	tcase_add_test(tcase, the_console_comes_back_byte_for_byte_with_its_marks);
	tcase_add_test(tcase, lists_are_newest_first_and_every_filter_narrows_them);
	tcase_add_test(tcase, a_run_is_found_by_age_or_number_or_the_error_says_what_there_is);
	tcase_add_test(tcase, damaged_samples_are_refused_on_read);
	tcase_add_test(tcase, a_damaged_console_is_refused_on_read);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
