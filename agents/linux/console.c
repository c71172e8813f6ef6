/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/linux/console.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/serial.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "agents/linux/baud.h"

#define SHIFT_REGISTER_TRIES 200

static const struct {
	unsigned int baud;
	speed_t speed;
} speeds[] = {
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
};

#define SPEED_COUNT (sizeof(speeds) / sizeof(speeds[0]))

static int fail(struct console *console, int error, const char *what, const char *path)
{
	snprintf(console->error, sizeof(console->error), "%s %s: %s", what, path, strerror(error));
	return -error;
}

static int set_speed(struct termios *settings, unsigned int baud)
{
	for (size_t i = 0; i < SPEED_COUNT; i++) {
		if (speeds[i].baud == baud)
			return cfsetspeed(settings, speeds[i].speed);
	}
	errno = EINVAL;
	return -1;
}

int console_open(struct console *console, const char *path, unsigned int baud)
{
	const char *name = path ? path : "standard input";
	struct termios settings;

	*console = (struct console){.input = STDIN_FILENO, .output = STDOUT_FILENO};
	if (path) {
		console->input = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
		if (console->input < 0)
			return fail(console, errno, "cannot open", path);
		console->output = console->input;
		console->is_owned = true;
	}
	if (tcgetattr(console->input, &console->saved) != 0)
		return fail(console, errno, "no terminal settings of", name);
	settings = console->saved;
	cfmakeraw(&settings);
	settings.c_cflag |= CLOCAL | CREAD;
	settings.c_cflag &= ~(tcflag_t)(HUPCL | CRTSCTS | CSTOPB);
	settings.c_cc[VMIN] = 1;
	settings.c_cc[VTIME] = 0;
	if (baud && set_speed(&settings, baud) != 0)
		return fail(console, errno, "no such rate on", name);
	/* What was typed before is no frame of this agent's. */
	if (tcsetattr(console->input, TCSAFLUSH, &settings) != 0)
		return fail(console, errno, "cannot set", name);
	console->is_raw = true;
	return 0;
}

void console_close(struct console *console)
{
	if (console->is_raw)
		tcsetattr(console->input, TCSADRAIN, &console->saved);
	console->is_raw = false;
	if (console->is_owned)
		close(console->input);
	console->is_owned = false;
}

const char *console_error(const struct console *console)
{
	return console->error;
}

int console_read(struct console *console, uint8_t *data, size_t capacity, uint32_t timeout_ms)
{
	struct pollfd waited = {.fd = console->input, .events = POLLIN};
	const struct timespec timeout = {
		.tv_sec = timeout_ms / 1000, .tv_nsec = timeout_ms % 1000 * 1000000L};
	sigset_t none;
	ssize_t got;
	int ready;

	sigemptyset(&none);
	ready = ppoll(&waited, 1, &timeout, &none);

	if (ready <= 0)
		return ready < 0 ? -errno : 0;
	got = read(console->input, data, capacity);
	if (got > 0)
		return (int)got;
	/* Ready and nothing there: the line was hung up. */
	return got < 0 ? -errno : -ENODEV;
}

/* tcdrain() ends with the FIFO; the last byte is still in the shift register. */
static void drain_shift_register(const struct console *console)
{
	const struct timespec pause = {.tv_nsec = 50000};
	int status;

	for (int i = 0; i < SHIFT_REGISTER_TRIES; i++) {
		if (ioctl(console->output, TIOCSERGETLSR, &status) != 0 || status & TIOCSER_TEMT)
			return;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	}
}

int console_write(struct console *console, const uint8_t *data, size_t size)
{
	while (size > 0) {
		ssize_t written = write(console->output, data, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		data += written;
		size -= (size_t)written;
	}
	while (tcdrain(console->output) != 0) {
		if (errno != EINTR)
			return -errno;
	}
	drain_shift_register(console);
	return 0;
}

void console_get_counts(const struct console *console, struct console_counts *counts)
{
	struct serial_icounter_struct driver;
	int waiting;

	*counts = (struct console_counts){.rx = 0};
	if (ioctl(console->input, TIOCGICOUNT, &driver) == 0) {
		counts->rx_is_known = true;
		counts->tx_is_known = true;
		counts->rx = (uint32_t)driver.rx;
		counts->tx = (uint32_t)driver.tx;
	} else if (ioctl(console->input, FIONREAD, &waiting) == 0) {
		counts->rx_is_known = true;
		counts->rx = (uint64_t)waiting;
	}
}

int console_set_baud(struct console *console, uint32_t baud)
{
	drain_shift_register(console);
	return baud_set(console->output, baud);
}

unsigned int console_get_baud(const struct console *console)
{
	struct termios settings;

	if (tcgetattr(console->input, &settings) != 0)
		return 0;
	for (size_t i = 0; i < SPEED_COUNT; i++) {
		if (speeds[i].speed == cfgetospeed(&settings))
			return speeds[i].baud;
	}
	return 0;
}
