/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/rtsmart/rtsmart_console.h"

#include <errno.h>
#include <unistd.h>

#define WAIT_MS 100u /* one unit of VTIME */

int rtsmart_console_open(struct rtsmart_console *console)
{
	struct termios settings;

	console->is_raw = false;
	console->drains = true;
	if (tcgetattr(STDIN_FILENO, &console->saved) != 0)
		return -errno;
	settings = console->saved;
	cfmakeraw(&settings);
	settings.c_cc[VMIN] = 0;
	settings.c_cc[VTIME] = 1;
	if (tcsetattr(STDIN_FILENO, TCSANOW, &settings) != 0)
		return -errno;
	/* What was typed before is no frame of this agent's. */
	tcflush(STDIN_FILENO, TCIFLUSH);
	console->is_raw = true;
	return 0;
}

void rtsmart_console_close(struct rtsmart_console *console)
{
	if (console->is_raw)
		tcsetattr(STDIN_FILENO, TCSANOW, &console->saved);
	console->is_raw = false;
}

/* The end of VTIME comes as ETIMEDOUT, where others return 0. */
static bool is_nothing(ssize_t got, int error)
{
	return got == 0 || error == ETIMEDOUT || error == EINTR || error == EAGAIN;
}

int rtsmart_console_read(uint8_t *data, size_t capacity, uint32_t timeout_ms)
{
	uint32_t waited_ms = 0;

	do {
		ssize_t got = read(STDIN_FILENO, data, capacity);

		if (got > 0)
			return (int)got;
		if (!is_nothing(got, errno))
			return -errno;
		waited_ms += WAIT_MS;
	} while (waited_ms < timeout_ms);
	return 0;
}

int rtsmart_console_write(struct rtsmart_console *console, const uint8_t *data, size_t size)
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
	/* Where there is none, the driver has sent all before it returned. */
	if (console->drains)
		console->drains = tcdrain(STDOUT_FILENO) == 0;
	return 0;
}
