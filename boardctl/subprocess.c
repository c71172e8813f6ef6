/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "boardctl/monotonic.h"

extern char **environ;

/* A signal mask or handler of the caller must not change how the tool ends. */
static int set_attributes(posix_spawnattr_t *attributes)
{
	sigset_t none, standard;
	int ret;

	sigemptyset(&none);
	sigemptyset(&standard);
	sigaddset(&standard, SIGPIPE);
	sigaddset(&standard, SIGINT);
	sigaddset(&standard, SIGTERM);
	sigaddset(&standard, SIGCHLD);
	ret = posix_spawnattr_setflags(
		attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	if (!ret)
		ret = posix_spawnattr_setsigmask(attributes, &none);
	return ret ? ret : posix_spawnattr_setsigdefault(attributes, &standard);
}

static int spawn(const char *const argv[], int output_fd, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int ret = posix_spawn_file_actions_init(&actions);

	if (ret)
		return -ret;
	ret = posix_spawnattr_init(&attributes);
	if (ret)
		goto out;
	ret = set_attributes(&attributes);
	if (!ret)
		ret = posix_spawn_file_actions_addopen(
			&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!ret)
		ret = posix_spawn_file_actions_adddup2(&actions, output_fd, STDOUT_FILENO);
	if (!ret)
		ret = posix_spawn_file_actions_adddup2(&actions, output_fd, STDERR_FILENO);
	if (!ret)
		ret = posix_spawnp(
			pid, argv[0], &actions, &attributes, (char *const *)argv, environ);
	posix_spawnattr_destroy(&attributes);
out:
	posix_spawn_file_actions_destroy(&actions);
	return -ret;
}

struct collector {
	int fd;
	char *output;
	size_t size, used;
};

/* 1 more may come, 0 it has ended. */
static int collect(struct collector *c)
{
	char rest[512];
	size_t room = c->size - 1 - c->used;
	ssize_t got =
		room ? read(c->fd, c->output + c->used, room) : read(c->fd, rest, sizeof(rest));

	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	if (room)
		c->used += (size_t)got;
	c->output[c->used] = '\0';
	return got > 0;
}

/* Until the process has ended: a child of its own that keeps the pipe open
 * isn't waited for. */
static int watch(int process_fd, struct collector *c, uint64_t deadline_us)
{
	bool is_open = true;

	for (;;) {
		uint64_t now_us = monotonic_get_us();
		int left_ms = now_us < deadline_us ? (int)((deadline_us - now_us) / 1000u) + 1 : 0;
		struct pollfd entries[] = {
			{.fd = process_fd, .events = POLLIN},
			{.fd = is_open ? c->fd : -1, .events = POLLIN},
		};
		int ready = poll(entries, 2, left_ms);

		if (ready < 0 && errno != EINTR)
			return -errno;
		if (!ready)
			return -ETIMEDOUT;
		if (ready < 0)
			continue;
		if (entries[1].revents)
			is_open = collect(c);
		else if (entries[0].revents)
			return 0;
	}
}

int subprocess_run(
	const char *const argv[], unsigned timeout_ms, char *output, size_t size, int *status)
{
	uint64_t deadline_us = monotonic_get_us() + (uint64_t)timeout_ms * 1000u;
	struct collector c = {.output = output, .size = size};
	int ends[2], process_fd, raw = 0;
	pid_t pid;
	int ret;

	*status = -1;
	output[0] = '\0';
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	ret = spawn(argv, ends[1], &pid);
	close(ends[1]);
	c.fd = ends[0];
	if (ret)
		goto out;
	fcntl(c.fd, F_SETFL, O_NONBLOCK);
	process_fd = pidfd_open(pid, 0);
	ret = process_fd < 0 ? -errno : watch(process_fd, &c, deadline_us);
	if (ret)
		kill(-pid, SIGKILL);
	while (waitpid(pid, &raw, 0) < 0 && errno == EINTR)
		;
	if (process_fd >= 0)
		close(process_fd);
	*status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
out:
	close(ends[0]);
	return ret;
}
