/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rig.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "boardctl/monotonic.h"
#include "boardctl/tty.h"

#define QUIET_MS      200
#define QUIET_TRIES   100
#define CHILD_WAIT_MS 10000

int bench_rig_fail(struct bench_rig *rig, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(rig->error, sizeof(rig->error), format, args);
	va_end(args);
	return error;
}

const char *bench_rig_error(const struct bench_rig *rig)
{
	return rig->error;
}

/* ---------------------------------------------------------------- the folder */

/* The folder of the running program, without a slash at the end. */
static int find_own_dir(char *dir, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", dir, size - 1);
	char *slash;

	if (length < 0)
		return -errno;
	dir[length] = '\0';
	slash = strrchr(dir, '/');
	if (!slash)
		return -ENOENT;
	*slash = '\0';
	return 0;
}

int bench_make_dir(char *dir)
{
	size_t length;
	int rc = find_own_dir(dir, BENCH_DIR_SIZE - 16);

	if (rc < 0)
		return rc;
	length = strlen(dir);
	strcpy(dir + length, "/bench-XXXXXX");
	if (mkdtemp(dir))
		return 0;
	rc = -errno;
	dir[0] = '\0';
	return rc;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *where)
{
	(void)info;
	(void)type;
	(void)where;
	return remove(path);
}

void bench_remove_dir(const char *dir)
{
	if (dir[0])
		nftw(dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

const char *bench_rig_path(const struct bench_rig *rig, const char *name, char *path)
{
	snprintf(path, BENCH_PATH_SIZE, "%s/%s", rig->dir, name);
	return path;
}

/* ---------------------------------------------------------------- the line */

static void run_pacer(const struct bench_rig *rig, const int ask[2], const int answer[2])
{
	char path[BENCH_PATH_SIZE];

	if (find_own_dir(path, BENCH_DIR_SIZE) < 0)
		_exit(127);
	strcat(path, "/line-pacer");
	dup2(ask[0], STDIN_FILENO);
	dup2(answer[1], STDOUT_FILENO);
	execl(path, "line-pacer", rig->dir, (char *)NULL);
	fprintf(stderr, "%s: %s\n", path, strerror(errno));
	_exit(127);
}

static int read_answer(struct bench_rig *rig, char *line, size_t size)
{
	size_t used = 0;

	while (used + 1 < size) {
		ssize_t got = read(rig->answer_fd, line + used, 1);

		if (got <= 0)
			return bench_rig_fail(rig, -EPIPE, "the line's pacer has ended");
		if (line[used] == '\n')
			break;
		used++;
	}
	line[used] = '\0';
	return 0;
}

static int start_pacer(struct bench_rig *rig)
{
	int ask[2], answer[2];
	char line[32];
	int rc;

	if (pipe2(ask, O_CLOEXEC) < 0)
		return bench_rig_fail(rig, -errno, "no pipe: %s", strerror(errno));
	rig->ask_fd = ask[1];
	if (pipe2(answer, O_CLOEXEC) < 0) {
		rc = bench_rig_fail(rig, -errno, "no pipe: %s", strerror(errno));
		close(ask[0]);
		return rc;
	}
	rig->answer_fd = answer[0];
	rig->pacer = fork();
	if (rig->pacer == 0)
		run_pacer(rig, ask, answer);
	close(ask[0]);
	close(answer[1]);
	if (rig->pacer < 0)
		return bench_rig_fail(rig, -EAGAIN, "cannot fork");
	rc = read_answer(rig, line, sizeof(line));
	if (rc == 0 && strcmp(line, "ready") != 0)
		rc = bench_rig_fail(rig, -EPROTO, "the line's pacer says \"%s\"", line);
	return rc;
}

static int open_end(struct bench_rig *rig, const char *name, int *fd)
{
	char path[BENCH_PATH_SIZE];

	*fd = open(bench_rig_path(rig, name, path), O_RDWR | O_NOCTTY | O_CLOEXEC);
	return *fd >= 0 ? 0 : bench_rig_fail(rig, -errno, "%s: %s", path, strerror(errno));
}

int bench_rig_open(struct bench_rig *rig)
{
	int rc;

	*rig = (struct bench_rig){
		.ask_fd = -1, .answer_fd = -1, .host_fd = -1, .board_fd = -1, .pacer = -1};
	sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
	rc = bench_make_dir(rig->dir);
	if (rc < 0)
		return bench_rig_fail(rig, rc, "no folder for the benchmark: %s", strerror(-rc));
	rc = start_pacer(rig);
	if (rc == 0)
		rc = open_end(rig, "board", &rig->board_fd);
	if (rc == 0)
		rc = open_end(rig, "host", &rig->host_fd);
	return rc;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void bench_rig_close(struct bench_rig *rig)
{
	close_fd(&rig->host_fd);
	close_fd(&rig->board_fd);
	close_fd(&rig->ask_fd); /* which ends the pacer */
	close_fd(&rig->answer_fd);
	if (rig->pacer > 0)
		waitpid(rig->pacer, NULL, 0);
	rig->pacer = -1;
	bench_remove_dir(rig->dir);
	rig->dir[0] = '\0';
}

/* 1 when one of the ends had something, which is gone now. */
static int drain(struct bench_rig *rig)
{
	struct pollfd ends[2] = {
		{.fd = rig->host_fd, .events = POLLIN}, {.fd = rig->board_fd, .events = POLLIN}};
	char rest[4096];

	if (poll(ends, 2, QUIET_MS) <= 0)
		return 0;
	for (int i = 0; i < 2; i++)
		if (ends[i].revents & POLLIN && read(ends[i].fd, rest, sizeof(rest)) <= 0)
			return 0;
	return 1;
}

int bench_rig_reset(struct bench_rig *rig)
{
	int rc = tty_set_raw(rig->host_fd, BENCH_BAUD);

	if (rc == 0)
		rc = tty_set_raw(rig->board_fd, BENCH_BAUD);
	if (rc < 0)
		return bench_rig_fail(rig, rc, "cannot set the ptys: %s", strerror(-rc));
	for (int i = 0; i < QUIET_TRIES; i++)
		if (!drain(rig))
			return 0;
	return bench_rig_fail(rig, -EBUSY, "the line does not fall silent");
}

int bench_rig_count(struct bench_rig *rig, struct bench_counts *counts)
{
	unsigned long long to_host = 0, to_board = 0;
	char line[64];
	int rc = 0;

	if (write(rig->ask_fd, "\n", 1) != 1)
		rc = bench_rig_fail(rig, -EPIPE, "the line's pacer has ended");
	if (rc == 0)
		rc = read_answer(rig, line, sizeof(line));
	if (rc == 0 && sscanf(line, "%llu %llu", &to_host, &to_board) != 2)
		rc = bench_rig_fail(rig, -EPROTO, "the line's pacer says \"%s\"", line);
	*counts = (struct bench_counts){to_host, to_board};
	return rc;
}

/* ---------------------------------------------------------------- children */

int bench_rig_wait(struct bench_rig *rig, pid_t pid, const char *what)
{
	uint64_t until_ms = monotonic_get_ms() + CHILD_WAIT_MS;
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (monotonic_get_ms() >= until_ms) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return bench_rig_fail(rig, -ETIMEDOUT, "%s does not end", what);
		}
		poll(NULL, 0, 5);
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return bench_rig_fail(rig, -ECHILD, "%s failed (%s %d)", what,
		WIFEXITED(status) ? "exit code" : "signal",
		WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}
