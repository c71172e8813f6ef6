/* SPDX-License-Identifier: Apache-2.0 */
/* sameboardd as its users meet it: real jobs on the virtual panel. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/daemon_rig.h"
#include "tests/json_fields.h"

#define QUICK "{ \"bench\": \"clock.audit\", \"duration_ms\": 12000 }"

/* A copy of the rig for a second program beside the first: its own output. */
static int run_beside(struct daemon_rig *rig, const char *const arguments[])
{
	struct lab_rig beside = rig->lab;
	int exit_code;

	free(rig->lab.out);
	free(rig->lab.err);
	beside.out = beside.err = NULL;
	exit_code = lab_rig_run(&beside, arguments);
	rig->lab.out = beside.out;
	rig->lab.err = beside.err;
	return exit_code;
}

/* ------------------------------------------------------------------ one job */

/* A client that is gone leaves its job running; whoever comes later sees all of it. */
static void follow_and_come_back(struct daemon_rig *rig)
{
	char seen[65536] = "", header[64], *id;
	int fd = daemon_rig_open_stream(rig, "/v1/jobs/1/events", "");

	daemon_rig_read_until(fd, "power on", seen, sizeof(seen));
	close(fd);
	ck_assert_ptr_nonnull(strstr(seen, "text/event-stream"));
	ck_assert_ptr_nonnull(strstr(seen, "{\"state\":\"queued\"}"));
	ck_assert_ptr_nonnull(strstr(seen, "{\"state\":\"running\"}"));
	ck_assert_ptr_nonnull(strstr(seen, "plan of suite"));
	/* On from the second event. */
	id = strstr(strstr(seen, "id: ") + 4, "id: ");
	ck_assert_ptr_nonnull(id);
	snprintf(header, sizeof(header), "Last-Event-ID: %.20s\r\n", id + 4);
	fd = daemon_rig_open_stream(rig, "/v1/jobs/1/events", header);
	seen[0] = '\0';
	daemon_rig_read_until(fd, "agent after", seen, sizeof(seen));
	close(fd);
	ck_assert_ptr_null(strstr(seen, "\"queued\""));
	ck_assert_ptr_nonnull(strstr(seen, "power on"));
}

/* Raw console, from the beginning, for several at once. */
static void watch_console(struct daemon_rig *rig)
{
	int fds[3];

	for (size_t i = 0; i < 3; i++)
		fds[i] = daemon_rig_open_stream(rig, "/v1/boards/vpanel/console", "");
	for (size_t i = 0; i < 3; i++) {
		char seen[262144] = "";

		daemon_rig_read_until(fds[i], "U-Boot 20", seen, sizeof(seen));
		ck_assert_ptr_nonnull(strstr(seen, "OpenSBI"));
		close(fds[i]);
	}
}

/* Two more wait behind it, of another client; one is taken back. */
static void queue_and_cancel(struct daemon_rig *rig, const char *suite)
{
	cJSON *queue;

	ck_assert_int_eq(
		run_beside(rig, (const char *[]){"submit", suite, "--client=ci", NULL}), 0);
	ck_assert_ptr_nonnull(strstr(rig->lab.out, "job 2"));
	ck_assert_int_eq(run_beside(rig, (const char *[]){"queue", "--json", NULL}), 0);
	queue = lab_rig_json(&rig->lab);
	ck_assert_int_eq(cJSON_GetArraySize(queue), 2);
	ck_assert_str_eq(text_of(cJSON_GetArrayItem(queue, 0), "state"), "running");
	ck_assert_str_eq(text_of(cJSON_GetArrayItem(queue, 1), "state"), "queued");
	ck_assert_ptr_nonnull(strstr(text_of(cJSON_GetArrayItem(queue, 1), "client"), "/ci"));
	cJSON_Delete(queue);
	ck_assert_int_eq(run_beside(rig, (const char *[]){"cancel", "2", NULL}), 0);
	ck_assert_ptr_nonnull(strstr(rig->lab.out, "job 2 is cancelled"));
	cJSON_Delete(daemon_rig_await(rig, 2, "cancelled"));
	ck_assert_int_eq(run_beside(rig, (const char *[]){"cancel", "2", NULL}), 3);
	ck_assert_ptr_nonnull(strstr(rig->lab.err, "has ended already"));
	ck_assert_int_eq(run_beside(rig, (const char *[]){"watch", "2", NULL}), 3);
}

START_TEST(a_job_outlives_its_client_and_is_followed_to_its_end)
{
	struct daemon_rig rig;
	const char *suite;
	const cJSON *run;
	cJSON *json;
	int status, exit_code;

	daemon_rig_start(&rig, NULL);
	suite = lab_rig_write_suite(&rig.lab, "\"baremetal\"", QUICK, 1);
	lab_rig_begin(&rig.lab, (const char *[]){"run", suite, NULL});
	do
		usleep(20000);
	while (daemon_rig_ask(&rig, "GET", "/v1/jobs/1", NULL, &json) != 200 &&
		(cJSON_Delete(json), true));
	cJSON_Delete(json);
	ck_assert_int_eq(kill(rig.lab.client, SIGKILL), 0);
	status = lab_rig_end(&rig.lab);
	ck_assert_int_eq(status, 128 + SIGKILL);
	follow_and_come_back(&rig);
	watch_console(&rig);
	queue_and_cancel(&rig, suite);
	ck_assert(lab_rig_has_power(&rig.lab));
	exit_code = run_beside(&rig, (const char *[]){"watch", "1", "--json", NULL});
	json = lab_rig_json(&rig.lab);
	run = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "runs"), 0);
	ck_assert_str_eq(text_of(json, "state"), "done");
	ck_assert_int_eq(number_of(json, "exit_code"), exit_code);
	/* A busy machine may cost the emulated board a gate. */
	ck_assert_str_eq(text_of(run, "verdict"), exit_code == 0 ? "pass" : "invalid");
	ck_assert_ptr_nonnull(cJSON_GetObjectItem(json, "comparison"));
	cJSON_Delete(json);
	ck_assert_ptr_nonnull(strstr(rig.lab.err, "window 3, clock.audit"));
	ck_assert(!lab_rig_has_power(&rig.lab));
	/* The same for a person, from what is stored. */
	ck_assert_int_eq(run_beside(&rig, (const char *[]){"watch", "1", NULL}), exit_code);
	ck_assert_ptr_nonnull(strstr(rig.lab.out, "job 1, stored in"));
	lab_rig_check_db(&rig.lab);
	daemon_rig_stop(&rig);
}
END_TEST

START_TEST(a_cancelled_job_ends_in_the_rest_state)
{
	struct daemon_rig rig;
	const char *suite;
	char seen[65536] = "";
	cJSON *json;
	int fd;

	daemon_rig_start(&rig, NULL);
	suite = lab_rig_write_suite(&rig.lab, "\"baremetal\"", QUICK, 1);
	ck_assert_int_eq(daemon_rig_submit(&rig, suite), 1);
	fd = daemon_rig_open_stream(&rig, "/v1/jobs/1/events", "");
	daemon_rig_read_until(fd, "power on", seen, sizeof(seen));
	ck_assert(lab_rig_has_power(&rig.lab));
	ck_assert_int_eq(daemon_rig_ask(&rig, "DELETE", "/v1/jobs/1", NULL, &json), 202);
	cJSON_Delete(json);
	daemon_rig_read_until(fd, "{\"state\":\"cancelled\",\"exit_code\":3}", seen, sizeof(seen));
	close(fd);
	ck_assert(!lab_rig_has_power(&rig.lab));
	json = lab_rig_show(&rig.lab);
	ck_assert_str_eq(text_of(json, "verdict"), "interrupted");
	cJSON_Delete(json);
	ck_assert_int_eq(daemon_rig_ask(&rig, "GET", "/v1/jobs/1", NULL, &json), 200);
	ck_assert_str_eq(text_of(json, "error"), "cancelled while it ran");
	cJSON_Delete(json);
	daemon_rig_stop(&rig);
}
END_TEST

START_TEST(a_stopped_daemon_leaves_its_board_at_rest_and_its_queue_as_it_is)
{
	struct daemon_rig rig;
	const char *suite;
	char seen[65536] = "";
	cJSON *json;
	int fd, status;

	daemon_rig_start(&rig, NULL);
	suite = lab_rig_write_suite(&rig.lab, "\"baremetal\"", QUICK, 1);
	daemon_rig_submit(&rig, suite);
	daemon_rig_submit(&rig, suite);
	fd = daemon_rig_open_stream(&rig, "/v1/jobs/1/events", "");
	daemon_rig_read_until(fd, "power on", seen, sizeof(seen));
	status = daemon_rig_kill(&rig, SIGTERM);
	ck_assert_int_eq(status, 0);
	close(fd);
	ck_assert(!lab_rig_has_power(&rig.lab));
	daemon_rig_begin(&rig);
	json = daemon_rig_await(&rig, 1, "done");
	ck_assert_int_eq(number_of(json, "exit_code"), 3);
	cJSON_Delete(json);
	cJSON_Delete(daemon_rig_await(&rig, 2, "running"));
	daemon_rig_stop(&rig);
}
END_TEST

/* --------------------------------------------------------------- quarantine */

START_TEST(a_board_that_failed_twice_is_refused_until_it_is_released)
{
	struct daemon_rig rig;
	const char *suite;
	cJSON *json;

	daemon_rig_start_unplugged(&rig); /* no relay there: a lab failure */
	suite = lab_rig_write_suite(&rig.lab, "\"baremetal\"", QUICK, 1);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(lab_rig_run(&rig.lab, (const char *[]){"run", suite, NULL}), 3);
		ck_assert_msg(strstr(rig.lab.err, "relay") != NULL, "%s", rig.lab.err);
	}
	ck_assert_int_eq(lab_rig_run(&rig.lab, (const char *[]){"submit", suite, NULL}), 3);
	ck_assert_msg(strstr(rig.lab.err, "quarantine") && strstr(rig.lab.err, "--release"), "%s",
		rig.lab.err);
	ck_assert_int_eq(lab_rig_run(&rig.lab, (const char *[]){"boards", NULL}), 0);
	ck_assert_msg(strstr(rig.lab.out, "in quarantine since") && strstr(rig.lab.out, "relay"),
		"%s", rig.lab.out);
	/* The same without the daemon. */
	daemon_rig_kill(&rig, SIGTERM);
	ck_assert_int_eq(lab_rig_run(&rig.lab, (const char *[]){"run", suite, NULL}), 3);
	ck_assert_ptr_nonnull(strstr(rig.lab.err, "quarantine"));
	ck_assert_int_eq(
		lab_rig_run(&rig.lab, (const char *[]){"boards", "vpanel", "--release", NULL}), 0);
	ck_assert_ptr_null(strstr(rig.lab.out, "quarantine"));
	ck_assert_int_eq(
		lab_rig_run(&rig.lab, (const char *[]){"boards", "vpanel", "--release", NULL}), 2);
	/* And over HTTP. */
	daemon_rig_begin(&rig);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(lab_rig_run(&rig.lab, (const char *[]){"run", suite, NULL}), 3);
	ck_assert_int_eq(daemon_rig_ask(&rig, "GET", "/v1/boards", NULL, &json), 200);
	ck_assert_ptr_nonnull(strstr(text_of(cJSON_GetArrayItem(json, 0), "reason"), "relay"));
	cJSON_Delete(json);
	ck_assert_int_eq(
		daemon_rig_ask(&rig, "POST", "/v1/boards/vpanel/release", NULL, &json), 200);
	cJSON_Delete(json);
	ck_assert_int_eq(lab_rig_run(&rig.lab, (const char *[]){"submit", suite, NULL}), 0);
	daemon_rig_stop(&rig);
}
END_TEST

/* ------------------------------------------------------------------ clients */

START_TEST(a_client_says_what_it_cannot_do)
{
	static const struct {
		const char *arguments[5];
		int exit_code;
		const char *says;
	} rows[] = {
		{{"watch", "7"}, 2, "no job 7"},
		{{"watch", "seven"}, 2, "no number of a job"},
		{{"cancel", "0"}, 2, "no number of a job"},
		{{"cancel", "7"}, 2, "no job 7"},
		{{"submit", "no-such-suite"}, 2, "no suite"},
		{{"submit", "smoke", "--os=beos"}, 2, "beos"},
		{{"submit", "smoke", "--board=panel9"}, 2, "panel9"},
		{{"submit", "smoke", "--client=a b"}, 2, "client"},
		{{"run", "smoke", "--board=panel9"}, 2, "panel9"},
		{{"queue", "--socket=/no/where"}, 3, "start sameboardd"},
		{{"run", "smoke", "--socket=/no/where"}, 3, "start sameboardd"},
	};
	struct daemon_rig rig;

	daemon_rig_start_unplugged(&rig);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int exit_code = lab_rig_run(&rig.lab, rows[i].arguments);

		ck_assert_msg(exit_code == rows[i].exit_code && strstr(rig.lab.err, rows[i].says),
			"%s %s: %d: %s", rows[i].arguments[0], rows[i].arguments[1], exit_code,
			rig.lab.err);
	}
	daemon_rig_stop(&rig);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_client_says_what_it_cannot_do,
		a_board_that_failed_twice_is_refused_until_it_is_released,
		a_cancelled_job_ends_in_the_rest_state,
		a_stopped_daemon_leaves_its_board_at_rest_and_its_queue_as_it_is,
		a_job_outlives_its_client_and_is_followed_to_its_end,
	};
	Suite *suite = suite_create("daemon");
	SRunner *runner = srunner_create(suite);
	TCase *tcase = tcase_create("daemon");
	int failed;

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(tcase, tests[i]);
	tcase_set_timeout(tcase, 180);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
