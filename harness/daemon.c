/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/daemon.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "boardctl/monotonic.h"
#include "harness/cli.h"
#include "harness/http.h"
#include "harness/paths.h"

#define TICK_MS 1000
/* Records wait in their sockets meanwhile: many boards that talk at once are one round. */
#define REPORTS_MS	  10
#define STORE_PATIENCE_MS 3000

int daemon_fail(struct daemon *daemon, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(daemon->error, sizeof(daemon->error), format, args);
	va_end(args);
	return code;
}

/* -------------------------------------------------------------------- open */

/* Paths as children and clients can use them, from whatever folder. */
static int find_paths(struct daemon *daemon)
{
	if (!realpath(daemon->lab->path, daemon->lab_path) ||
		!realpath(daemon->config.db, daemon->db_path))
		return daemon_fail(daemon, CLI_LAB, "%s, %s: %s", daemon->lab->path,
			daemon->config.db, strerror(errno));
	if (paths_beside_program("sameboard", daemon->program, sizeof(daemon->program)) != 0 ||
		access(daemon->program, X_OK) != 0)
		return daemon_fail(daemon, CLI_LAB, "%s: %s", daemon->program, strerror(errno));
	if (!realpath(daemon->config.images, daemon->images_path))
		return daemon_fail(daemon, CLI_USAGE, "--images: %s: %s", daemon->config.images,
			strerror(errno));
	return 0;
}

static int open_files(struct daemon *daemon)
{
	if (lab_open(&daemon->lab, daemon->config.lab) != 0)
		return daemon_fail(daemon, CLI_USAGE, "%s", lab_error(daemon->lab));
	paths_make_parents(daemon->config.db);
	if (store_open(&daemon->store, daemon->config.db, 0) != 0)
		return daemon_fail(daemon, CLI_LAB, "%s", store_error(daemon->store));
	store_set_patience(daemon->store, STORE_PATIENCE_MS);
	if (daemon->config.token_file &&
		access_read_token(&daemon->access, daemon->config.token_file, daemon->error,
			sizeof(daemon->error)) != 0)
		return CLI_USAGE;
	return find_paths(daemon);
}

static int open_signals(struct daemon *daemon)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	daemon->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return daemon->signals < 0 ? daemon_fail(daemon, CLI_LAB, "signalfd: %s", strerror(errno))
				   : 0;
}

int daemon_open(struct daemon *daemon, const struct daemon_config *config)
{
	int rc;

	*daemon = (struct daemon){.config = *config,
		.locks = {-1, -1},
		.signals = -1,
		.unix_socket = -1,
		.tcp_socket = -1,
		.parent = getpid()};
	rc = open_files(daemon);
	if (rc == 0)
		rc = open_signals(daemon);
	if (rc == 0)
		rc = daemon_socket_open(daemon);
	if (rc == 0)
		rc = daemon_worker_init(daemon);
	if (rc == 0 && http_open(&daemon->http, daemon) != 0)
		rc = daemon_fail(daemon, CLI_LAB, "cannot serve HTTP on %s", config->socket);
	return rc;
}

void daemon_close(struct daemon *daemon)
{
	http_close(daemon->http);
	for (size_t i = 0; i < daemon->worker_count; i++)
		stream_fini(&daemon->workers[i].console);
	free(daemon->workers);
	job_logs_fini(&daemon->logs);
	daemon_socket_close(daemon);
	if (daemon->signals >= 0)
		close(daemon->signals);
	store_close(daemon->store);
	lab_close(daemon->lab);
}

/* -------------------------------------------------------------------- loop */

static void take_signals(struct daemon *daemon)
{
	struct signalfd_siginfo info;
	bool has_child = false;

	while (read(daemon->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT)
			daemon->is_stopping = true;
		has_child |= info.ssi_signo == SIGCHLD;
	}
	if (has_child)
		daemon_worker_reap(daemon);
	daemon->must_tick |= has_child;
}

/* The workers' sockets into polls, and how long until they are looked at at all. */
static int poll_reports(struct daemon *daemon, struct pollfd *polls)
{
	uint64_t since_ms = monotonic_get_ms() - daemon->reports_ms;
	bool is_early = since_ms < REPORTS_MS;

	for (size_t i = 0; i < daemon->worker_count; i++)
		polls[i] = (struct pollfd){
			.fd = is_early ? -1 : daemon->workers[i].report, .events = POLLIN};
	return is_early ? (int)(REPORTS_MS - since_ms) : TICK_MS;
}

static void read_reports(struct daemon *daemon, const struct pollfd *polls)
{
	for (size_t i = 0; i < daemon->worker_count; i++)
		if (polls[i].revents) {
			daemon->reports_ms = monotonic_get_ms();
			daemon_worker_read(&daemon->workers[i]);
		}
}

static void tick(struct daemon *daemon)
{
	uint64_t now_ms = monotonic_get_ms();

	if (!daemon->must_tick && now_ms - daemon->ticked_ms < TICK_MS)
		return;
	daemon->must_tick = false;
	daemon->ticked_ms = now_ms;
	daemon_worker_tick(daemon, now_ms);
}

/* One round: wait for anything, then look after everything. */
static void turn(struct daemon *daemon, struct pollfd *polls)
{
	struct pollfd *reports;
	unsigned count = 0;
	int timeout_ms;

	polls[count++] = (struct pollfd){.fd = daemon->signals, .events = POLLIN};
	count += http_get_polls(daemon->http, polls + count);
	reports = polls + count;
	timeout_ms = poll_reports(daemon, reports);
	poll(polls, count + daemon->worker_count, http_get_timeout(daemon->http, timeout_ms));
	read_reports(daemon, reports);
	take_signals(daemon);
	tick(daemon);
	http_run(daemon->http);
}

int daemon_run(struct daemon *daemon)
{
	struct pollfd *polls = calloc(1 + HTTP_POLLS + daemon->worker_count, sizeof(*polls));
	uint64_t ticked_ms = 0;

	if (!polls)
		return daemon_fail(daemon, CLI_LAB, "out of memory");
	while (!daemon->is_stopping || daemon_worker_stop_all(daemon)) {
		uint64_t now_ms;

		turn(daemon, polls);
		now_ms = monotonic_get_ms();
		if (now_ms - ticked_ms >= TICK_MS) {
			http_tick(daemon->http, now_ms);
			ticked_ms = now_ms;
		}
	}
	free(polls);
	return CLI_PASS;
}
