/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the daemon answers to those who ask wrongly: a real daemon, whose board
 * is not plugged in, and bytes as they are.
 */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "harness/http.h"
#include "tests/daemon_rig.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LOCAL	     "Host: 127.0.0.1\r\n"
#define TOKEN	     "Authorization: Bearer " DAEMON_RIG_TOKEN "\r\n"
#define BODY(text)   "Content-Length: " text

static struct daemon_rig rig;

static void set_up(void)
{
	daemon_rig_start_unplugged(&rig);
}

static void tear_down(void)
{
	daemon_rig_stop(&rig);
}

/* The daemon still answers, and nothing was queued. */
static void check_unharmed(void)
{
	cJSON *json;

	ck_assert_int_eq(daemon_rig_ask(&rig, "GET", "/v1/queue", NULL, &json), 200);
	ck_assert_int_eq(cJSON_GetArraySize(json), 0);
	cJSON_Delete(json);
}

/* ---------------------------------------------------------------- refusals */

static const struct {
	bool over_tcp;
	const char *request;
	int status;
	const char *says;
} rows[] = {
	{true, "GET /v1 HTTP/1.1\r\n" LOCAL "\r\n", 200, "version"},
	{true, "GET /v1/boards HTTP/1.1\r\n" LOCAL "\r\n", 200, "vpanel"},
	{true, "GET /v1/boards HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403, "Host"},
	{true, "GET /v1/boards HTTP/1.1\r\n" LOCAL "Origin: http://evil.example\r\n\r\n", 403,
		"another site"},
	{false, "GET /v1/boards HTTP/1.1\r\nHost: x\r\nOrigin: http://evil.example\r\n\r\n", 403,
		"another site"},
	{true, "POST /v1/jobs HTTP/1.1\r\n" LOCAL BODY("2") "\r\n\r\n{}", 401, "Bearer"},
	{true,
		"POST /v1/jobs HTTP/1.1\r\n" LOCAL
		"Authorization: Bearer wrong-wrong-wrong\r\n" BODY("2") "\r\n\r\n{}",
		401, "not the token"},
	{true, "DELETE /v1/jobs/1 HTTP/1.1\r\n" LOCAL "\r\n", 401, "Bearer"},
	{true, "POST /v1/boards/vpanel/release HTTP/1.1\r\n" LOCAL BODY("0") "\r\n\r\n", 401,
		"Bearer"},
	{true, "DELETE /v1/jobs/1 HTTP/1.1\r\n" LOCAL TOKEN "\r\n", 404, "no job 1"},
	{true,
		"POST /v1/jobs HTTP/1.1\r\n" LOCAL TOKEN
		"Origin: http://evil.example\r\n" BODY("2") "\r\n\r\n{}",
		403, "another site"},
	{false, "POST /v1/boards HTTP/1.1\r\nHost: x\r\n" BODY("0") "\r\n\r\n", 405, "method"},
	{false, "PUT /v1/jobs HTTP/1.1\r\nHost: x\r\n" BODY("0") "\r\n\r\n", 405, "method"},
	{false, "GET /v1/jobs HTTP/1.1\r\nHost: x\r\n\r\n", 405, "method"},
	{false, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 404, "nothing at"},
	{false, "GET /v1/ HTTP/1.1\r\nHost: x\r\n\r\n", 404, "nothing at"},
	{false, "GET /v1/jobs/ HTTP/1.1\r\nHost: x\r\n\r\n", 404, "nothing at"},
	{false, "GET /v1/jobs/1 HTTP/1.1\r\nHost: x\r\n\r\n", 404, "no job 1"},
	{false, "GET /v1/jobs/1x HTTP/1.1\r\nHost: x\r\n\r\n", 404, "no number"},
	{false, "GET /v1/jobs/-1 HTTP/1.1\r\nHost: x\r\n\r\n", 404, "no number"},
	{false, "GET /v1/jobs/99999999999999999999 HTTP/1.1\r\nHost: x\r\n\r\n", 404, "no number"},
	{false, "GET /v1/jobs/1/events HTTP/1.1\r\nHost: x\r\n\r\n", 404, "no job 1"},
	{false, "GET /v1/jobs/1/comparison HTTP/1.1\r\nHost: x\r\n\r\n", 404, "no runs"},
	{false, "GET /v1/runs/5 HTTP/1.1\r\nHost: x\r\n\r\n", 404, "no run 5"},
	{false, "GET /v1/boards/none/console HTTP/1.1\r\nHost: x\r\n\r\n", 404, "no board"},
	{false, "POST /v1/boards/none/release HTTP/1.1\r\nHost: x\r\n" BODY("0") "\r\n\r\n", 404,
		"no board"},
	{false, "POST /v1/boards/vpanel/release HTTP/1.1\r\nHost: x\r\n" BODY("0") "\r\n\r\n", 409,
		"not in quarantine"},
	/* Whatever a path holds, the answer is JSON in UTF-8. */
	{false, "GET /v1/boards/%ff%1b\xc3(/console HTTP/1.1\r\nHost: x\r\n\r\n", 404,
		"no board \\\"?\\u001b?(\\\""},
	{false, "GET /v1/../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n", 404, "nothing at"},
	{false, "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n", 413,
		"larger"},
	{false, "GARBAGE\r\n\r\n", 400, ""},
	{false, "GET /v1 HTTP/9.9\r\nHost: x\r\n\r\n", 505, ""},
};

START_TEST(a_request_gets_its_status_and_does_no_harm)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *answer;
		int status = daemon_rig_send(
			&rig, rows[i].over_tcp, rows[i].request, strlen(rows[i].request), &answer);

		/* What is no HTTP at all may be answered by closing. */
		ck_assert_msg(status == rows[i].status || (!rows[i].says[0] && status == 0),
			"row %zu: %s", i, answer);
		ck_assert_msg(
			status == 0 || strstr(answer, rows[i].says), "row %zu: %s", i, answer);
		free(answer);
		check_unharmed();
	}
}
END_TEST

/* -------------------------------------------------------------- submissions */

static const struct {
	const char *body;
	int status;
	const char *says;
} submissions[] = {
	{"", 400, "request:1"},
	{"{", 400, "request:1"},
	{"[]", 400, "request:1"},
	{"{\"suite\": \"smoke\",\n \"boots\": 0}", 400, "request:2: boots"},
	{"{\"suite\": \"smoke\",\n\n \"colour\": 1}", 400, "request:3: colour"},
	{"{\"suite\": \"smoke\", \"suite\": \"smoke\"}", 400, "suite"},
	{"{\"suite\": \"no-such\"}", 400, "no suite \\\"no-such\\\""},
	{"{\"suite\": \"../secret.json\"}", 400, "no name"},
	{"{\"suite\": \"/etc/passwd\"}", 400, "no name"},
	{"{\"suite\": \"mine.json\", \"suite_text\": \"{\\n\\\"systems\\\": 7}\"}", 400,
		"mine.json:2: systems"},
	{"{\"suite\": \"smoke\", \"board\": \"panel9\"}", 400, "panel9"},
	{"{\"suite\": \"smoke\", \"systems\": [\"beos\"]}", 400, "beos"},
	{"{\"suite\": \"smoke\", \"systems\": [\"../x\"]}", 400, "no name"},
	{"{\"suite\": \"smoke\", \"client\": \"a b\"}", 400, "no name"},
	{"\xff\xfe{}", 400, "request:1"},
};

START_TEST(a_wrong_submission_is_told_where_it_is_wrong)
{
	for (size_t i = 0; i < COUNT(submissions); i++) {
		char request[2048], *answer;
		int size = snprintf(request, sizeof(request),
			"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n%s",
			strlen(submissions[i].body), submissions[i].body);
		int status = daemon_rig_send(&rig, false, request, (size_t)size, &answer);

		ck_assert_msg(
			status == submissions[i].status && strstr(answer, submissions[i].says),
			"row %zu: %s", i, answer);
		free(answer);
		check_unharmed();
	}
}
END_TEST

/* ------------------------------------------------------------------- sizes */

START_TEST(too_much_of_anything_is_refused)
{
	size_t size = 3 * HTTP_BODY_MAX;
	char *request = malloc(size + 256), *answer, *at;
	int status;

	ck_assert_ptr_nonnull(request);
	/* Headers. */
	at = request + sprintf(request, "GET /v1 HTTP/1.1\r\nHost: x\r\nX: ");
	memset(at, 'x', 2 * HTTP_HEADERS_MAX);
	strcpy(at + 2 * HTTP_HEADERS_MAX, "\r\n\r\n");
	status = daemon_rig_send(&rig, false, request, strlen(request), &answer);
	ck_assert_msg(status == 431 || status == 413 || status == 0, "%s", answer);
	free(answer);
	/* A path. */
	at = request + sprintf(request, "GET /");
	memset(at, 'x', 2 * HTTP_HEADERS_MAX);
	strcpy(at + 2 * HTTP_HEADERS_MAX, " HTTP/1.1\r\nHost: x\r\n\r\n");
	status = daemon_rig_send(&rig, false, request, strlen(request), &answer);
	ck_assert_msg(status == 414 || status == 413 || status == 431 || status == 0, "%s", answer);
	free(answer);
	/* A body whose length nobody announced. */
	at = request + sprintf(request,
			       "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
			       "\r\n200000\r\n");
	memset(at, ' ', 0x200000);
	strcpy(at + 0x200000, "\r\n0\r\n\r\n");
	status = daemon_rig_send(&rig, false, request, strlen(request), &answer);
	ck_assert_msg(status == 413, "%.300s", answer);
	free(answer);
	free(request);
	check_unharmed();
}
END_TEST

/* --------------------------------------------------------------------- time */

/* A byte now and then keeps a connection open for HTTP_REQUEST_MS and no longer. */
START_TEST(a_slow_client_is_hung_up_on)
{
	static const char request[] = "GET /v1 HTTP/1.1\r\nHost: x\r\nX: ";
	int fd = daemon_rig_connect(&rig, false);
	unsigned seconds = 0;

	ck_assert_int_gt(send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL), 0);
	while (seconds < HTTP_REQUEST_MS / 1000 + 5) {
		struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

		if (send(fd, "x", 1, MSG_NOSIGNAL) < 0 || poll(&poll_fd, 1, 1000) != 0)
			break;
		seconds++;
	}
	ck_assert_uint_ge(seconds, HTTP_REQUEST_MS / 1000 - 2);
	ck_assert_uint_lt(seconds, HTTP_REQUEST_MS / 1000 + 5);
	close(fd);
	check_unharmed();
}
END_TEST

START_TEST(connections_are_bounded_and_come_back)
{
	int fds[HTTP_CONNECTIONS_MAX + 16];
	cJSON *json;

	for (size_t i = 0; i < COUNT(fds); i++)
		fds[i] = daemon_rig_connect(&rig, true);
	/* The other socket has its own. */
	check_unharmed();
	for (size_t i = 0; i < COUNT(fds); i++)
		close(fds[i]);
	ck_assert_int_eq(daemon_rig_ask(&rig, "GET", "/v1/boards", NULL, &json), 200);
	cJSON_Delete(json);
}
END_TEST

/* ------------------------------------------------------------------ garbage */

START_TEST(garbage_in_any_shape_does_no_harm)
{
	static const char *const seeds[] = {
		"GET /v1/queue HTTP/1.1\r\nHost: x\r\nLast-Event-ID: 5\r\n\r\n",
		"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 18\r\n\r\n{\"suite\":\"smoke\"}\n",
		("POST /v1/jobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
		 "5\r\n{\"a\":\r\n0\r\n\r\n"),
		"DELETE /v1/jobs/1 HTTP/1.1\r\nHost: x\r\n\r\n",
	};
	const char *seconds = getenv("SAMEBOARD_FUZZ_S"); /* longer than in `make check` */
	time_t end = time(NULL) + (seconds ? strtol(seconds, NULL, 10) : 0);
	unsigned random = seconds ? (unsigned)end : 12345;
	cJSON *json;

	for (unsigned round = 0; round < 400 || time(NULL) < end; round++) {
		const char *seed = seeds[round % COUNT(seeds)];
		char bytes[512];
		size_t size = strlen(seed);
		int fd = daemon_rig_connect(&rig, round & 1);

		memcpy(bytes, seed, size);
		for (unsigned flips = 0; flips < 1 + round % 5; flips++) {
			random = random * 1103515245u + 12345;
			bytes[(random >> 8) % size] = (char)(random >> 24);
		}
		if (round % 3 == 0)
			size = (random >> 4) % size;
		send(fd, bytes, size, MSG_NOSIGNAL);
		shutdown(fd, SHUT_WR);
		close(fd);
	}
	/* What was a valid submission by chance is none of our business. */
	ck_assert_int_eq(daemon_rig_ask(&rig, "GET", "/v1/boards", NULL, &json), 200);
	cJSON_Delete(json);
}
END_TEST

START_TEST(the_socket_is_open_to_its_group_and_nobody_else)
{
	struct stat info;

	ck_assert_int_eq(stat(rig.socket, &info), 0);
	ck_assert_uint_eq(info.st_mode & 0777, 0660);
}
END_TEST

START_TEST(a_second_daemon_is_refused_and_the_first_goes_on)
{
	char command[2048];

	snprintf(command, sizeof(command),
		"SAMEBOARD_STATE=%s/state ${BUILD:-build}/sameboardd --lab %s --db %s --images %s "
		"2>%s/second.err",
		rig.lab.scratch.dir, rig.lab.lab, rig.lab.db, rig.lab.images, rig.lab.scratch.dir);
	ck_assert_int_eq(system(command) >> 8, 3);
	check_unharmed();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("http");
	SRunner *runner = srunner_create(suite);
	TCase *tcase = tcase_create("http");
	int failed;

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, a_request_gets_its_status_and_does_no_harm);
	tcase_add_test(tcase, a_wrong_submission_is_told_where_it_is_wrong);
	tcase_add_test(tcase, too_much_of_anything_is_refused);
	tcase_add_test(tcase, a_slow_client_is_hung_up_on);
	tcase_add_test(tcase, connections_are_bounded_and_come_back);
	tcase_add_test(tcase, garbage_in_any_shape_does_no_harm);
	tcase_add_test(tcase, the_socket_is_open_to_its_group_and_nobody_else);
	tcase_add_test(tcase, a_second_daemon_is_refused_and_the_first_goes_on);
	tcase_set_timeout(tcase, getenv("SAMEBOARD_FUZZ_S") ? 0 : 60);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
