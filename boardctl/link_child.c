/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "boardctl/drivers.h"
#include "boardctl/monotonic.h"
#include "boardctl/tty.h"

#define LEAVE_MS   3000 /* it puts the system's settings back */
#define LEAVE_STEP 10

/* A program of this machine behind a pseudo-terminal, started by the open. */
struct link_child {
	struct link base;
	int fd;
	pid_t pid;
};

static struct link_child *child_of(struct link *link)
{
	return (struct link_child *)link;
}

static int say(struct link *link, int ret, const char *what)
{
	if (ret == -ENODEV || ret == -EIO)
		return fail_format(link->error, sizeof(link->error), -ENODEV,
			"cannot %s %s: it ended", what, link->path);
	return fail_format(link->error, sizeof(link->error), ret, "cannot %s %s: %s", what,
		link->path, strerror(-ret));
}

static int child_resolve(
	const struct link_config *config, char *path, size_t size, char *error, size_t error_size)
{
	char real[PATH_MAX];

	if (!config->path)
		return fail_format(
			error, error_size, -EINVAL, "the child driver needs the path of a program");
	if (!realpath(config->path, real) || access(real, X_OK) != 0)
		return fail_format(error, error_size, -errno, "no program %s: %s", config->path,
			strerror(errno));
	if (strlen(real) >= size)
		return fail_format(error, error_size, -ENAMETOOLONG, "path too long: %s", real);
	strcpy(path, real);
	return 0;
}

/* Nothing is echoed before the program sets the terminal up itself. */
static int open_terminal(int *master, int *slave)
{
	struct termios settings;

	*slave = -1;
	*master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (*master < 0)
		return -errno;
	if (grantpt(*master) != 0 || unlockpt(*master) != 0 ||
		(*slave = open(ptsname(*master), O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0 ||
		tcgetattr(*slave, &settings) != 0)
		return -errno;
	cfmakeraw(&settings);
	if (tcsetattr(*slave, TCSANOW, &settings) != 0 || fcntl(*master, F_SETFL, O_NONBLOCK) != 0)
		return -errno;
	return 0;
}

static void run_program(const char *path, int slave)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	dup2(slave, STDIN_FILENO);
	dup2(slave, STDOUT_FILENO);
	execl(path, path, (char *)NULL);
	_exit(127);
}

static int child_open(struct link *link)
{
	struct link_child *child = child_of(link);
	int slave;
	int ret = open_terminal(&child->fd, &slave);

	if (!ret) {
		child->pid = fork();
		if (child->pid == 0)
			run_program(link->path, slave);
		ret = child->pid < 0 ? -errno : 0;
	}
	if (slave >= 0)
		close(slave);
	if (!ret)
		return 0;
	if (child->fd >= 0)
		close(child->fd);
	return say(link, ret, "start");
}

/* Its terminal hangs up; then it has a moment. */
static void child_close(struct link *link)
{
	struct link_child *child = child_of(link);

	close(child->fd);
	for (int waited_ms = 0; waited_ms < LEAVE_MS; waited_ms += LEAVE_STEP) {
		if (waitpid(child->pid, NULL, WNOHANG) != 0)
			return;
		monotonic_sleep_until_us(monotonic_get_us() + LEAVE_STEP * 1000u);
	}
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
}

static ssize_t child_read(struct link *link, void *buffer, size_t size, unsigned timeout_ms)
{
	ssize_t got = tty_read(child_of(link)->fd, buffer, size, timeout_ms);

	return got < 0 ? say(link, (int)got, "read from") : got;
}

static int child_write(struct link *link, const void *data, size_t size)
{
	int ret = tty_write(child_of(link)->fd, data, size, link->baud);

	return ret ? say(link, ret, "write to") : 0;
}

/* A pseudo-terminal's master has nothing to drain, and no rate. */
static int child_drain(struct link *link)
{
	(void)link;
	return 0;
}

static int child_set_baud(struct link *link, uint32_t baud)
{
	(void)link;
	(void)baud;
	return 0;
}

static int child_flush(struct link *link)
{
	char thrown[256];
	ssize_t got;

	do
		got = tty_read(child_of(link)->fd, thrown, sizeof(thrown), 0);
	while (got > 0);
	return got < 0 ? say(link, (int)got, "flush") : 0;
}

const struct link_driver link_child_driver = {
	.name = "child",
	.instance_size = sizeof(struct link_child),
	.resolve = child_resolve,
	.open = child_open,
	.close = child_close,
	.read = child_read,
	.write = child_write,
	.drain = child_drain,
	.set_baud = child_set_baud,
	.flush = child_flush,
};
