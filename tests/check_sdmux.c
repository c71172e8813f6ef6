/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "boardctl/monotonic.h"
#include "boardctl/sdmux.h"
#include "tests/scratch.h"

/* A fake usbsdmux on a PATH of the test's own. It checks what it is given, and
 * STATE holds the position. */
#define DEVICE "/dev/usb-sd-mux/id-00$(touch hacked) 1"

static struct scratch scratch;
static char state_path[128];

static void set_up(void)
{
	char path[256];

	scratch_init(&scratch);
	snprintf(path, sizeof(path), "%s:%s", scratch.dir, getenv("PATH"));
	ck_assert_int_eq(setenv("PATH", path, 1), 0);
	snprintf(state_path, sizeof(state_path), "%s", scratch_path(&scratch, "state"));
	ck_assert_int_eq(setenv("STATE", state_path, 1), 0);
	ck_assert_int_eq(setenv("DEVICE", DEVICE, 1), 0);
}

static void tear_down(void)
{
	scratch_fini(&scratch);
}

static void write_tool(const char *name, const char *body)
{
	char text[1024];

	snprintf(text, sizeof(text),
		"#!/bin/sh\n"
		"[ $# -eq 2 ] || { echo \"$# arguments\"; exit 90; }\n"
		"[ \"$1\" = \"$DEVICE\" ] || { echo \"device $1\"; exit 91; }\n"
		"if read -r line; then echo 'there is input'; exit 92; fi\n"
		"%s\n",
		body);
	scratch_write(&scratch, name, text, strlen(text));
	ck_assert_int_eq(chmod(scratch_path(&scratch, name), 0755), 0);
}

static const char healthy[] = "case $2 in\n"
			      "get) cat \"$STATE\" ;;\n"
			      "host|dut|off) echo \"$2\" >\"$STATE\" ;;\n"
			      "*) echo \"verb $2\"; exit 93 ;;\n"
			      "esac";

static struct sdmux *open_mux(const char *command, unsigned timeout_ms)
{
	const struct sdmux_config config = {.driver = "usbsdmux",
		.command = command,
		.device = DEVICE,
		.timeout_ms = timeout_ms};
	struct sdmux *mux;

	ck_assert_int_eq(sdmux_open(&mux, &config), 0);
	return mux;
}

static void check_nothing_left(void)
{
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}

START_TEST(each_position_is_set_and_told)
{
	static const enum sdmux_position all[] = {
		SDMUX_POSITION_HOST, SDMUX_POSITION_OFF, SDMUX_POSITION_DUT};
	struct sdmux *mux = open_mux(NULL, 0);

	write_tool("usbsdmux", healthy);
	for (size_t i = 0; i < 3; i++) {
		enum sdmux_position position = SDMUX_POSITION_OFF;
		char text[16] = "";
		int fd;

		ck_assert_msg(!sdmux_set(mux, all[i]), "%s", sdmux_error(mux));
		ck_assert_int_eq(sdmux_get(mux, &position), 0);
		ck_assert_int_eq(position, all[i]);
		fd = open(state_path, O_RDONLY);
		ck_assert_int_gt(read(fd, text, sizeof(text) - 1), 0);
		close(fd);
		text[strcspn(text, "\n")] = '\0';
		ck_assert_str_eq(text, sdmux_position_name(all[i]));
	}
	sdmux_close(mux);
	check_nothing_left();
	ck_assert_int_ne(access("hacked", F_OK), 0);
}
END_TEST

START_TEST(another_command_can_be_configured)
{
	struct sdmux *by_name = open_mux("other-mux", 0);
	struct sdmux *by_path;

	write_tool("other-mux", healthy);
	ck_assert_int_eq(sdmux_set(by_name, SDMUX_POSITION_DUT), 0);
	by_path = open_mux(scratch_path(&scratch, "other-mux"), 0);
	ck_assert_int_eq(sdmux_set(by_path, SDMUX_POSITION_HOST), 0);
	sdmux_close(by_name);
	sdmux_close(by_path);
}
END_TEST

START_TEST(a_missing_tool_is_told)
{
	struct sdmux *mux = open_mux("no-such-mux-tool", 0);

	ck_assert_int_eq(sdmux_set(mux, SDMUX_POSITION_HOST), -ENOENT);
	ck_assert_ptr_nonnull(strstr(sdmux_error(mux), "no-such-mux-tool"));
	ck_assert_ptr_nonnull(strstr(sdmux_error(mux), "install it"));
	sdmux_close(mux);
	check_nothing_left();
}
END_TEST

START_TEST(a_failure_carries_what_the_tool_said)
{
	struct sdmux *mux = open_mux(NULL, 0);

	write_tool("usbsdmux", "echo 'no permission for the device' >&2; exit 3");
	ck_assert_int_eq(sdmux_set(mux, SDMUX_POSITION_HOST), -EIO);
	ck_assert_ptr_nonnull(strstr(sdmux_error(mux), "ended with 3"));
	ck_assert_ptr_nonnull(strstr(sdmux_error(mux), "no permission for the device"));
	write_tool("usbsdmux", "kill -9 $$");
	ck_assert_int_eq(sdmux_set(mux, SDMUX_POSITION_HOST), -EIO);
	ck_assert_ptr_nonnull(strstr(sdmux_error(mux), "ended with 137"));
	sdmux_close(mux);
	check_nothing_left();
}
END_TEST

START_TEST(a_tool_that_hangs_is_killed_with_its_children)
{
	struct sdmux *mux = open_mux(NULL, 300);
	uint64_t start_ms = monotonic_get_ms();
	char text[32] = "";
	pid_t child;
	int fd;

	/* The pid is there before the tool waits for ever. */
	write_tool("usbsdmux", "sleep 1000 &\necho $! >\"$STATE\"\nwait");
	ck_assert_int_eq(sdmux_set(mux, SDMUX_POSITION_HOST), -ETIMEDOUT);
	ck_assert_uint_ge(monotonic_get_ms() - start_ms, 299);
	ck_assert_ptr_nonnull(strstr(sdmux_error(mux), "300 ms"));
	sdmux_close(mux);
	check_nothing_left();
	fd = open(state_path, O_RDONLY);
	ck_assert_int_gt(read(fd, text, sizeof(text) - 1), 0);
	close(fd);
	child = atoi(text);
	ck_assert_int_gt(child, 1);
	/* Its parent is gone, so init reaps it soon. */
	for (uint64_t end_ms = monotonic_get_ms() + 5000;
		!kill(child, 0) && monotonic_get_ms() < end_ms;) {
		char path[64], stat[256] = "";

		snprintf(path, sizeof(path), "/proc/%d/stat", child);
		fd = open(path, O_RDONLY);
		if (fd < 0)
			break;
		ck_assert_int_ge(read(fd, stat, sizeof(stat) - 1), 0);
		close(fd);
		if (strstr(stat, ") Z "))
			break;
	}
	ck_assert_uint_lt(monotonic_get_ms() - start_ms, 5000);
}
END_TEST

START_TEST(a_child_that_keeps_the_output_open_is_not_waited_for)
{
	struct sdmux *mux = open_mux(NULL, 8000);
	uint64_t start_ms = monotonic_get_ms();

	write_tool("usbsdmux",
		"[ \"$2\" = get ] || { sleep 9 & echo $! >\"$STATE.pid\"; exit 0; }\n"
		"kill $(cat \"$STATE.pid\"); echo host");
	ck_assert_msg(!sdmux_set(mux, SDMUX_POSITION_HOST), "%s", sdmux_error(mux));
	ck_assert_uint_lt(monotonic_get_ms() - start_ms, 8000);
	sdmux_close(mux);
}
END_TEST

START_TEST(an_answer_that_is_no_position_is_told)
{
	enum sdmux_position position;
	struct sdmux *mux = open_mux(NULL, 0);

	write_tool("usbsdmux", "[ \"$2\" = get ] && echo hostile; exit 0");
	ck_assert_int_eq(sdmux_get(mux, &position), -EPROTO);
	ck_assert_ptr_nonnull(strstr(sdmux_error(mux), "\"hostile\""));
	write_tool("usbsdmux", "exit 0");
	ck_assert_int_eq(sdmux_get(mux, &position), -EPROTO);
	sdmux_close(mux);
}
END_TEST

START_TEST(a_mux_that_stays_where_it_was_is_told)
{
	struct sdmux *mux = open_mux(NULL, 0);

	write_tool("usbsdmux", "[ \"$2\" = get ] && echo dut; exit 0");
	ck_assert_int_eq(sdmux_set(mux, SDMUX_POSITION_HOST), -EPROTO);
	ck_assert_ptr_nonnull(strstr(sdmux_error(mux), "set to host and says it is at dut"));
	ck_assert_int_eq(sdmux_set(mux, SDMUX_POSITION_DUT), 0);
	sdmux_close(mux);
}
END_TEST

START_TEST(a_flood_of_output_does_no_harm)
{
	struct sdmux *mux = open_mux(NULL, 0);

	write_tool("usbsdmux", "head -c 300000 /dev/zero | tr '\\0' x; exit 4");
	ck_assert_int_eq(sdmux_set(mux, SDMUX_POSITION_HOST), -EIO);
	ck_assert_ptr_nonnull(strstr(sdmux_error(mux), "ended with 4"));
	sdmux_close(mux);
}
END_TEST

START_TEST(a_wrong_configuration_is_refused)
{
	struct sdmux_config config = {.driver = "sdwires", .device = "x"};
	struct sdmux *mux;

	ck_assert_int_eq(sdmux_open(&mux, &config), -EINVAL);
	ck_assert_ptr_nonnull(strstr(sdmux_error(mux), "\"usbsdmux\""));
	sdmux_close(mux);
	config = (struct sdmux_config){.driver = "usbsdmux"};
	ck_assert_int_eq(sdmux_open(&mux, &config), -EINVAL);
	ck_assert_ptr_nonnull(strstr(sdmux_error(mux), "device"));
	sdmux_close(mux);
	sdmux_close(NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sdmux");
	TCase *usbsdmux = tcase_create("usbsdmux");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(usbsdmux, set_up, tear_down);
	tcase_set_timeout(usbsdmux, 20);
	tcase_add_test(usbsdmux, each_position_is_set_and_told);
	tcase_add_test(usbsdmux, another_command_can_be_configured);
	tcase_add_test(usbsdmux, a_missing_tool_is_told);
	tcase_add_test(usbsdmux, a_failure_carries_what_the_tool_said);
	tcase_add_test(usbsdmux, a_tool_that_hangs_is_killed_with_its_children);
	tcase_add_test(usbsdmux, a_child_that_keeps_the_output_open_is_not_waited_for);
	tcase_add_test(usbsdmux, an_answer_that_is_no_position_is_told);
	tcase_add_test(usbsdmux, a_mux_that_stays_where_it_was_is_told);
	tcase_add_test(usbsdmux, a_flood_of_output_does_no_harm);
	tcase_add_test(usbsdmux, a_wrong_configuration_is_refused);
	suite_add_tcase(suite, usbsdmux);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
