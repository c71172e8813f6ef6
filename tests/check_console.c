/* SPDX-License-Identifier: Apache-2.0 */
/* The live console: typed at by one, watched by several, on the virtual panel. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "boardctl/monotonic.h"
#include "harness/console_share.h"
#include "tests/case_table.h"
#include "tests/lab_rig.h"
#include "tests/vboard_rig.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PATIENCE_MS  60000

struct console {
	pid_t pid;
	int in_fd, out_fd; /* its keyboard and its screen */
	char text[262144];
	size_t size;
};

static struct console *console_start(struct lab_rig *rig)
{
	struct console *console = calloc(1, sizeof(*console));
	char program[PATH_MAX], lab[300], state[300];
	int in[2], out[2];

	rig_find_program("sameboard", program, sizeof(program));
	snprintf(lab, sizeof(lab), "--lab=%s", rig->lab);
	snprintf(state, sizeof(state), "%s", scratch_path(&rig->scratch, "state"));
	ck_assert_int_eq(pipe2(in, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
	console->pid = fork();
	ck_assert_int_ge(console->pid, 0);
	if (console->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(in[0], 0);
		dup2(out[1], 1);
		dup2(out[1], 2);
		setenv("SAMEBOARD_STATE", state, 1);
		execl(program, program, "console", "vpanel", lab, NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	console->in_fd = in[1];
	console->out_fd = out[0];
	return console;
}

/* False at its end. */
static bool console_read(struct console *console, int timeout_ms)
{
	struct pollfd entry = {.fd = console->out_fd, .events = POLLIN};
	size_t room = sizeof(console->text) - 1 - console->size;
	ssize_t got;

	ck_assert_msg(poll(&entry, 1, timeout_ms) == 1, "nothing more after: %s",
		console->text + (console->size > 500 ? console->size - 500 : 0));
	got = read(console->out_fd, console->text + console->size, room);
	ck_assert_int_ge(got, 0);
	for (ssize_t i = 0; i < got; i++)
		if (!console->text[console->size + (size_t)i])
			console->text[console->size + (size_t)i] = '?';
	console->size += (size_t)got;
	console->text[console->size] = '\0';
	return got > 0;
}

static void console_await(struct console *console, const char *needle)
{
	while (!strstr(console->text, needle))
		ck_assert_msg(console_read(console, PATIENCE_MS), "it ended without \"%s\": %s",
			needle, console->text);
}

static void console_type(struct console *console, const char *keys)
{
	ck_assert_int_eq(write(console->in_fd, keys, strlen(keys)), (ssize_t)strlen(keys));
}

/* Its exit code; frees it. */
static int console_end(struct console *console)
{
	int status;

	while (console_read(console, PATIENCE_MS))
		;
	ck_assert_int_eq(waitpid(console->pid, &status, 0), console->pid);
	close(console->in_fd);
	close(console->out_fd);
	free(console);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

START_TEST(test_one_types_and_the_others_watch)
{
	struct console *typist, *viewers[2];
	struct lab_rig rig;

	lab_rig_start(&rig, NULL, 64);
	lab_rig_expect(&rig, 0, (const char *[]){"sd", "vpanel", "dut", NULL});
	typist = console_start(&rig);
	console_await(typist, "is yours");
	for (size_t i = 0; i < COUNT(viewers); i++) {
		viewers[i] = console_start(&rig);
		console_await(viewers[i], "only to watch");
	}
	console_type(typist, "\x1d?\x1d"
			     "1");
	console_await(typist, "0 power off");
	console_await(typist, "Hit any key");
	ck_assert(lab_rig_has_power(&rig));
	console_type(typist, " ");
	console_await(typist, "=> ");
	/* What viewers type reaches nobody. */
	console_type(viewers[0], "echo from-a-viewer\r");
	console_type(typist, "echo from-$((40+2))-the-typist; printenv baudrate\r");
	console_await(typist, "baudrate=115200");
	for (size_t i = 0; i < COUNT(viewers); i++)
		console_await(viewers[i], "baudrate=115200");
	ck_assert_ptr_null(strstr(typist->text, "from-a-viewer"));
	/* One leaves by its key; the last is told that the line is free. */
	console_type(viewers[0], "\x1d");
	ck_assert_int_eq(console_end(viewers[0]), 0);
	console_type(typist, "\x1d"
			     "0");
	console_await(typist, "power off");
	console_type(typist, "\x1dq");
	ck_assert_int_eq(console_end(typist), 0);
	console_await(viewers[1], "nobody holds it any more");
	ck_assert_int_eq(console_end(viewers[1]), 0);
	ck_assert(!lab_rig_has_power(&rig));
	lab_rig_stop(&rig);
}
END_TEST

static bool has_begun(struct lab_rig *rig)
{
	FILE *file = fopen(scratch_path(&rig->scratch, "err"), "r");
	char text[4096] = "";

	if (!file)
		return false;
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return strstr(text, "card") != NULL;
}

START_TEST(test_a_job_is_watched_and_not_disturbed)
{
	struct console *viewer;
	struct lab_rig rig;
	const char *suite;

	lab_rig_start(&rig, NULL, 64);
	suite = lab_rig_write_suite(
		&rig, "\"baremetal\"", "{ \"bench\": \"wake.idle\", \"n\": 200 }", 1);
	lab_rig_begin(&rig, (const char *[]){"run", suite, NULL});
	/* From its first line on the job has the board. */
	while (!has_begun(&rig))
		monotonic_sleep_until_us(monotonic_get_us() + 10000);
	viewer = console_start(&rig);
	console_await(viewer, "only to watch");
	console_type(viewer, "\r\rreset\r");
	console_await(viewer, "U-Boot 20");
	console_await(viewer, "nobody holds it any more");
	ck_assert_int_eq(console_end(viewer), 0);
	ck_assert_msg(lab_rig_end(&rig) == 0, "%s", rig.err);
	lab_rig_stop(&rig);
}
END_TEST

/* ------------------------------------------------------------------- share */

static void say(struct console_share *share, const char *text)
{
	struct link_tap tap = console_share_tap(share);

	tap.see(tap.ctx, LINK_DIRECTION_RX, 0, text, strlen(text));
	tap.see(tap.ctx, LINK_DIRECTION_TX, 0, "typed", 5);
}

static void expect(int fd, const char *text)
{
	char got[256] = "";

	ck_assert_int_eq(recv(fd, got, strlen(text), MSG_WAITALL), (ssize_t)strlen(text));
	ck_assert_str_eq(got, text);
}

START_TEST(test_a_share_has_a_past_and_drops_who_is_too_slow)
{
	struct console_share *share, *next;
	struct scratch scratch;
	char path[512], long_name[200];
	static char flood[65536];
	int fast, slow;

	scratch_init(&scratch);
	memset(long_name, 'x', sizeof(long_name));
	long_name[199] = '\0'; /* longer than a socket's own path may be */
	ck_assert_int_eq(mkdir(scratch_path(&scratch, long_name), 0755), 0);
	snprintf(path, sizeof(path), "%s/c", scratch_path(&scratch, long_name));
	ck_assert_int_eq(console_share_connect(path), -ENOENT);
	ck_assert_int_eq(console_share_open(&share, path), 0);
	say(share, "one ");
	fast = console_share_connect(path);
	ck_assert_int_ge(fast, 0);
	say(share, "two ");
	expect(fast, "one two ");
	slow = console_share_connect(path);
	console_share_accept(share);
	memset(flood, 'f', sizeof(flood) - 1);
	for (int i = 0; i < 100; i++) {
		say(share, flood);
		for (size_t left = sizeof(flood) - 1; left > 0;) {
			ssize_t got = recv(fast, flood, left, 0);

			ck_assert_int_gt(got, 0);
			left -= (size_t)got;
		}
	}
	say(share, "end");
	expect(fast, "end");
	/* The slow one has a beginning and then the end of its connection. */
	while (recv(slow, flood, sizeof(flood) - 1, 0) > 0)
		;
	close(slow);
	/* What a process left that died is replaced. */
	ck_assert_int_eq(console_share_open(&next, path), 0);
	say(next, "new");
	console_share_close(next);
	console_share_close(share);
	ck_assert_int_eq(recv(fast, flood, 1, 0), 0);
	close(fast);
	ck_assert_int_eq(console_share_connect(path), -ENOENT);
	scratch_fini(&scratch);
}
END_TEST

int main(void)
{
	const struct case_row rows[] = {
		{"share", test_a_share_has_a_past_and_drops_who_is_too_slow, 60},
		{"typed", test_one_types_and_the_others_watch, 240},
		{"watched", test_a_job_is_watched_and_not_disturbed, 240},
	};

	return case_table_run("console", rows, COUNT(rows));
}
