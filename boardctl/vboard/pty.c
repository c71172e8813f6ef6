/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/vboard/pty.h"

#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The slave is opened once and closed again: only then does the master report that it is closed. */
static int pty_set_raw(const struct pty *pty, unsigned baud)
{
	struct termios2 termios;
	int result = 0;
	int fd = open(pty->path, O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	memset(&termios, 0, sizeof(termios));
	termios.c_cflag = CS8 | CREAD | CLOCAL | BOTHER;
	termios.c_ispeed = baud;
	termios.c_ospeed = baud;
	termios.c_cc[VMIN] = 1;
	if (ioctl(fd, TCSETS2, &termios) < 0)
		result = -errno;
	close(fd);
	return result;
}

int pty_open(struct pty *pty, const char *link, unsigned baud)
{
	int result;

	pty->inotify_fd = -1;
	pty->master_fd = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (pty->master_fd < 0)
		return -errno;
	if (grantpt(pty->master_fd) < 0 || unlockpt(pty->master_fd) < 0)
		goto fail;
	if (ptsname_r(pty->master_fd, pty->path, sizeof(pty->path)) != 0)
		goto fail;
	result = pty_set_raw(pty, baud);
	if (result < 0) {
		errno = -result;
		goto fail;
	}
	pty->inotify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (pty->inotify_fd >= 0)
		inotify_add_watch(pty->inotify_fd, pty->path, IN_OPEN);
	if (unlink(link) < 0 && errno != ENOENT)
		goto fail;
	if (symlink(pty->path, link) < 0)
		goto fail;
	return 0;
fail:
	result = -errno;
	pty_close(pty);
	return result;
}

void pty_close(struct pty *pty)
{
	if (pty->master_fd >= 0)
		close(pty->master_fd);
	if (pty->inotify_fd >= 0)
		close(pty->inotify_fd);
	pty->master_fd = -1;
	pty->inotify_fd = -1;
}

bool pty_is_listened(const struct pty *pty)
{
	struct pollfd poll_master = {.fd = pty->master_fd};

	return poll(&poll_master, 1, 0) >= 0 && !(poll_master.revents & POLLHUP);
}

void pty_clear_inotify(struct pty *pty)
{
	char events[1024];

	while (pty->inotify_fd >= 0 && read(pty->inotify_fd, events, sizeof(events)) > 0)
		;
}

void pty_flush(struct pty *pty)
{
	/* What the slave's line discipline already holds can only be flushed at the slave. */
	int fd = open(pty->path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return;
	ioctl(fd, TCFLSH, TCIFLUSH);
	close(fd);
}

unsigned pty_get_baud(const struct pty *pty)
{
	struct termios2 termios;

	if (ioctl(pty->master_fd, TCGETS2, &termios) < 0)
		return 0;
	if ((termios.c_cflag & CSIZE) != CS8 || (termios.c_cflag & PARENB))
		return 0;
	return (termios.c_cflag & CBAUD) == B0 ? 0 : termios.c_ospeed;
}
