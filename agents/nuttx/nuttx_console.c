/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/nuttx/nuttx_console.h"

#include <errno.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

int nuttx_console_open(struct nuttx_console *console)
{
	struct termios settings;

	console->is_raw = false;
	if (tcgetattr(STDIN_FILENO, &console->saved) != 0)
		return -errno;
	settings = console->saved;
	cfmakeraw(&settings);
	/* What was typed before is no frame of this agent's. */
	if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings) != 0)
		return -errno;
	console->is_raw = true;
	return 0;
}

void nuttx_console_close(struct nuttx_console *console)
{
	if (console->is_raw)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &console->saved);
	console->is_raw = false;
}

int nuttx_console_read(uint8_t *data, size_t capacity, uint32_t timeout_ms)
{
	struct pollfd waited = {.fd = STDIN_FILENO, .events = POLLIN};
	int ready = poll(&waited, 1, (int)timeout_ms);
	ssize_t got;

	if (ready <= 0)
		return ready < 0 && errno != EINTR ? -errno : 0;
	got = read(STDIN_FILENO, data, capacity);
	if (got > 0)
		return (int)got;
	if (got < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -errno;
	return -ENODEV; /* ready and nothing there: hung up */
}

int nuttx_console_write(const uint8_t *data, size_t size)
{
	while (size > 0) {
		ssize_t written = write(STDOUT_FILENO, data, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		data += written;
		size -= (size_t)written;
	}
	while (tcdrain(STDOUT_FILENO) != 0) {
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

int nuttx_console_count_waiting(void)
{
	int waiting;

	return ioctl(STDIN_FILENO, FIONREAD, (unsigned long)(uintptr_t)&waiting) == 0 ? waiting
										      : -errno;
}
