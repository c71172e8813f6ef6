/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/vboard_rig.h"

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
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* Long enough for a machine that is busy with other things. */
#define RIG_PATIENCE_MS 30000

static long long rig_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

void rig_find_program(const char *name, char *path, size_t size)
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	ck_assert_int_gt(length, 0);
	self[length] = '\0';
	*strrchr(self, '/') = '\0';
	*strrchr(self, '/') = '\0';
	ck_assert_int_lt(snprintf(path, size, "%s/%s", self, name), (int)size);
	ck_assert_msg(access(path, X_OK) == 0, "%s is not built", path);
}

/* A child whose output comes through *output_fd and which dies with its parent. */
static pid_t rig_fork(const char *const argv[], int *output_fd, bool with_errors)
{
	int ends[2];
	pid_t parent = getpid(), pid;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			_exit(127);
		dup2(ends[1], 1);
		if (with_errors)
			dup2(ends[1], 2);
		execv(argv[0], (char *const *)argv);
		_exit(127);
	}
	close(ends[1]);
	*output_fd = ends[0];
	return pid;
}

static int rig_wait(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		ck_assert_int_eq(errno, EINTR);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int rig_run(const char *const argv[], char *text, size_t size)
{
	size_t used = 0;
	ssize_t count;
	int fd;
	pid_t pid = rig_fork(argv, &fd, true);

	while (used < size - 1 && (count = read(fd, text + used, size - 1 - used)) > 0)
		used += (size_t)count;
	text[used] = '\0';
	close(fd);
	return rig_wait(pid);
}

int rig_switch_mux(struct rig *rig, const char *command)
{
	char program[PATH_MAX];

	rig_find_program("vboard-sdmux", program, sizeof(program));
	return rig_run(
		(const char *[]){program, rig->dir, command, NULL}, rig->text, sizeof(rig->text));
}

/* ---------------------------------------------------------------- ports */

void rig_set_baud(int fd, unsigned baud)
{
	struct termios termios;
	speed_t speed = baud == 9600 ? B9600 : baud == 115200 ? B115200 : B57600;

	ck_assert_int_eq(tcgetattr(fd, &termios), 0);
	cfmakeraw(&termios);
	cfsetspeed(&termios, speed);
	ck_assert_int_eq(tcsetattr(fd, TCSANOW, &termios), 0);
}

int rig_open_port(struct rig *rig, const char *name, unsigned baud)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", rig->dir, name);
	fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
	rig_set_baud(fd, baud);
	return fd;
}

void rig_write(int fd, const void *bytes, size_t size)
{
	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
}

/* Adds what comes within the time; false when nothing did. */
static bool rig_read_more(struct rig *rig, int fd, size_t count_max, int wait_ms)
{
	struct pollfd poll_port = {.fd = fd, .events = POLLIN};
	size_t space = sizeof(rig->text) - 1 - rig->text_size;
	ssize_t count;

	ck_assert_uint_gt(space, 0);
	if (poll(&poll_port, 1, wait_ms) <= 0)
		return false;
	count = read(fd, rig->text + rig->text_size, count_max < space ? count_max : space);
	ck_assert_int_gt(count, 0);
	rig->text_size += (size_t)count;
	rig->text[rig->text_size] = '\0';
	return true;
}

void rig_read_until(struct rig *rig, int fd, const char *needle)
{
	long long until_ms = rig_now_ms() + RIG_PATIENCE_MS;
	size_t length = strlen(needle);

	rig->text_size = 0;
	do {
		/* One byte at a time, so that what follows the needle is left for later. */
		long long left_ms = until_ms - rig_now_ms();
		ck_assert_msg(left_ms > 0 && rig_read_more(rig, fd, 1, (int)left_ms),
			"'%s' has not come, only '%s'", needle, rig->text_size ? rig->text : "");
	} while (rig->text_size < length ||
		 memcmp(rig->text + rig->text_size - length, needle, length) != 0);
}

void rig_read_bytes(struct rig *rig, int fd, size_t count)
{
	rig->text_size = 0;
	while (rig->text_size < count)
		ck_assert(rig_read_more(rig, fd, count - rig->text_size, RIG_PATIENCE_MS));
}

void rig_read_rest(struct rig *rig, int fd, int silence_ms)
{
	rig->text_size = 0;
	rig->text[0] = '\0';
	while (rig_read_more(rig, fd, sizeof(rig->text), silence_ms))
		;
}

/* ---------------------------------------------------------------- control */

void rig_ask(struct rig *rig, const char *command, char *answer, size_t size)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t used = 0;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/vboard.sock", rig->dir);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_gt(dprintf(fd, "%s\n", command), 0);
	while (!used || answer[used - 1] != '\n') {
		ssize_t count = read(fd, answer + used, size - 1 - used);
		ck_assert_int_gt(count, 0);
		used += (size_t)count;
	}
	close(fd);
	answer[used - 1] = '\0';
	ck_assert_msg(strncmp(answer, "ok", 2) == 0, "%s: %s", command, answer);
	memmove(answer, answer + (answer[2] == ' ' ? 3 : 2), strlen(answer + 2) + 1);
}

pid_t rig_get_qemu(struct rig *rig)
{
	char answer[64];
	int pid = 0;

	rig_ask(rig, "power", answer, sizeof(answer));
	ck_assert_msg(sscanf(answer, "on %d", &pid) == 1, "power: %s", answer);
	return pid;
}

unsigned long long rig_get_count(struct rig *rig, const char *key)
{
	char answer[1024], name[64];
	const char *field;

	rig_ask(rig, "stats", answer, sizeof(answer));
	snprintf(name, sizeof(name), "%s=", key);
	field = strstr(answer, name);
	ck_assert_ptr_nonnull(field);
	return strtoull(field + strlen(name), NULL, 10);
}

void rig_set_power(struct rig *rig, bool is_on)
{
	const unsigned char frame[] = {0xA0, 1, is_on, (unsigned char)(0xA1 + is_on), 0xFF};

	rig_write(rig->relay_fd, frame, sizeof(frame));
	rig_read_until(rig, rig->relay_fd, "CH2:OFF\r\n");
}

void rig_boot(struct rig *rig)
{
	rig_set_power(rig, true);
	rig_read_until(rig, rig->uart_fd, "Hit any key");
	rig_write(rig->uart_fd, " ", 1);
	rig_read_until(rig, rig->uart_fd, "=> ");
}

void rig_command(struct rig *rig, const char *line)
{
	rig_write(rig->uart_fd, line, strlen(line));
	rig_write(rig->uart_fd, "\r", 1);
	rig_read_until(rig, rig->uart_fd, "\r\n=> ");
}

/* ---------------------------------------------------------------- start and end */

bool rig_has_entry(const struct rig *rig, const char *name)
{
	char path[PATH_MAX];
	struct stat status;

	snprintf(path, sizeof(path), "%s/%s", rig->dir, name);
	return lstat(path, &status) == 0;
}

void rig_await_end(int pid_fd)
{
	struct pollfd poll_process = {.fd = pid_fd, .events = POLLIN};

	ck_assert_int_ge(pid_fd, 0);
	ck_assert_int_eq(poll(&poll_process, 1, RIG_PATIENCE_MS), 1);
}

void rig_start(struct rig *rig, const char *faults, const char *seed)
{
	rig_start_clocked(rig, faults, seed, "3686400");
}

void rig_start_clocked(struct rig *rig, const char *faults, const char *seed, const char *hz)
{
	char program[PATH_MAX];
	const char *argv[] = {program, "--dir", rig->dir, "--card", rig->card, "--seed", seed,
		"--uart-clock", hz, faults ? "--fault" : NULL, faults, NULL};
	int fd;

	memset(rig, 0, sizeof(*rig));
	strcpy(rig->dir, "/tmp/check_vboard.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(rig->dir));
	snprintf(rig->card, sizeof(rig->card), "%s/sd.img", rig->dir);
	fd = open(rig->card, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_eq(ftruncate(fd, 16 << 20), 0);
	close(fd);
	rig_find_program("vboard", program, sizeof(program));
	rig->pid = rig_fork(argv, &fd, false);
	rig_read_until(rig, fd, "ready ");
	close(fd);
	rig->uart_fd = rig_open_port(rig, "uart", 115200);
	rig->relay_fd = rig_open_port(rig, "relay", 9600);
}

void rig_remove(struct rig *rig)
{
	char path[PATH_MAX];

	close(rig->uart_fd);
	close(rig->relay_fd);
	unlink(rig->card);
	snprintf(path, sizeof(path), "%s/log", rig->dir);
	unlink(path);
	/* Fails when anything else was left there. */
	ck_assert_int_eq(rmdir(rig->dir), 0);
}

void rig_stop(struct rig *rig)
{
	kill(rig->pid, SIGTERM);
	ck_assert_int_eq(rig_wait(rig->pid), 0);
	rig_remove(rig);
}
