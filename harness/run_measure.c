/* SPDX-License-Identifier: Apache-2.0 */
/* From the session to QUIT: facts, windows, soak. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "boardctl/monotonic.h"
#include "harness/counters.h"
#include "harness/log.h"
#include "harness/require.h"
#include "harness/run_internal.h"
#include "harness/run_window.h"

#define GO_QUIET_MS 20000
#define GO_TRIES    5

/* A window may last longer than it promised before the host asks: asking breaks
 * the silence, and an emulated board is slow by chance. */
static uint32_t done_deadline_ms(uint32_t estimate_ms, bool is_emulated)
{
	return is_emulated ? estimate_ms * 3 + 10000 : estimate_ms * 2 + 5000;
}

static void answered(struct run *run)
{
	run->answered_ms = monotonic_get_ms();
}

/* ---------------------------------------------------------------- session */

/*
 * A few time exchanges. The pauses differ, so that they do not all meet an
 * adapter's timer at the same point.
 */
static int exchange_times(struct run *run, struct clockfit_exchange *exchanges, size_t *count)
{
	*count = 0;
	for (size_t i = 0; i < RUN_EXCHANGES; i++) {
		struct peer_exchange exchange;
		int rc = peer_ping(&run->peer, &exchange);

		if (rc != 0)
			return run_fail_peer(run, rc, "exchanging times");
		answered(run);
		rc = peer_poll(&run->peer, (int)(i * 7 % 17));
		if (rc < 0)
			return run_fail_peer(run, rc, "exchanging times");
		exchanges[(*count)++] = (struct clockfit_exchange){
			.out_us = exchange.out_us,
			.back_us = exchange.back_us,
			.host_sent_us = exchange.host_sent_us,
			.host_received_us = exchange.host_received_us,
			.target_received = exchange.pong.received,
			.target_sent = exchange.pong.sent,
		};
	}
	return 0;
}

static int open_session(struct run *run)
{
	struct message_hello hello;
	char counter_hz[16];
	uint32_t nonce = 0;
	int rc;

	while (nonce == 0)
		if (getrandom(&nonce, sizeof(nonce), 0) != (ssize_t)sizeof(nonce))
			nonce = (uint32_t)monotonic_get_us();
	rc = peer_open_session(&run->peer, nonce, &hello);
	if (rc != 0)
		return run_fail_peer(run, rc, "opening the session");
	answered(run);
	run_evidence_take_agent(run, hello.version);
	run->session = nonce;
	run->counter_hz = hello.counter_hz;
	rc = store_set_session(run->request->store, run->result->run_id, nonce);
	if (rc != 0)
		return run_fail_store(run, rc);
	/* So that windows can still be judged when this process is gone. */
	snprintf(counter_hz, sizeof(counter_hz), "%u", hello.counter_hz);
	rc = store_set_fact(run->request->store, run->result->run_id, "counter_hz", counter_hz);
	if (rc != 0)
		return run_fail_store(run, rc);
	if (hello.counter_hz == 0)
		return run_fail(run, VERDICT_FAIL, -EPROTO, "the agent reports a counter of 0 Hz");
	if (strcmp(hello.system, run->request->manifest->system) != 0 &&
		strncmp(run->request->manifest->system, hello.system, strlen(hello.system)) != 0)
		return run_fail(run, VERDICT_FAIL, -EPROTO,
			"the agent says that it runs on \"%s\", the image is of \"%s\"",
			hello.system, run->request->manifest->system);
	run_event(run, "session", "nonce %08x, agent %s on %s, counter %u Hz", nonce, hello.version,
		hello.system, hello.counter_hz);
	return 0;
}

/* A number is emulated when the agent says so or cannot tell. */
static bool is_emulated(const char *facts)
{
	char platform[128];

	return !counters_get(facts, "platform", platform, sizeof(platform)) ||
	       platform[0] == '\0' || strcmp(platform, "unknown") == 0 ||
	       strstr(platform, "virtio") || strstr(platform, "qemu");
}

/* What the gates of the run judge by. */
static void keep_facts(struct run *run, const char *facts)
{
	struct gate_run *evidence = &run->evidence;

	evidence->has_facts = true;
	evidence->settings = run->settings;
	counters_get(facts, "settings.unfair", run->settings, sizeof(run->settings));
	evidence->required = require_check(run->request->suite, run->request->manifest->system,
		facts, run->required_note, sizeof(run->required_note));
	evidence->required_note = run->required_note[0] ? run->required_note : NULL;
}

static int store_facts(struct run *run, const char *facts, size_t size)
{
	struct store *store = run->request->store;
	const struct manifest *manifest = run->request->manifest;
	int64_t id = run->result->run_id;
	int rc;

	run->evidence.is_emulated = is_emulated(facts);
	keep_facts(run, facts);
	run_evidence_take_facts(run, facts);
	rc = store_set_emulated(store, id, run->evidence.is_emulated);
	/* The manifest's words first: what the system itself reports replaces them. */
	if (rc == 0)
		rc = store_set_fact(store, id, "protection", manifest->protection);
	if (rc == 0)
		rc = store_set_fact(store, id, "address_space", manifest->address_space);
	if (rc == 0)
		rc = store_set_fact(store, id, "tick", manifest->tick);
	if (rc == 0)
		rc = store_set_fact(store, id, "time", run_is_icount(run) ? "icount" : "real");
	if (rc == 0 && manifest->build.config_sha256)
		rc = store_set_fact(store, id, "config_sha256", manifest->build.config_sha256);
	if (rc == 0)
		rc = store_set_facts(store, id, facts, size);
	return rc == 0 ? 0 : run_fail_store(run, rc);
}

int run_step_session(struct run *run)
{
	char *facts = NULL;
	size_t size;
	int rc = open_session(run);

	if (rc == 0)
		rc = exchange_times(run, run->first, &run->first_count);
	if (rc != 0)
		return rc;
	rc = peer_probe(&run->peer, &facts, &size);
	if (rc != 0)
		run_fail_peer(run, rc, "asking for the facts");
	else
		rc = store_facts(run, facts, size);
	free(facts);
	if (rc != 0)
		return rc;
	rc = peer_catalog(&run->peer, &run->catalogue, &size);
	if (rc != 0)
		return run_fail_peer(run, rc, "asking for the catalogue");
	answered(run);
	return 0;
}

/* ---------------------------------------------------------------- windows */

/* Why the system cannot do a bench ("" if it just says so), or NULL if it can. */
static const char *find_unsupported(
	struct run *run, const struct catalogue_bench *bench, char *reason, size_t size)
{
	const char *line = run->catalogue;

	snprintf(reason, size, "not in its catalogue");
	while (line && *line) {
		size_t length = strcspn(line, "\n");
		char name[64], status[32];
		unsigned id;
		int at = 0;

		if (sscanf(line, "%u %63s %31s %n", &id, name, status, &at) >= 3 &&
			id == bench->id) {
			if (strcmp(status, "unsupported") != 0)
				return NULL;
			snprintf(reason, size, "%.*s",
				(int)((size_t)at < length ? length - (size_t)at : 0), line + at);
			return reason;
		}
		line += length;
		line += *line == '\n';
	}
	return reason;
}

/* The bench is there, but not under that load. */
#define ARM_UNSUPPORTED 1

static int arm(struct run *run, const struct suite_window *w, unsigned number, const char *doing,
	uint32_t *estimate_ms)
{
	struct message_arm arm = card_plan_arm(run->request->plan, number - 1);
	int rc = peer_arm(&run->peer, &arm, estimate_ms);

	if (rc == -EREMOTEIO && peer_target_error(&run->peer)->code == WIRE_ERROR_UNSUPPORTED) {
		run_event(
			run, "unsupported", "%s: %s", w->name, peer_target_error(&run->peer)->text);
		answered(run);
		return ARM_UNSUPPORTED;
	}
	if (rc == -EREMOTEIO && peer_target_error(&run->peer)->code == WIRE_ERROR_NO_MEMORY)
		return run_fail(run, VERDICT_FAIL, rc,
			"%s: %u samples are more than this target can hold", w->name, w->n);
	if (rc != 0)
		return run_fail_peer(run, rc, doing);
	answered(run);
	return 0;
}

/* GO until the window is done; the silence lies in here. */
static int wait_for_window(struct run *run, unsigned number, const char *doing,
	uint32_t estimate_ms, struct peer_window *window)
{
	uint32_t deadline_ms = done_deadline_ms(estimate_ms, run->evidence.is_emulated);
	int rc = 0;

	for (int tries = 0; tries < GO_TRIES; tries++) {
		run_set_deadline(run, GO_QUIET_MS + deadline_ms + 30000);
		rc = peer_go(&run->peer, (uint16_t)number, GO_QUIET_MS);
		if (rc != 0)
			return run_fail_peer(run, rc, doing);
		rc = peer_wait_done(&run->peer, deadline_ms, window);
		if (rc != -EAGAIN)
			break;
		run_event(run, "warning", "GO of %s was lost and is sent again", doing);
	}
	if (rc != 0)
		return run_fail_peer(run, rc, doing);
	answered(run);
	return 0;
}

/* What the roles of windows mean for the gates of the run. */
static void keep_evidence(struct run *run, enum plan_role role, const struct run_window *window)
{
	struct gate_run *evidence = &run->evidence;
	const struct run_series *series;

	switch (role) {
	case PLAN_ROLE_SLEEP:
		evidence->sleep = GATE_PROGRESS_DONE;
		series = run_window_find(window, "latency");
		if (series && series->entry.kind == SERIES_KIND_COUNTS) {
			run->sleep_lateness = malloc(series->entry.count * sizeof(int32_t) + 1);
			if (run->sleep_lateness) {
				memcpy(run->sleep_lateness, series->data,
					series->entry.count * sizeof(int32_t));
				evidence->sleep_count = series->entry.count;
			}
			evidence->sleep_lateness = run->sleep_lateness;
		}
		evidence->interrupts = counters_get_count(window->counters, "interrupts");
		evidence->has_interrupts = evidence->interrupts < GATE_COUNTER_NONE;
		break;
	case PLAN_ROLE_AUDIT:
		evidence->audit = GATE_PROGRESS_DONE;
		evidence->audit_error =
			run_window_fit_audit(window, run->counter_hz, &evidence->audit_fit);
		evidence->audit_accepted_ppm =
			suite_accepted_ppm(run->request->suite, run->request->manifest->system);
		break;
	case PLAN_ROLE_REFERENCE_FIRST:
		evidence->reference_first = run_window_median(window, "integer");
		break;
	case PLAN_ROLE_REFERENCE_LAST:
		evidence->reference_last = run_window_median(window, "integer");
		break;
	case PLAN_ROLE_MEASURE:
		break;
	}
}

static void begin_evidence(struct run *run, enum plan_role role)
{
	if (role == PLAN_ROLE_SLEEP)
		run->evidence.sleep = GATE_PROGRESS_BEGUN;
	if (role == PLAN_ROLE_AUDIT)
		run->evidence.audit = GATE_PROGRESS_BEGUN;
}

/* In repeatable time only what was measured before the host's first byte counts. */
static int check_plan(struct run *run, const struct run_window *window, const char *doing)
{
	char plan[16];

	if (!run_is_icount(run) || (counters_get(window->counters, "plan", plan, sizeof(plan)) &&
					   strcmp(plan, "card") == 0))
		return 0;
	return run_fail(run, VERDICT_FAIL, -EPROTO,
		"%s was not measured by the card's plan, but after the host had spoken", doing);
}

static int measure(struct run *run, const struct plan_window *planned, unsigned number)
{
	struct run_window window = {.plan = planned, .number = number};
	uint64_t go_ms;
	uint32_t estimate_ms;
	char doing[96];
	int rc;

	snprintf(doing, sizeof(doing), "window %u, %s", number, planned->window.name);
	rc = arm(run, &planned->window, number, doing, &estimate_ms);
	if (rc != 0)
		return rc == ARM_UNSUPPORTED ? 0 : rc;
	log_progress("%s: %s, %.1f s of silence", run->request->manifest->system, doing,
		estimate_ms / 1e3);
	begin_evidence(run, planned->role);
	window.started_ms = store_now_ms();
	go_ms = monotonic_get_ms();
	rc = wait_for_window(run, number, doing, estimate_ms, &window.peer);
	if (rc != 0) {
		if (planned->role == PLAN_ROLE_SLEEP)
			run->evidence.sleep_deadline_s = (double)(monotonic_get_ms() - go_ms) / 1e3;
		return rc;
	}
	window.ended_ms = store_now_ms();
	run_set_deadline(run, 600000);
	rc = run_window_pull(run, &window, doing);
	if (rc == 0)
		rc = check_plan(run, &window, doing);
	if (rc == 0)
		rc = run_window_add_price(run, &window);
	if (rc == 0) {
		answered(run);
		run_window_judge(run, &window);
		keep_evidence(run, planned->role, &window);
		run_evidence_take_window(run, &window);
		rc = run_window_store(run, &window);
	}
	run_window_fini(&window);
	if (rc != 0)
		return rc;
	rc = peer_release(&run->peer, (uint16_t)number);
	if (rc != 0)
		return run_fail_peer(run, rc, doing);
	answered(run);
	return 0;
}

int run_step_window(struct run *run)
{
	const struct plan *plan = run->request->plan;
	const struct plan_window *planned = &plan->windows[run->next_window];
	const char *unsupported;
	char reason[128];
	int rc = 0;

	unsupported = find_unsupported(run, planned->window.bench, reason, sizeof(reason));
	if (unsupported)
		run_event(run, "unsupported", "%s: %s", planned->window.name, unsupported);
	else
		rc = measure(run, planned, (unsigned)run->next_window + 1);
	if (rc != 0)
		return rc;
	return ++run->next_window < plan->window_count ? RUN_STEP_AGAIN : 0;
}

/* ------------------------------------------------------------- soak, quit */

int run_step_soak(struct run *run)
{
	double left_s = run->request->suite->soak_s - run_uptime_s(run);

	if (run_is_icount(run))
		return 0;
	run_set_deadline(run, left_s > 0 ? (uint64_t)(left_s * 1e3) + 30000 : 30000);
	if (left_s > 0)
		log_progress("%s: soak, %.0f s more", run->request->manifest->system, ceil(left_s));
	while (run_uptime_s(run) < run->request->suite->soak_s + 0.2) {
		int rc = peer_poll(&run->peer, 200);

		if (rc < 0)
			return run_fail_peer(run, rc, "soaking");
	}
	return exchange_times(run, run->last, &run->last_count);
}

int run_step_quit(struct run *run)
{
	int rc = peer_quit(&run->peer);

	/* Everything is measured and stored: a lost BYE costs nothing. */
	if (rc == -ECANCELED)
		return run_fail_peer(run, rc, "leaving");
	if (rc != 0)
		run_event(run, "warning", "no BYE: %s", peer_error(&run->peer));
	return 0;
}
