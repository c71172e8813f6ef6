/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/vboard/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Only an entry of the kind that vboard makes is its own. */
static const struct {
	const char *name;
	mode_t kind;
} guard_entries[] = {
	{"uart", S_IFLNK},
	{"relay", S_IFLNK},
	{"card", S_IFLNK},
	{"vboard.sock", S_IFSOCK},
	{"pid", S_IFREG},
};

static void guard_clean(int dir_fd)
{
	for (unsigned i = 0; i < sizeof(guard_entries) / sizeof(guard_entries[0]); i++) {
		const char *name = guard_entries[i].name;
		struct stat status;
		if (fstatat(dir_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
			(status.st_mode & S_IFMT) == guard_entries[i].kind)
			unlinkat(dir_fd, name, 0);
	}
}

static void guard_kill(int qemu_fd)
{
	if (qemu_fd >= 0)
		syscall(SYS_pidfd_send_signal, qemu_fd, SIGKILL, NULL, 0);
}

/* A pidfd still means the same process after its number was given to another. */
static int guard_replace(int qemu_fd, int32_t pid)
{
	if (qemu_fd >= 0)
		close(qemu_fd);
	return pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
}

static void guard_run(int pipe_fd, int dir_fd)
{
	int qemu_fd = -1;
	int32_t pid;

	for (;;) {
		ssize_t count = read(pipe_fd, &pid, sizeof(pid));
		if (count == (ssize_t)sizeof(pid))
			qemu_fd = guard_replace(qemu_fd, pid);
		else if (count >= 0 || errno != EINTR)
			break;
	}
	guard_kill(qemu_fd);
	guard_clean(dir_fd);
	_exit(0);
}

/* Neither the terminal's keys nor a closed standard output may reach the guard. */
static void guard_detach(int *pipe_fd, int *dir_fd)
{
	int null_fd = open("/dev/null", O_RDWR);
	sigset_t all;

	setsid();
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (int fd = 0; fd < 3 && null_fd >= 0; fd++)
		dup2(null_fd, fd);
	*pipe_fd = fcntl(*pipe_fd, F_DUPFD, 3);
	*dir_fd = fcntl(*dir_fd, F_DUPFD, 3);
	for (int fd = 3; fd < 256; fd++)
		if (fd != *pipe_fd && fd != *dir_fd)
			close(fd);
}

int guard_start(struct guard *guard, int dir_fd)
{
	int ends[2];

	guard->pid = 0;
	guard->pipe_fd = -1;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	guard->pid = fork();
	if (guard->pid == 0) {
		close(ends[1]);
		guard_detach(&ends[0], &dir_fd);
		guard_run(ends[0], dir_fd);
	}
	close(ends[0]);
	guard->pipe_fd = ends[1];
	return guard->pid < 0 ? -errno : 0;
}

void guard_name_qemu(struct guard *guard, pid_t pid)
{
	int32_t number = (int32_t)pid;

	/* A guard that is gone cannot be told; QEMU still dies with its parent. */
	if (guard->pipe_fd >= 0 && write(guard->pipe_fd, &number, sizeof(number)) < 0)
		guard->pipe_fd = -1;
}

void guard_finish(struct guard *guard)
{
	if (guard->pipe_fd >= 0)
		close(guard->pipe_fd);
	guard->pipe_fd = -1;
	if (guard->pid > 0)
		while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR)
			;
	guard->pid = 0;
}
