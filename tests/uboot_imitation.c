/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/uboot_imitation.h"

#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <termios.h>
#include <unistd.h>

#define STOPPED (-1)
#define NOTHING (-2)
#define CTRL_C	3

static void say(struct imitation *m, const char *text)
{
	for (; *text; text++) {
		char byte = *text;

		if (m->garble_every && ++m->sent % m->garble_every == 0)
			byte ^= 4;
		if (write(m->master_fd, &byte, 1) != 1)
			return;
	}
}

/* A byte, or STOPPED, or NOTHING within timeout_ms. */
static int hear(struct imitation *m, int timeout_ms)
{
	for (;;) {
		struct pollfd entries[] = {
			{.fd = m->master_fd, .events = POLLIN},
			{.fd = m->stop_fd, .events = POLLIN},
		};
		unsigned char byte;

		if (!poll(entries, 2, timeout_ms))
			return NOTHING;
		if (entries[1].revents)
			return STOPPED;
		if (read(m->master_fd, &byte, 1) != 1)
			return STOPPED;
		m->received++;
		if (m->change_every && m->received % m->change_every == 0)
			return byte ^ 4;
		if (!m->eat_every || m->received % m->eat_every)
			return byte;
	}
}

static bool wait_stop(struct imitation *m)
{
	while (hear(m, -1) != STOPPED)
		;
	return false;
}

/* Without quotes, and $? put in. */
static void expand(const struct imitation *m, const char *from, char *to, size_t size)
{
	size_t used = 0;

	for (; *from && used < size - 8; from++) {
		if (*from == '"' && !m->is_plain)
			continue;
		if (!strncmp(from, "$?", 2) && !m->is_plain) {
			used += (size_t)snprintf(to + used, size - used, "%d", m->status);
			from++;
			continue;
		}
		to[used++] = *from;
	}
	to[used] = '\0';
}

/* False when it doesn't come back to the prompt. */
static bool run_one(struct imitation *m, const char *command)
{
	char text[300];
	unsigned lines;
	int heard;

	if (!strncmp(command, "echo ", 5)) {
		expand(m, command + 5, text, sizeof(text));
		say(m, text);
		say(m, "\r\n");
		m->status = 0;
		return true;
	}
	m->commands++;
	m->status = 0;
	if (!strcmp(command, "true"))
		return true;
	if (!strcmp(command, "fail")) {
		say(m, "looking\r\n** File not found x **\r\nso be it\r\n");
		m->status = 1;
		return true;
	}
	if (!strncmp(command, "crc32 ", 6)) {
		say(m, "crc32 for 80200000 ... 802003ff ==> 0badcafe\r\n");
		return true;
	}
	if (sscanf(command, "lines %u", &lines) == 1) {
		for (unsigned i = 0; i < lines; i++) {
			snprintf(text, sizeof(text), "line %u\r\n", i);
			say(m, text);
		}
		return true;
	}
	if (!strcmp(command, "stuck")) {
		say(m, "working\r\n");
		while ((heard = hear(m, -1)) != CTRL_C && heard != STOPPED)
			;
		return heard == CTRL_C;
	}
	if (!strcmp(command, "reset")) {
		say(m, "resetting ...\r\n\r\nOpenSBI v1.1\r\n");
		return wait_stop(m);
	}
	snprintf(m->booted, sizeof(m->booted), "%s", command);
	say(m, "\r\nStarting kernel ...\r\n\r\nhello from the system\r\n");
	return wait_stop(m);
}

static bool run_line(struct imitation *m, char *line)
{
	char *rest = NULL;
	int heard;

	if (!strncmp(line, "if", 2)) {
		say(m, "> ");
		while ((heard = hear(m, -1)) != CTRL_C && heard != STOPPED)
			;
		return heard == CTRL_C;
	}
	for (char *one = strtok_r(line, ";", &rest); one; one = strtok_r(NULL, ";", &rest))
		if (!run_one(m, one + strspn(one, " ")))
			return false;
	return true;
}

/* One line with its echo; false at the end. */
static bool edit(struct imitation *m)
{
	char line[300];
	size_t used = 0;

	for (;;) {
		int heard = hear(m, -1);
		char echo[2] = "";

		if (heard == STOPPED)
			return false;
		if (heard == CTRL_C) {
			say(m, "^C\r\n");
			return true;
		}
		if (heard == '\r') {
			line[used] = '\0';
			if (!used)
				m->bare_returns++;
			say(m, "\r\n");
			return run_line(m, line);
		}
		if (used == sizeof(line) - 1)
			continue;
		echo[0] = (char)heard;
		line[used++] = (char)heard;
		say(m, echo);
	}
}

static bool count_down(struct imitation *m)
{
	int heard;

	if (m->has_no_countdown)
		return wait_stop(m);
	say(m, "Hit any key to stop autoboot:  2 ");
	do {
		heard = hear(m, 1000);
		if (heard == NOTHING)
			return run_one(m, "autoboot");
	} while (heard != STOPPED && m->key && heard != m->key);
	say(m, "\b\b\b 0 \r\n");
	return heard != STOPPED;
}

static void *run(void *context)
{
	struct imitation *m = context;

	if (m->delay_ms) {
		while (hear(m, (int)m->delay_ms) >= 0)
			m->early_bytes++;
	}
	say(m, m->banner ? m->banner : "\r\nOpenSBI v1.1\r\n\r\nU-Boot 2023.01 (x)\r\n\r\n");
	if (m->banner && !*m->banner) {
		wait_stop(m);
		return NULL;
	}
	if (m->is_deaf) {
		say(m, "=> ");
		wait_stop(m);
		return NULL;
	}
	if (!count_down(m))
		return NULL;
	do
		say(m, "=> ");
	while (edit(m));
	return NULL;
}

void imitation_start(struct imitation *m)
{
	struct termios term;

	m->master_fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	m->stop_fd = eventfd(0, EFD_CLOEXEC);
	ck_assert_int_ge(m->master_fd, 0);
	ck_assert_int_ge(m->stop_fd, 0);
	ck_assert_int_eq(grantpt(m->master_fd) || unlockpt(m->master_fd), 0);
	ck_assert_int_eq(ptsname_r(m->master_fd, m->path, sizeof(m->path)), 0);
	m->slave_fd = open(m->path, O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_ge(m->slave_fd, 0);
	ck_assert_int_eq(tcgetattr(m->slave_fd, &term), 0);
	cfmakeraw(&term);
	ck_assert_int_eq(tcsetattr(m->slave_fd, TCSANOW, &term), 0);
	ck_assert_int_eq(pthread_create(&m->thread, NULL, run, m), 0);
}

void imitation_stop(struct imitation *m)
{
	const uint64_t one = 1;

	if (m->stop_fd < 0)
		return;
	ck_assert_int_eq(write(m->stop_fd, &one, sizeof(one)), sizeof(one));
	pthread_join(m->thread, NULL);
	close(m->slave_fd);
	close(m->master_fd);
	close(m->stop_fd);
	m->stop_fd = -1;
}
