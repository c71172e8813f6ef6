/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/session.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define NONCE	 0x5a3eb0a2u
#define HELLO_MS 10000

int bench_session_fail(struct bench_session *session, int rc, const char *doing)
{
	return bench_rig_fail(session->rig, rc, "%s: %s", doing, peer_error(session->peer));
}

static int open_store(struct bench_session *session, const struct samples *samples)
{
	char path[BENCH_PATH_SIZE], wal[BENCH_PATH_SIZE + 8];
	int rc;

	bench_rig_path(session->rig, "window.db", path);
	snprintf(wal, sizeof(wal), "%s-wal", path);
	unlink(path);
	unlink(wal);
	rc = stored_open(&session->stored, path, (uint32_t)samples->count);
	session->peer = &session->stored.run.peer;
	return rc == 0 ? 0 : bench_rig_fail(session->rig, rc, "%s", stored_error(&session->stored));
}

static int open_console(struct bench_session *session)
{
	char path[BENCH_PATH_SIZE];
	struct link_config *config = &session->stored.config.console;
	struct link *link;
	int rc;

	*config = (struct link_config){.driver = "pty",
		.path = bench_rig_path(session->rig, "host", path),
		.baud = BENCH_BAUD};
	rc = link_open(&link, config);
	config->path = NULL;
	session->stored.board.console = link;
	if (rc < 0)
		return bench_rig_fail(session->rig, rc, "%s", link_error(link));
	run_init_peer(&session->stored.run, BENCH_BAUD);
	return 0;
}

static int start_agent(struct bench_session *session, const struct samples *samples)
{
	char path[BENCH_PATH_SIZE];

	bench_rig_path(session->rig, "board", path);
	session->served = mmap(NULL, sizeof(*session->served), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (session->served == MAP_FAILED)
		return bench_rig_fail(session->rig, -errno, "no memory to share");
	session->served->samples = samples;
	session->agent = fork();
	if (session->agent == 0)
		_exit(served_run(session->served, path));
	return session->agent > 0 ? 0 : bench_rig_fail(session->rig, -errno, "cannot fork");
}

static int begin(struct bench_session *session)
{
	struct message_hello hello;
	int rc = peer_wait_hello(session->peer, HELLO_MS, &hello);

	if (rc >= 0)
		rc = peer_open_session(session->peer, NONCE, &hello);
	return rc >= 0 ? 0 : bench_session_fail(session, rc, "agent");
}

int bench_session_open(
	struct bench_session *session, struct bench_rig *rig, const struct samples *samples)
{
	int rc = bench_rig_reset(rig);

	memset(session, 0, sizeof(*session));
	session->rig = rig;
	if (rc == 0)
		rc = open_store(session, samples);
	if (rc == 0)
		rc = open_console(session);
	if (rc == 0)
		rc = start_agent(session, samples);
	return rc == 0 ? begin(session) : rc;
}

int bench_session_close(struct bench_session *session, int rc)
{
	if (session->agent > 0 && rc == 0) {
		rc = peer_quit(session->peer);
		if (rc != 0)
			bench_session_fail(session, rc, "leaving");
	}
	if (session->agent > 0 && rc == 0) {
		rc = bench_rig_wait(session->rig, session->agent, "the agent");
	} else if (session->agent > 0) {
		kill(session->agent, SIGKILL);
		waitpid(session->agent, NULL, 0);
	}
	if (session->served && session->served != MAP_FAILED)
		munmap(session->served, sizeof(*session->served));
	link_close(session->stored.board.console);
	stored_close(&session->stored);
	return rc;
}
