/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/server_rig.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "boardctl/monotonic.h"

#define START_MS 30000
#define TRIES	 5 /* another one may take the port in between */

static int connect_to(unsigned port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

unsigned server_rig_find_port(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	close(fd);
	return ntohs(address.sin_port);
}

static void spawn(struct server_rig *rig, struct scratch *scratch, const char *const argv[])
{
	pid_t parent = getpid();
	char log[256];

	snprintf(log, sizeof(log), "%s", scratch_path(scratch, "server.log"));
	rig->pid = fork();
	ck_assert_int_ge(rig->pid, 0);
	if (rig->pid == 0) {
		int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);

		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			_exit(127);
		dup2(open("/dev/null", O_RDONLY), 0);
		dup2(fd, 1);
		dup2(fd, 2);
		execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
}

/* Until it listens; false when it has ended before. */
static bool await(struct server_rig *rig)
{
	uint64_t deadline_ms = monotonic_get_ms() + START_MS;
	int fd;

	while ((fd = connect_to(rig->port)) < 0) {
		if (waitpid(rig->pid, NULL, WNOHANG) == rig->pid)
			return false;
		ck_assert_msg(monotonic_get_ms() < deadline_ms, "the server does not listen");
		monotonic_sleep_until_us(monotonic_get_us() + 20000);
	}
	close(fd);
	return true;
}

static void start(struct server_rig *rig, struct scratch *scratch, const char *const argv[],
	const char *config, const char *format, const char *a, const char *b)
{
	char text[2048];

	for (int i = 0; i < TRIES; i++) {
		int size;

		rig->port = server_rig_find_port();
		/* The callers' formats take port and two texts. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		size = snprintf(text, sizeof(text), format, rig->port, a, b);
#pragma GCC diagnostic pop
		ck_assert_int_lt(size, (int)sizeof(text));
		scratch_write(scratch, config, text, (size_t)size);
		snprintf(rig->address, sizeof(rig->address), "127.0.0.1:%u", rig->port);
		spawn(rig, scratch, argv);
		if (await(rig))
			return;
	}
	ck_abort_msg("%s cannot be started; is it installed (ci/setup)?", argv[0]);
}

void server_rig_start_ser2net(
	struct server_rig *rig, struct scratch *scratch, const char *path, const char *protocol)
{
	static const char format[] = "%%YAML 1.1\n---\n"
				     "connection: &board\n"
				     "  accepter: %3$s,127.0.0.1,%1$u\n"
				     "  connector: serialdev,%2$s,115200n81,local\n"
				     "  options:\n    kickolduser: true\n";
	char config[256];
	const char *const argv[] = {"ser2net", "-n", "-u", "-c", config, NULL};

	*rig = (struct server_rig){0};
	snprintf(config, sizeof(config), "%s", scratch_path(scratch, "ser2net.yaml"));
	start(rig, scratch, argv, "ser2net.yaml", format, path, protocol);
}

void server_rig_start_pdudaemon(
	struct server_rig *rig, struct scratch *scratch, const char *on, const char *off)
{
	static const char format[] =
		"{ \"daemon\": { \"hostname\": \"127.0.0.1\", \"port\": %1$u,\n"
		"    \"logging_level\": \"DEBUG\", \"listener\": \"http\" },\n"
		"  \"pdus\": { \"rack\": { \"driver\": \"localcmdline\",\n"
		"    \"cmd_on\": \"%2$s\", \"cmd_off\": \"%3$s\" } } }\n";
	char config[256];
	const char *const argv[] = {"pdudaemon", "--conf", config, NULL};

	*rig = (struct server_rig){0};
	snprintf(config, sizeof(config), "%s", scratch_path(scratch, "pdudaemon.conf"));
	start(rig, scratch, argv, "pdudaemon.conf", format, on, off);
}

void server_rig_stop(struct server_rig *rig)
{
	if (rig->pid <= 0)
		return;
	ck_assert_int_eq(kill(rig->pid, SIGTERM), 0);
	ck_assert_int_eq(waitpid(rig->pid, NULL, 0), rig->pid);
	rig->pid = 0;
}
