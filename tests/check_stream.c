/* SPDX-License-Identifier: Apache-2.0 */
/* Streams for readers that come and go, and the event log of a job on top. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/job_log.h"

/* ------------------------------------------------------------------ stream */

START_TEST(each_reader_has_its_own_place)
{
	struct stream stream = {0};
	uint64_t a = 0, b = 0;
	char bytes[8];

	ck_assert_int_eq(stream_read(&stream, &a, bytes, sizeof(bytes)), 0);
	stream_append(&stream, "abcdef", 6);
	ck_assert_int_eq(stream_read(&stream, &a, bytes, 4), 4);
	ck_assert_mem_eq(bytes, "abcd", 4);
	ck_assert_int_eq(stream_read(&stream, &b, bytes, sizeof(bytes)), 6);
	stream_append(&stream, "gh", 2);
	ck_assert_int_eq(stream_read(&stream, &a, bytes, sizeof(bytes)), 4);
	ck_assert_mem_eq(bytes, "efgh", 4);
	ck_assert_int_eq(stream_read(&stream, &b, bytes, sizeof(bytes)), 2);
	ck_assert_int_eq(stream_read(&stream, &b, bytes, sizeof(bytes)), 0);
	stream.is_ended = true;
	ck_assert_int_eq(stream_read(&stream, &b, bytes, sizeof(bytes)), -ENODATA);
	stream_fini(&stream);
}
END_TEST

/* What is kept is always the end of what was written, whole. */
START_TEST(the_last_bytes_are_kept_and_a_slow_reader_is_told)
{
	struct stream stream = {0};
	uint64_t slow = 0, written = 0;
	char piece[1004], byte; /* four times 251: every piece is the same */

	for (size_t i = 0; i < sizeof(piece); i++)
		piece[i] = (char)(i % 251);
	while (written < 5u * STREAM_LIMIT) {
		stream_append(&stream, piece, sizeof(piece));
		written += sizeof(piece);
		ck_assert_uint_eq(stream_end(&stream), written);
		ck_assert_uint_le(stream.size, STREAM_LIMIT);
	}
	ck_assert_uint_ge(stream.size, STREAM_LIMIT / 2);
	ck_assert_int_eq(stream_read(&stream, &slow, &byte, 1), -ESTALE);
	for (uint64_t at = stream.start; at < written;) {
		uint64_t place = at;
		char got[251];
		ssize_t size = stream_read(&stream, &at, got, sizeof(got));

		ck_assert_int_gt(size, 0);
		ck_assert_mem_eq(got, piece + place % 251, (size_t)size);
	}
	stream_fini(&stream);
}
END_TEST

START_TEST(what_is_larger_than_everything_kept_is_a_gap)
{
	struct stream stream = {0};
	uint64_t at = 0;
	char *large = calloc(1, STREAM_LIMIT + 1), byte;

	stream_append(&stream, "a", 1);
	stream_append(&stream, large, STREAM_LIMIT + 1);
	ck_assert_uint_eq(stream_end(&stream), STREAM_LIMIT + 2);
	ck_assert_int_eq(stream_read(&stream, &at, &byte, 1), -ESTALE);
	at = stream.start;
	stream_append(&stream, "b", 1);
	ck_assert_int_eq(stream_read(&stream, &at, &byte, 1), 1);
	ck_assert_int_eq(byte, 'b');
	free(large);
	stream_fini(&stream);
}
END_TEST

START_TEST(clearing_drops_who_was_behind_and_nobody_else)
{
	struct stream stream = {0};
	uint64_t behind = 0, ahead;
	char byte;

	stream_append(&stream, "abc", 3);
	ahead = stream_end(&stream);
	stream_clear(&stream);
	ck_assert_int_eq(stream_read(&stream, &ahead, &byte, 1), 0);
	ck_assert_int_eq(stream_read(&stream, &behind, &byte, 1), -ESTALE);
	stream_fini(&stream);
}
END_TEST

/* ------------------------------------------------------------------ events */

static char *read_all(const struct job_log *log, uint64_t place)
{
	char *text = calloc(1, STREAM_LIMIT + 1);
	ssize_t got = stream_read(&log->events, &place, text, STREAM_LIMIT);

	ck_assert_int_ge(got, -ENODATA);
	return text;
}

START_TEST(an_event_has_its_id_its_kind_and_all_its_lines)
{
	struct job_logs logs = {0};
	struct job_log *log = job_logs_get(&logs, 7);
	char *text;

	job_log_add(log, "progress", "one\ntwo");
	job_log_end(log, "{\"exit_code\":0}");
	job_log_add(log, "progress", "too late");
	text = read_all(log, 0);
	ck_assert_str_eq(text, "id: 00000000000000000062\nevent: progress\ndata: one\ndata: two\n\n"
			       "id: 00000000000000000121\nevent: end\ndata: {\"exit_code\":0}\n\n");
	free(text);
	ck_assert(log->events.is_ended);
	job_logs_fini(&logs);
}
END_TEST

START_TEST(a_viewer_goes_on_behind_the_event_it_has_seen)
{
	struct job_logs logs = {0};
	struct job_log *log = job_logs_get(&logs, 7);
	uint64_t first;
	char *text;

	job_log_add(log, "progress", "one");
	first = stream_end(&log->events);
	job_log_add(log, "progress", "two");
	ck_assert_uint_eq(job_log_find_place(log, 0), 0);
	ck_assert_uint_eq(job_log_find_place(log, first), first);
	text = read_all(log, job_log_find_place(log, first));
	ck_assert_ptr_null(strstr(text, "one"));
	ck_assert_ptr_nonnull(strstr(text, "two"));
	free(text);
	/* No place of ours: everything again rather than half an event. */
	ck_assert_uint_eq(job_log_find_place(log, first - 1), 0);
	ck_assert_uint_eq(job_log_find_place(log, 999999), 0);
	job_logs_fini(&logs);
}
END_TEST

START_TEST(a_late_viewer_begins_at_a_whole_event)
{
	struct job_logs logs = {0};
	struct job_log *log = job_logs_get(&logs, 7);
	char line[300], *text;

	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	for (int i = 0; i < 8000; i++)
		job_log_add(log, "progress", line);
	ck_assert_uint_gt(log->events.start, 0);
	text = read_all(log, job_log_find_place(log, 0));
	ck_assert_int_eq(strncmp(text, "id: ", 4), 0);
	free(text);
	job_logs_fini(&logs);
}
END_TEST

START_TEST(old_logs_go_and_those_in_use_stay)
{
	struct job_logs logs = {0};
	struct job_log *running = job_logs_get(&logs, 1), *viewed = job_logs_get(&logs, 2);

	viewed->viewers = 1;
	job_log_end(viewed, "{}");
	job_log_add(running, "progress", "on");
	for (int job = 3; job < 3 + 2 * JOB_LOGS_MAX; job++)
		job_log_end(job_logs_get(&logs, job), "{}");
	ck_assert_ptr_eq(job_logs_find(&logs, 1), running);
	ck_assert_ptr_eq(job_logs_find(&logs, 2), viewed);
	ck_assert_ptr_null(job_logs_find(&logs, 3));
	ck_assert_ptr_nonnull(job_logs_find(&logs, 2 + 2 * JOB_LOGS_MAX));
	job_logs_fini(&logs);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		each_reader_has_its_own_place,
		the_last_bytes_are_kept_and_a_slow_reader_is_told,
		what_is_larger_than_everything_kept_is_a_gap,
		clearing_drops_who_was_behind_and_nobody_else,
		an_event_has_its_id_its_kind_and_all_its_lines,
		a_viewer_goes_on_behind_the_event_it_has_seen,
		a_late_viewer_begins_at_a_whole_event,
		old_logs_go_and_those_in_use_stay,
	};
	Suite *suite = suite_create("stream");
	SRunner *runner = srunner_create(suite);
	TCase *tcase = tcase_create("stream");
	int failed;

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(tcase, tests[i]);
	tcase_set_timeout(tcase, 30);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
