/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/stored.h"

#include <stdlib.h>
#include <string.h>

#include "db/query.h"

static int begin_run(struct stored *stored)
{
	const struct store_job job = {.command = "bench",
		.suite = "bench",
		.version = SAMEBOARD_VERSION,
		.started_ms = store_now_ms()};
	struct store_run run = {.board = "bench",
		.system = "linux",
		.boot = 1,
		.seed = 1,
		.started_ms = store_now_ms()};
	int rc = store_begin_job(stored->store, &job, &stored->request.job_id);

	run.job_id = stored->request.job_id;
	if (rc == 0)
		rc = store_begin_run(stored->store, &run, &stored->result.run_id);
	return rc;
}

int stored_open(struct stored *stored, const char *path, uint32_t n)
{
	const struct catalogue_bench *bench = catalogue_find("wake.idle");
	const struct watcher_config nothing = {0};
	int rc;

	memset(stored, 0, sizeof(*stored));
	rc = store_open(&stored->store, path, 0);
	stored->config.console.baud = 115200;
	stored->config.latency_ms = 1;
	stored->board.config = &stored->config;
	stored->request.store = stored->store;
	stored->request.board = &stored->board;
	stored->run.request = &stored->request;
	stored->run.result = &stored->result;
	stored->run.counter_hz = 24000000;
	stored->plan.role = PLAN_ROLE_MEASURE;
	stored->plan.window = (struct suite_window){.bench = bench,
		.name = bench->name,
		.n = n,
		.period_us = 1000,
		.settle_ms = 1,
		.phase = SUITE_PHASE_ALIGNED,
		.seed = 1};
	watcher_init(&stored->run.watcher, &nothing);
	return rc == 0 ? begin_run(stored) : rc;
}

void stored_close(struct stored *stored)
{
	gate_set_free(&stored->run.gates);
	store_close(stored->store);
	stored->store = NULL;
}

const char *stored_error(const struct stored *stored)
{
	if (stored->result.reason[0])
		return stored->result.reason;
	return stored->run.lost_note[0] ? stored->run.lost_note : store_error(stored->store);
}

static int64_t find_window(struct store *store, int64_t run_id, unsigned number)
{
	struct query_window *windows;
	int count = query_windows(store, run_id, &windows);
	int64_t id = 0;

	for (int i = 0; i < count; i++)
		if (windows[i].number == number)
			id = windows[i].id;
	if (count > 0)
		free(windows);
	return id;
}

bool stored_has(struct stored *stored, unsigned number, const int32_t *values, size_t count)
{
	int64_t id = find_window(stored->store, stored->result.run_id, number);
	void *found = NULL;
	size_t got = 0;
	bool is_same = id != 0 &&
		       query_samples_named(stored->store, id, "latency", STORE_SERIES_COUNTS,
			       &found, &got) == 0 &&
		       got == count && memcmp(found, values, count * sizeof(*values)) == 0;

	free(found);
	return is_same;
}
