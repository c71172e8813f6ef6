/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/tty.h"

/* The kernel's termios2 takes any rate; libc's termios.h clashes with it. */
#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <errno.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "boardctl/monotonic.h"
#include "boardctl/ready.h"

#define STUCK_MS 2000u

static int gone_or(int error)
{
	return error == EIO || error == ENXIO || error == ENODEV ? -ENODEV : -error;
}

ssize_t tty_read(int fd, void *buffer, size_t size, unsigned timeout_ms)
{
	uint64_t deadline_us = monotonic_get_us() + (uint64_t)timeout_ms * 1000u;

	for (;;) {
		int ready = ready_wait(fd, POLLIN, deadline_us);
		ssize_t got;

		if (ready <= 0)
			return ready;
		got = read(fd, buffer, size);
		if (got > 0)
			return got;
		/* Ready and nothing to read: the other side has hung up. */
		if (!got)
			return -ENODEV;
		if (errno != EAGAIN && errno != EINTR)
			return gone_or(errno);
	}
}

int tty_write(int fd, const void *data, size_t size, uint32_t baud)
{
	const char *bytes = data;

	while (size) {
		ssize_t put = write(fd, bytes, size);
		int ready;

		if (put > 0) {
			bytes += put;
			size -= (size_t)put;
			continue;
		}
		if (put < 0 && errno != EAGAIN && errno != EINTR)
			return gone_or(errno);
		ready = ready_wait(fd, POLLOUT,
			monotonic_get_us() + STUCK_MS * 1000u +
				(uint64_t)size * 10u * 1000000u / baud);
		if (ready < 0)
			return ready;
		if (!ready)
			return -ETIMEDOUT;
	}
	return 0;
}

int tty_drain(int fd)
{
	while (ioctl(fd, TCSBRK, 1))
		if (errno != EINTR)
			return gone_or(errno);
	return 0;
}

int tty_flush_input(int fd)
{
	return ioctl(fd, TCFLSH, TCIFLUSH) ? gone_or(errno) : 0;
}

/* Standard rates by their old names, so that programs without termios2 see them. */
static const struct {
	uint32_t baud;
	tcflag_t flag;
} standard_rates[] = {
	{1200, B1200},
	{2400, B2400},
	{4800, B4800},
	{9600, B9600},
	{19200, B19200},
	{38400, B38400},
	{57600, B57600},
	{115200, B115200},
	{230400, B230400},
	{460800, B460800},
	{500000, B500000},
	{921600, B921600},
	{1000000, B1000000},
	{1500000, B1500000},
	{2000000, B2000000},
	{3000000, B3000000},
};

static void set_rate(struct termios2 *term, uint32_t baud)
{
	tcflag_t flag = BOTHER;

	for (size_t i = 0; i < sizeof(standard_rates) / sizeof(standard_rates[0]); i++)
		if (standard_rates[i].baud == baud)
			flag = standard_rates[i].flag;
	term->c_cflag &= ~(tcflag_t)(CBAUD | CIBAUD);
	term->c_cflag |= flag | flag << IBSHIFT;
	term->c_ispeed = baud;
	term->c_ospeed = baud;
}

int tty_set_raw(int fd, uint32_t baud)
{
	struct termios2 term;

	if (ioctl(fd, TCGETS2, &term))
		return gone_or(errno);
	term.c_iflag = 0;
	term.c_oflag = 0;
	term.c_lflag = 0;
	term.c_cflag &= ~(tcflag_t)(CSIZE | PARENB | CSTOPB | CRTSCTS | HUPCL);
	term.c_cflag |= CS8 | CREAD | CLOCAL;
	term.c_cc[VMIN] = 1;
	term.c_cc[VTIME] = 0;
	set_rate(&term, baud);
	return ioctl(fd, TCSETS2, &term) ? gone_or(errno) : 0;
}

int tty_set_baud(int fd, uint32_t baud)
{
	struct termios2 term;

	if (ioctl(fd, TCGETS2, &term))
		return gone_or(errno);
	set_rate(&term, baud);
	return ioctl(fd, TCSETSW2, &term) ? gone_or(errno) : 0;
}

int tty_lock(int fd)
{
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return 0;
	return errno == EWOULDBLOCK ? -EBUSY : -errno;
}
