/* SPDX-License-Identifier: Apache-2.0 */
/* The queue and the health of boards in the store. */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "db/orphan.h"
#include "db/query.h"
#include "db/queue.h"
#include "tests/scratch.h"
#include "tests/store_fixture.h"

static struct scratch scratch;
static char path[256];

static void set_up(void)
{
	scratch_init(&scratch);
	strcpy(path, scratch_path(&scratch, "queue.db"));
}

static void tear_down(void)
{
	scratch_fini(&scratch);
}

static int64_t add(struct store *store, const char *board, const char *client)
{
	struct queue_job job = {.board = board,
		.client = client,
		.uid = 1000,
		.pid = 77,
		.suite = "smoke",
		.suite_json = "{}",
		.systems = "linux,baremetal",
		.boots = 2,
		.seed = 9,
		.command = "submit smoke",
		.submitted_ms = 5};
	int64_t id;

	ck_assert_msg(queue_add(store, &job, &id) == 0, "%s", store_error(store));
	return id;
}

static int64_t take(struct store *store, const char *board)
{
	int64_t id;

	ck_assert_int_eq(queue_take(store, board, 6, &id), 0);
	return id;
}

/* ------------------------------------------------------------------- order */

START_TEST(one_clients_jobs_come_in_the_order_they_were_given)
{
	struct store *store = fixture_open(path);
	int64_t first = add(store, "a", "ann"), second = add(store, "a", "ann");

	ck_assert_int_eq(take(store, "a"), first);
	ck_assert_int_eq(take(store, "a"), second);
	ck_assert_int_eq(take(store, "a"), 0);
	store_close(store);
}
END_TEST

START_TEST(clients_take_turns_however_many_jobs_one_of_them_gave)
{
	struct store *store = fixture_open(path);
	int64_t ann[4], bob[2];

	for (int i = 0; i < 4; i++)
		ann[i] = add(store, "a", "ann");
	ck_assert_int_eq(take(store, "a"), ann[0]);
	bob[0] = add(store, "a", "bob");
	bob[1] = add(store, "a", "bob");
	ck_assert_int_eq(take(store, "a"), bob[0]);
	ck_assert_int_eq(take(store, "a"), ann[1]);
	ck_assert_int_eq(take(store, "a"), bob[1]);
	ck_assert_int_eq(take(store, "a"), ann[2]);
	ck_assert_int_eq(take(store, "a"), ann[3]);
	store_close(store);
}
END_TEST

START_TEST(turns_outlive_a_restart)
{
	struct store *store = fixture_open(path);
	int64_t ann[2], bob;

	ann[0] = add(store, "a", "ann");
	ann[1] = add(store, "a", "ann");
	bob = add(store, "a", "bob");
	ck_assert_int_eq(take(store, "a"), ann[0]);
	store_close(store);
	store = fixture_open(path);
	ck_assert_int_eq(take(store, "a"), bob);
	ck_assert_int_eq(take(store, "a"), ann[1]);
	store_close(store);
}
END_TEST

START_TEST(each_board_has_its_own_queue_and_a_board_without_jobs_gets_none)
{
	struct store *store = fixture_open(path);
	int64_t a = add(store, "a", "ann"), b = add(store, "b", "ann");

	ck_assert_int_eq(take(store, "c"), 0);
	ck_assert_int_eq(take(store, "b"), b);
	ck_assert_int_eq(take(store, "a"), a);
	store_close(store);
}
END_TEST

/* ------------------------------------------------------------------ numbers */

START_TEST(a_job_keeps_its_number_from_the_queue_to_its_runs)
{
	struct store *store = fixture_open(path);
	struct store_job job = {.command = "run", .started_ms = 1};
	struct query_job *found;
	int64_t queued = add(store, "a", "ann"), direct, begun;

	/* One that is run without the queue in between takes the next number. */
	ck_assert_int_eq(store_begin_job(store, &job, &direct), 0);
	ck_assert_int_ne(direct, queued);
	job.id = queued;
	ck_assert_int_eq(store_begin_job(store, &job, &begun), 0);
	ck_assert_int_eq(begun, queued);
	ck_assert_int_eq(query_job(store, queued, &found), 0);
	free(found);
	ck_assert_int_gt(add(store, "a", "ann"), direct > queued ? direct : queued);
	store_close(store);
}
END_TEST

START_TEST(everything_about_a_job_can_be_read_back)
{
	struct store *store = fixture_open(path);
	struct queue_row *row, *rows;
	int64_t id = add(store, "a", "ann");

	ck_assert_int_eq(queue_get(store, id, &row), 0);
	ck_assert_int_eq(row->id, id);
	ck_assert_int_eq(row->state, QUEUE_STATE_QUEUED);
	ck_assert_str_eq(row->job.board, "a");
	ck_assert_str_eq(row->job.client, "ann");
	ck_assert_str_eq(row->job.systems, "linux,baremetal");
	ck_assert_int_eq(row->job.boots, 2);
	ck_assert_int_eq(row->job.seed, 9);
	ck_assert_int_eq(row->job.uid, 1000);
	ck_assert_int_eq(row->exit_code, -1);
	ck_assert(!row->worker_is_alive);
	free(row);
	ck_assert_int_eq(queue_list_open(store, &rows), 1);
	free(rows);
	ck_assert_int_eq(queue_get(store, id + 1, &row), -ENOENT);
	ck_assert_ptr_null(row);
	store_close(store);
}
END_TEST

/* ---------------------------------------------------------------------- end */

START_TEST(a_job_ends_once)
{
	struct store *store = fixture_open(path);
	struct queue_row *row, *rows;
	int64_t id = add(store, "a", "ann");

	ck_assert_int_eq(queue_end(store, id, QUEUE_STATE_CANCELLED, 3, "why", 8), 0);
	ck_assert_int_eq(take(store, "a"), 0);
	ck_assert_int_eq(queue_end(store, id, QUEUE_STATE_DONE, 0, NULL, 9), -EALREADY);
	ck_assert_int_eq(queue_get(store, id, &row), 0);
	ck_assert_int_eq(row->state, QUEUE_STATE_CANCELLED);
	ck_assert_int_eq(row->exit_code, 3);
	ck_assert_str_eq(row->error, "why");
	ck_assert_int_eq(row->ended_ms, 8);
	free(row);
	ck_assert_int_eq(queue_list_open(store, &rows), 0);
	ck_assert_int_eq(queue_end(store, 99, QUEUE_STATE_DONE, 0, NULL, 9), -ENOENT);
	ck_assert_int_eq(queue_end(store, id, QUEUE_STATE_RUNNING, 0, NULL, 9), -EINVAL);
	store_close(store);
}
END_TEST

START_TEST(a_worker_is_known_to_live_or_to_be_gone)
{
	struct store *store = fixture_open(path);
	struct queue_row *row;
	int64_t id = add(store, "a", "ann");
	pid_t child = fork();

	if (child == 0) {
		pause();
		_exit(0);
	}
	ck_assert_int_eq(take(store, "a"), id);
	ck_assert_int_eq(queue_set_worker(store, id, child), 0);
	ck_assert_int_eq(queue_get(store, id, &row), 0);
	ck_assert(row->worker_is_alive);
	ck_assert_int_eq(row->worker_pid, child);
	free(row);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	ck_assert_int_eq(queue_get(store, id, &row), 0);
	ck_assert(!row->worker_is_alive);
	ck_assert_int_eq(row->state, QUEUE_STATE_RUNNING);
	free(row);
	store_close(store);
}
END_TEST

/* ----------------------------------------------------------------- orphans */

/* A job of a process that is gone, with one open run on each of these boards. */
static void leave_orphans(const char *const boards[], size_t count)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		struct store *store = fixture_open(path);
		struct store_job job = {.command = "run x",
			.suite = "x",
			.suite_json = "{\"a\":1}",
			.started_ms = 1};
		int64_t job_id, run_id;

		store_begin_job(store, &job, &job_id);
		for (size_t i = 0; i < count; i++) {
			struct store_run run = {.job_id = job_id,
				.board = boards[i],
				.system = "linux",
				.boot = 1,
				.started_ms = 2};

			store_begin_run(store, &run, &run_id);
			store_set_session(store, run_id, 0xfffffff0u);
			store_set_fact(store, run_id, "counter_hz", "24000000");
		}
		store_close(store);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}

START_TEST(a_dead_jobs_runs_are_found_and_closed_board_by_board)
{
	struct orphan_run *runs;
	struct query_job *job;
	struct store *store;

	leave_orphans((const char *const[]){"a", "b"}, 2);
	store = fixture_open(path);
	ck_assert_int_eq(orphan_find_runs(store, "c", &runs), 0);
	ck_assert_int_eq(orphan_find_runs(store, "a", &runs), 1);
	ck_assert_str_eq(runs[0].suite, "x");
	ck_assert_str_eq(runs[0].suite_json, "{\"a\":1}");
	ck_assert_str_eq(runs[0].counter_hz, "24000000");
	ck_assert_int_eq(runs[0].session, 0xfffffff0u);
	ck_assert_int_eq(orphan_has_window(store, runs[0].id, 1), 0);
	free(runs);
	/* Another board's run stays open: that board may still be powered. */
	ck_assert_int_eq(store_recover(store, "a", 9), 1);
	ck_assert_int_eq(orphan_find_runs(store, "a", &runs), 0);
	ck_assert_int_eq(orphan_find_runs(store, "b", &runs), 1);
	free(runs);
	ck_assert_int_eq(query_job(store, 1, &job), 0);
	ck_assert_int_eq(job->ended_ms, 0);
	free(job);
	ck_assert_int_eq(store_recover(store, "b", 10), 1);
	ck_assert_int_eq(query_job(store, 1, &job), 0);
	ck_assert_int_eq(job->ended_ms, 10);
	free(job);
	store_close(store);
}
END_TEST

START_TEST(a_living_jobs_run_is_no_orphan)
{
	struct store *store = fixture_open(path);
	struct store_job job = {.command = "run x", .started_ms = 1};
	struct store_run run = {.board = "a", .system = "linux", .boot = 1, .started_ms = 2};
	struct orphan_run *runs;
	int64_t id;

	ck_assert_int_eq(store_begin_job(store, &job, &run.job_id), 0);
	ck_assert_int_eq(store_begin_run(store, &run, &id), 0);
	ck_assert_int_eq(orphan_find_runs(store, "a", &runs), 0);
	ck_assert_ptr_null(runs);
	store_close(store);
}
END_TEST

/* ------------------------------------------------------------------ health */

START_TEST(two_lab_failures_in_a_row_put_a_board_in_quarantine)
{
	struct store *store = fixture_open(path);
	struct queue_health *health;

	ck_assert_int_eq(queue_get_health(store, "a", &health), 0);
	ck_assert_ptr_null(health);
	queue_note_health(store, "a", true, "no banner", 10);
	queue_note_health(store, "a", false, NULL, 11); /* a good run in between */
	queue_note_health(store, "a", true, "no relay", 12);
	ck_assert_int_eq(queue_get_health(store, "a", &health), 0);
	ck_assert_int_eq(health->lab_failures, 1);
	ck_assert_int_eq(health->quarantined_ms, 0);
	free(health);
	queue_note_health(store, "a", true, "no mux", 13);
	queue_note_health(store, "a", false, NULL, 14); /* too late: a person must look */
	ck_assert_int_eq(queue_get_health(store, "a", &health), 0);
	ck_assert_int_eq(health->lab_failures, 2);
	ck_assert_int_eq(health->quarantined_ms, 13);
	ck_assert_str_eq(health->reason, "no mux");
	free(health);
	ck_assert_int_eq(queue_get_health(store, "b", &health), 0);
	ck_assert_ptr_null(health);
	store_close(store);
}
END_TEST

START_TEST(a_quarantine_lasts_until_it_is_released)
{
	struct store *store = fixture_open(path);
	struct queue_health *health;

	ck_assert_int_eq(queue_release(store, "a"), -ENOENT);
	ck_assert_int_eq(queue_quarantine(store, "a", "may be powered", 20), 0);
	store_close(store);
	store = fixture_open(path);
	ck_assert_int_eq(queue_get_health(store, "a", &health), 0);
	ck_assert_int_eq(health->quarantined_ms, 20);
	free(health);
	ck_assert_int_eq(queue_release(store, "a"), 0);
	ck_assert_int_eq(queue_get_health(store, "a", &health), 0);
	ck_assert_int_eq(health->quarantined_ms, 0);
	ck_assert_int_eq(health->lab_failures, 0);
	free(health);
	ck_assert_int_eq(queue_release(store, "a"), -ENOENT);
	store_close(store);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		one_clients_jobs_come_in_the_order_they_were_given,
		clients_take_turns_however_many_jobs_one_of_them_gave,
		turns_outlive_a_restart,
		each_board_has_its_own_queue_and_a_board_without_jobs_gets_none,
		a_job_keeps_its_number_from_the_queue_to_its_runs,
		everything_about_a_job_can_be_read_back,
		a_job_ends_once,
		a_worker_is_known_to_live_or_to_be_gone,
		a_dead_jobs_runs_are_found_and_closed_board_by_board,
		a_living_jobs_run_is_no_orphan,
		two_lab_failures_in_a_row_put_a_board_in_quarantine,
		a_quarantine_lasts_until_it_is_released,
	};
	Suite *suite = suite_create("queue");
	SRunner *runner = srunner_create(suite);
	TCase *tcase = tcase_create("queue");
	int failed;

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(tcase, tests[i]);
	tcase_set_timeout(tcase, 60); /* every commit waits for the disk */
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
