/* SPDX-License-Identifier: Apache-2.0 */
/* Who may ask the daemon for what. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/access.h"
#include "tests/scratch.h"

#define TOKEN	     "0123456789abcdef0123"
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
	const char *host, *origin, *authorization;
	bool is_tcp, is_change;
	unsigned status;
} rows[] = {
	/* Over the Unix socket the file's mode has decided. */
	{"localhost", NULL, NULL, false, true, 0},
	{NULL, NULL, NULL, false, false, 0},
	{"localhost", "http://localhost", NULL, false, false, 403},
	/* Reading over TCP. */
	{"127.0.0.1:8080", NULL, NULL, true, false, 0},
	{"localhost", NULL, NULL, true, false, 0},
	{"LOCALHOST:80", NULL, NULL, true, false, 0},
	{"[::1]:8080", NULL, NULL, true, false, 0},
	{"192.168.7.7", NULL, NULL, true, false, 0},
	{NULL, NULL, NULL, true, false, 403},
	{"", NULL, NULL, true, false, 403},
	{"evil.example", NULL, NULL, true, false, 403},
	{"evil.example:8080", NULL, NULL, true, false, 403},
	{"127.0.0.1.evil.example", NULL, NULL, true, false, 403},
	{"localhost.evil.example", NULL, NULL, true, false, 403},
	{"127.0.0.1:evil", NULL, NULL, true, false, 403},
	{"127.0.0.1:", NULL, NULL, true, false, 403},
	{"[::1", NULL, NULL, true, false, 403},
	{"[::1]x", NULL, NULL, true, false, 403},
	/* A browser names the page that asks. */
	{"127.0.0.1:8080", "http://127.0.0.1:8080", NULL, true, false, 0},
	{"127.0.0.1:8080", "http://127.0.0.1:8081", NULL, true, false, 403},
	{"127.0.0.1:8080", "https://127.0.0.1:8080", NULL, true, false, 403},
	{"127.0.0.1:8080", "http://evil.example", NULL, true, false, 403},
	{"127.0.0.1:8080", "null", NULL, true, false, 403},
	{"evil.example", "http://evil.example", "Bearer " TOKEN, true, true, 403},
	/* Changes over TCP. */
	{"127.0.0.1:8080", NULL, NULL, true, true, 401},
	{"127.0.0.1:8080", NULL, "Bearer " TOKEN, true, true, 0},
	{"127.0.0.1:8080", NULL, "bearer " TOKEN, true, true, 0},
	{"127.0.0.1:8080", NULL, "Bearer " TOKEN "x", true, true, 401},
	{"127.0.0.1:8080", NULL, "Bearer 0123456789abcdef012", true, true, 401},
	{"127.0.0.1:8080", NULL, "Bearer ", true, true, 401},
	{"127.0.0.1:8080", NULL, "Basic " TOKEN, true, true, 401},
	{"127.0.0.1:8080", NULL, TOKEN, true, true, 401},
	{"127.0.0.1:8080", "http://evil.example", "Bearer " TOKEN, true, true, 403},
};

START_TEST(each_request_gets_what_its_headers_deserve)
{
	struct access access = {TOKEN};
	struct access_request request = {rows[_i].is_tcp, rows[_i].is_change, rows[_i].host,
		rows[_i].origin, rows[_i].authorization};
	const char *why = NULL;
	unsigned status = access_check(&access, &request, &why);

	ck_assert_msg(status == rows[_i].status, "row %d: %u (%s)", _i, status, why);
	ck_assert(status == 0 || strlen(why) > 10);
}
END_TEST

START_TEST(without_a_token_nothing_is_changed_over_tcp)
{
	struct access access = {""};
	struct access_request request = {true, true, "127.0.0.1", NULL, "Bearer "};
	const char *why;

	ck_assert_uint_eq(access_check(&access, &request, &why), 403);
	request.is_change = false;
	ck_assert_uint_eq(access_check(&access, &request, &why), 0);
	request = (struct access_request){false, true, NULL, NULL, NULL};
	ck_assert_uint_eq(access_check(&access, &request, &why), 0);
}
END_TEST

START_TEST(a_token_file_is_read_and_a_bad_one_is_refused)
{
	static const struct {
		const char *text;
		mode_t mode;
		int result;
	} files[] = {
		{TOKEN "\n", 0600, 0},
		{TOKEN, 0400, 0},
		{TOKEN "\r\nmore\n", 0600, 0},
		{TOKEN "\n", 0640, -EPERM},
		{TOKEN "\n", 0604, -EPERM},
		{"short\n", 0600, -EINVAL},
		{"", 0600, -EINVAL},
		{"with spaces in between, long enough\n", 0600, -EINVAL},
	};
	struct scratch scratch;
	struct access access;
	char error[512];

	scratch_init(&scratch);
	for (size_t i = 0; i < COUNT(files); i++) {
		const char *path =
			scratch_write(&scratch, "token", files[i].text, strlen(files[i].text));

		ck_assert_int_eq(chmod(path, files[i].mode), 0);
		ck_assert_msg(
			access_read_token(&access, path, error, sizeof(error)) == files[i].result,
			"row %zu: %s", i, error);
		ck_assert_str_eq(access.token, files[i].result ? "" : TOKEN);
		ck_assert_int_eq(chmod(path, 0600), 0);
	}
	ck_assert_int_eq(
		access_read_token(&access, scratch_path(&scratch, "none"), error, sizeof(error)),
		-ENOENT);
	scratch_fini(&scratch);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("access");
	SRunner *runner = srunner_create(suite);
	TCase *tcase = tcase_create("access");
	int failed;

	tcase_add_loop_test(tcase, each_request_gets_what_its_headers_deserve, 0, (int)COUNT(rows));
	tcase_add_test(tcase, without_a_token_nothing_is_changed_over_tcp);
	tcase_add_test(tcase, a_token_file_is_read_and_a_bad_one_is_refused);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
