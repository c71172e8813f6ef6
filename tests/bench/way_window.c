/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "boardctl/monotonic.h"
#include "tests/bench/served.h"
#include "tests/bench/stored.h"
#include "tests/bench/way.h"

#define NUMBER	     1u
#define NONCE	     0x5a3eb0a2u
#define HELLO_MS     10000
#define GO_QUIET_MS  5000
#define DONE_MS	     10000
#define GO_WIRE_SIZE 15u

struct way {
	struct bench_rig *rig;
	const struct samples *samples;
	struct served *served; /* shared with the agent */
	struct stored stored;
	struct run_window window;
	pid_t agent;
};

static int fail_peer(struct way *way, int rc, const char *doing)
{
	return bench_rig_fail(way->rig, rc, "%s: %s", doing, peer_error(&way->stored.run.peer));
}

/* ------------------------------------------------------------- set-up */

static int open_store(struct way *way)
{
	char path[BENCH_PATH_SIZE], wal[BENCH_PATH_SIZE + 8];
	int rc;

	bench_rig_path(way->rig, "window.db", path);
	snprintf(wal, sizeof(wal), "%s-wal", path);
	unlink(path);
	unlink(wal);
	rc = stored_open(&way->stored, path, (uint32_t)way->samples->count);
	return rc == 0 ? 0 : bench_rig_fail(way->rig, rc, "%s", stored_error(&way->stored));
}

static int open_console(struct way *way)
{
	char path[BENCH_PATH_SIZE];
	struct link_config *config = &way->stored.config.console;
	struct link *link;
	int rc;

	*config = (struct link_config){.driver = "pty",
		.path = bench_rig_path(way->rig, "host", path),
		.baud = BENCH_BAUD};
	rc = link_open(&link, config);
	way->stored.board.console = link;
	if (rc < 0)
		return bench_rig_fail(way->rig, rc, "%s", link_error(link));
	run_init_peer(&way->stored.run, BENCH_BAUD);
	return 0;
}

static int start_agent(struct way *way)
{
	char path[BENCH_PATH_SIZE];

	bench_rig_path(way->rig, "board", path);
	way->served = mmap(NULL, sizeof(*way->served), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (way->served == MAP_FAILED)
		return bench_rig_fail(way->rig, -errno, "no memory to share");
	way->served->samples = way->samples;
	way->agent = fork();
	if (way->agent == 0)
		_exit(served_run(way->served, path));
	return way->agent > 0 ? 0 : bench_rig_fail(way->rig, -errno, "cannot fork");
}

static int begin_session(struct way *way)
{
	struct peer *peer = &way->stored.run.peer;
	struct message_hello hello;
	int rc = peer_wait_hello(peer, HELLO_MS, &hello);

	if (rc >= 0)
		rc = peer_open_session(peer, NONCE, &hello);
	return rc >= 0 ? 0 : fail_peer(way, rc, "agent");
}

/* ------------------------------------------------------------- the window */

static int measure(struct way *way, struct bench_counts *before)
{
	struct peer *peer = &way->stored.run.peer;
	const struct suite_window *planned = &way->stored.plan.window;
	const struct message_arm arm = {.window = NUMBER,
		.bench = (uint8_t)planned->bench->id,
		.n = planned->n,
		.period_us = planned->period_us,
		.settle_ms = (uint16_t)planned->settle_ms,
		.seed = planned->seed};
	uint32_t estimate;
	int rc = peer_arm(peer, &arm, &estimate);

	if (rc != 0)
		return fail_peer(way, rc, "arming");
	rc = bench_rig_count(way->rig, before);
	before->to_board += GO_WIRE_SIZE;
	if (rc != 0)
		return rc;
	way->window.started_ms = store_now_ms();
	rc = peer_go(peer, NUMBER, GO_QUIET_MS);
	if (rc == 0)
		rc = peer_wait_done(peer, DONE_MS, &way->window.peer);
	way->window.ended_ms = store_now_ms();
	return rc == 0 ? 0 : fail_peer(way, rc, "measuring");
}

/* As the harness does with each window, from DONE on. */
static int keep(struct way *way)
{
	struct run *run = &way->stored.run;
	int rc = run_window_pull(run, &way->window, "the window");

	if (rc == 0) {
		run_window_judge(run, &way->window);
		rc = run_window_store(run, &way->window);
	}
	return rc == 0 ? 0 : bench_rig_fail(way->rig, rc, "%s", stored_error(&way->stored));
}

static int check(struct way *way)
{
	if (stored_has(&way->stored, NUMBER, way->samples->values, way->samples->count))
		return 0;
	return bench_rig_fail(way->rig, -EILSEQ, "other values are stored than were measured");
}

static int leave(struct way *way)
{
	struct peer *peer = &way->stored.run.peer;
	int rc = peer_release(peer, NUMBER);

	if (rc == 0)
		rc = peer_quit(peer);
	return rc == 0 ? 0 : fail_peer(way, rc, "leaving");
}

static int transfer(struct way *way, struct way_result *result)
{
	struct bench_counts before, after;
	uint64_t end_us;
	int rc = measure(way, &before);

	if (rc == 0)
		rc = keep(way);
	end_us = monotonic_get_us();
	if (rc == 0)
		rc = bench_rig_count(way->rig, &after);
	if (rc == 0)
		rc = check(way);
	if (rc != 0)
		return rc;
	*result = (struct way_result){
		.line = {after.to_host - before.to_host, after.to_board - before.to_board},
		.seconds = (double)(end_us - way->served->last_release_us) / 1e6};
	for (size_t i = 0; i < way->window.series_count; i++)
		result->encoded += way->window.series[i].entry.bytes;
	return leave(way);
}

static int close_way(struct way *way, int rc)
{
	run_window_fini(&way->window);
	if (way->agent > 0 && rc == 0) {
		rc = bench_rig_wait(way->rig, way->agent, "the agent");
	} else if (way->agent > 0) {
		kill(way->agent, SIGKILL);
		waitpid(way->agent, NULL, 0);
	}
	if (way->served && way->served != MAP_FAILED)
		munmap(way->served, sizeof(*way->served));
	link_close(way->stored.board.console);
	stored_close(&way->stored);
	return rc;
}

int way_send_window(struct bench_rig *rig, const struct samples *samples, struct way_result *result)
{
	static struct way way; /* a peer has large buffers */
	int rc;

	way = (struct way){.rig = rig, .samples = samples};
	rc = bench_rig_reset(rig);
	if (rc == 0)
		rc = open_store(&way);
	way.window.plan = &way.stored.plan;
	way.window.number = NUMBER;
	if (rc == 0)
		rc = open_console(&way);
	if (rc == 0)
		rc = start_agent(&way);
	if (rc == 0)
		rc = begin_session(&way);
	if (rc == 0)
		rc = transfer(&way, result);
	return close_way(&way, rc);
}
