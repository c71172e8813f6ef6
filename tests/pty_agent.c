/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/pty_agent.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "boardctl/monotonic.h"

#define ARGUMENTS_MAX 16

static ssize_t link_read(void *context, uint8_t *bytes, size_t capacity, int timeout_ms)
{
	struct pty_agent *agent = context;
	struct pollfd waited = {.fd = agent->host, .events = POLLIN};
	int ready = poll(&waited, 1, timeout_ms);
	ssize_t got;

	if (ready <= 0)
		return ready < 0 ? -errno : 0;
	got = read(agent->host, bytes, capacity);
	return got < 0 ? -errno : got;
}

static int link_write(void *context, const uint8_t *bytes, size_t size)
{
	struct pty_agent *agent = context;

	return write(agent->host, bytes, size) == (ssize_t)size ? 0 : -errno;
}

static uint64_t link_now_us(void *context)
{
	(void)context;
	return monotonic_get_us();
}

static int link_set_baud(void *context, uint32_t baud)
{
	((struct pty_agent *)context)->baud = baud;
	return 0;
}

static void count_text(void *context, uint64_t when_us, const uint8_t *text, size_t size)
{
	(void)when_us;
	(void)text;
	((struct pty_agent *)context)->text_bytes += size;
}

static void open_pty(struct pty_agent *agent)
{
	agent->host = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_ge(agent->host, 0);
	ck_assert_int_eq(grantpt(agent->host), 0);
	ck_assert_int_eq(unlockpt(agent->host), 0);
	agent->console = open(ptsname(agent->host), O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_ge(agent->console, 0);
}

void pty_agent_start(struct pty_agent *agent, const char *const argv[])
{
	const struct peer_link link = {.context = agent,
		.read = link_read,
		.write = link_write,
		.now_us = link_now_us,
		.set_baud = link_set_baud};
	const struct peer_events events = {agent, count_text, NULL};
	const struct peer_config config = {.quiet_ms = 20};
	const char *arguments[ARGUMENTS_MAX + 1] = {NULL};

	memset(agent, 0, sizeof(*agent));
	open_pty(agent);
	for (size_t i = 0; argv[i]; i++) {
		ck_assert_uint_lt(i, ARGUMENTS_MAX);
		arguments[i] = strcmp(argv[i], "@") == 0 ? ptsname(agent->host) : argv[i];
	}
	agent->pid = fork();
	ck_assert_int_ge(agent->pid, 0);
	if (agent->pid == 0) {
		execvp(arguments[0], (char *const *)(uintptr_t)arguments);
		_exit(127);
	}
	peer_init(&agent->peer, &link, &events, &config);
}

int pty_agent_wait(struct pty_agent *agent)
{
	int status;

	ck_assert_int_eq(waitpid(agent->pid, &status, 0), agent->pid);
	agent->pid = 0;
	return status;
}

void pty_agent_stop(struct pty_agent *agent)
{
	if (agent->pid > 0) {
		kill(agent->pid, SIGKILL);
		waitpid(agent->pid, NULL, 0);
	}
	close(agent->console);
	close(agent->host);
}
