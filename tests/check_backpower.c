/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "harness/backpower.h"

#define LISTEN_MS 400
#define STEP_MS	  20

/* A board behind a pty that says this again and again, whatever its power is. */
static struct {
	int master_fd, stop_fd;
	const char *says;
	pthread_t thread;
	struct board board;
	struct lab_board config;
	char path[64];
} rig;

static void *talk(void *unused)
{
	struct pollfd entry = {.fd = rig.stop_fd, .events = POLLIN};

	(void)unused;
	while (poll(&entry, 1, STEP_MS) == 0)
		if (write(rig.master_fd, rig.says, strlen(rig.says)) < 0)
			break;
	return NULL;
}

static int check(const char *says, char *text, size_t size)
{
	const uint64_t one = 1;
	int rc;

	rig.says = says;
	rig.master_fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	rig.stop_fd = eventfd(0, EFD_CLOEXEC);
	ck_assert_int_eq(grantpt(rig.master_fd) || unlockpt(rig.master_fd), 0);
	ck_assert_int_eq(ptsname_r(rig.master_fd, rig.path, sizeof(rig.path)), 0);
	rig.config =
		(struct lab_board){.name = "b", .console = {.driver = "pty", .path = rig.path}};
	rig.board = (struct board){.config = &rig.config, .lock = -1};
	ck_assert_int_eq(link_open(&rig.board.console, &rig.config.console), 0);
	/* What came before it was switched off says nothing. */
	ck_assert_int_eq(write(rig.master_fd, "a long text of its last moments", 31), 31);
	ck_assert_int_eq(pthread_create(&rig.thread, NULL, talk, NULL), 0);
	rc = backpower_check(&rig.board, LISTEN_MS, text, size);
	ck_assert_int_eq(write(rig.stop_fd, &one, sizeof(one)), sizeof(one));
	pthread_join(rig.thread, NULL);
	link_close(rig.board.console);
	close(rig.master_fd);
	close(rig.stop_fd);
	return rc;
}

START_TEST(a_board_that_talks_without_power_is_told)
{
	char text[256];

	ck_assert_int_eq(check("tick tack ", text, sizeof(text)), -EISCONN);
	ck_assert_ptr_nonnull(strstr(text, "BACKPOWER"));
	ck_assert_ptr_nonnull(strstr(text, "tack tick"));
}
END_TEST

START_TEST(a_dead_board_and_an_open_line_are_not)
{
	char text[256];

	ck_assert_int_eq(check("", text, sizeof(text)), 0);
	ck_assert_str_eq(text, "");
	ck_assert_int_eq(check("\x80\xff\x01\xfe", text, sizeof(text)), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("backpower");
	TCase *tcase = tcase_create("backpower");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, a_board_that_talks_without_power_is_told);
	tcase_add_test(tcase, a_dead_board_and_an_open_line_are_not);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
