/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "boardctl/monotonic.h"
#include "tests/bench/session.h"
#include "tests/bench/way.h"

#define NUMBER	     1u
#define GO_QUIET_MS  5000
#define DONE_MS	     10000
#define GO_WIRE_SIZE 15u

static int measure(
	struct bench_session *session, struct run_window *window, struct bench_counts *before)
{
	const struct suite_window *planned = &window->plan->window;
	const struct message_arm arm = {.window = NUMBER,
		.bench = (uint8_t)planned->bench->id,
		.n = planned->n,
		.period_us = planned->period_us,
		.settle_ms = (uint16_t)planned->settle_ms,
		.seed = planned->seed};
	uint32_t estimate;
	int rc = peer_arm(session->peer, &arm, &estimate);

	if (rc != 0)
		return bench_session_fail(session, rc, "arming");
	rc = bench_rig_count(session->rig, before);
	before->to_board += GO_WIRE_SIZE;
	if (rc != 0)
		return rc;
	window->started_ms = store_now_ms();
	rc = peer_go(session->peer, NUMBER, GO_QUIET_MS);
	if (rc == 0)
		rc = peer_wait_done(session->peer, DONE_MS, &window->peer);
	window->ended_ms = store_now_ms();
	return rc == 0 ? 0 : bench_session_fail(session, rc, "measuring");
}

/* As the harness does with each window, from DONE on. */
static int keep(struct bench_session *session, struct run_window *window)
{
	struct stored *stored = &session->stored;
	int rc = run_window_pull(&stored->run, window, "the window");

	if (rc == 0) {
		run_window_judge(&stored->run, window);
		rc = run_window_store(&stored->run, window);
	}
	return rc == 0 ? 0 : bench_rig_fail(session->rig, rc, "%s", stored_error(stored));
}

static int transfer(struct bench_session *session, const struct samples *samples,
	struct run_window *window, struct way_result *result)
{
	struct bench_counts before, after;
	uint64_t end_us;
	int rc = measure(session, window, &before);

	if (rc == 0)
		rc = keep(session, window);
	end_us = monotonic_get_us();
	if (rc == 0)
		rc = bench_rig_count(session->rig, &after);
	if (rc == 0 && !stored_has(&session->stored, NUMBER, samples->values, samples->count))
		rc = bench_rig_fail(
			session->rig, -EILSEQ, "other values are stored than were measured");
	if (rc != 0)
		return rc;
	*result = (struct way_result){
		.line = {after.to_host - before.to_host, after.to_board - before.to_board},
		.seconds = (double)(end_us - session->served->last_release_us) / 1e6};
	for (size_t i = 0; i < window->series_count; i++)
		result->encoded += window->series[i].entry.bytes;
	rc = peer_release(session->peer, NUMBER);
	return rc == 0 ? 0 : bench_session_fail(session, rc, "releasing");
}

int way_send_window(struct bench_rig *rig, const struct samples *samples, struct way_result *result)
{
	static struct bench_session session; /* a peer has large buffers */
	struct run_window window = {.plan = &session.stored.plan, .number = NUMBER};
	int rc = bench_session_open(&session, rig, samples);

	if (rc == 0)
		rc = transfer(&session, samples, &window, result);
	run_window_fini(&window);
	return bench_session_close(&session, rc);
}
