/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boardctl/monotonic.h"
#include "harness/log.h"
#include "harness/run_internal.h"
#include "harness/stop.h"

static int step_off(struct run *run);

/* The sequence: each state leads to the next; a failure leads to OFF. */
static const struct {
	const char *name;
	unsigned deadline_s; /* run_set_deadline() may move it while in the state */
	int (*step)(struct run *run);
} states[RUN_STATES] = {
	[RUN_STATE_CARD] = {"card", 1200, run_step_card},
	[RUN_STATE_PREPARE] = {"prepare", 60, run_step_prepare},
	[RUN_STATE_POWER] = {"power", 60, run_step_power},
	[RUN_STATE_LOADER] = {"loader", 60, run_step_loader},
	[RUN_STATE_PAYLOADS] = {"payloads", 300, run_step_payloads},
	[RUN_STATE_HELLO] = {"hello", 120, run_step_hello},
	[RUN_STATE_SESSION] = {"session", 60, run_step_session},
	[RUN_STATE_WINDOWS] = {"window", 120, run_step_window},
	[RUN_STATE_SOAK] = {"soak", 60, run_step_soak},
	[RUN_STATE_QUIT] = {"quit", 15, run_step_quit},
	[RUN_STATE_SHUTDOWN] = {"shutdown", 60, run_step_shutdown},
	[RUN_STATE_OFF] = {"off", 60, step_off},
};

/* ---------------------------------------------------------------- failure */

int run_fail(struct run *run, enum verdict verdict, int error, const char *format, ...)
{
	va_list args;

	if (run->result->verdict != VERDICT_RUNNING)
		return error;
	run->result->verdict = verdict;
	va_start(args, format);
	vsnprintf(run->result->reason, sizeof(run->result->reason), format, args);
	va_end(args);
	return error;
}

int run_fail_store(struct run *run, int error)
{
	if (run->result->verdict == VERDICT_RUNNING)
		run->result->is_store_failure = true;
	return run_fail(run, VERDICT_LAB_FAILURE, error, "database %s: %s",
		store_path(run->request->store), store_error(run->request->store));
}

static int fail_reset(struct run *run, int error, const char *note)
{
	snprintf(run->reset_note, sizeof(run->reset_note), "%s", note);
	run->evidence.reset_note = run->reset_note;
	run->evidence.reset_s = run_uptime_s(run);
	run_event(run, "reset", "%s", note);
	return error;
}

static int fail_watched(struct run *run, int error)
{
	const struct watcher_verdict *seen = watcher_verdict(&run->watcher);

	if (seen->cause == WATCHER_CAUSE_RESET || seen->cause == WATCHER_CAUSE_RESET_LOOP)
		return run->session ? fail_reset(run, error, seen->text)
				    : run_fail(run, VERDICT_FAIL, error,
					      "the board reset before the agent answered: %s",
					      seen->text);
	return run_fail(run, VERDICT_FAIL, error, "%s in state %s: %s",
		watcher_cause_name(seen->cause), watcher_state_name(seen->state), seen->text);
}

int run_fail_peer(struct run *run, int error, const char *doing)
{
	switch (error) {
	case -ECANCELED:
		return run_fail(run, VERDICT_INTERRUPTED, error, "stopped by signal %d while %s",
			stop_requested(), doing);
	case -ECONNABORTED:
		return fail_watched(run, error);
	case -ECONNRESET:
		return fail_reset(run, error, "the agent started anew");
	case -ENODEV:
	case -EIO:
		return run_fail(run, VERDICT_LAB_FAILURE, error, "console lost while %s: %s", doing,
			link_error(run->request->board->console));
	case -ETIME:
	case -ETIMEDOUT:
	case -EBADMSG:
	case -EBUSY:
		snprintf(run->lost_note, sizeof(run->lost_note), "%s: %s", doing,
			error == -ETIME ? "the state's deadline passed" : peer_error(&run->peer));
		run->evidence.lost_note = run->lost_note;
		run_event(run, "lost", "%s", run->lost_note);
		return error;
	default:
		return run_fail(run, VERDICT_FAIL, error, "%s: %s", doing, peer_error(&run->peer));
	}
}

void run_event(struct run *run, const char *kind, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (run->result->run_id)
		store_add_event(
			run->request->store, run->result->run_id, store_now_ms(), kind, text);
}

/* ------------------------------------------------------------------- time */

bool run_is_icount(const struct run *run)
{
	return run->request->board->config->time == LAB_TIME_ICOUNT;
}

void run_set_deadline(struct run *run, uint64_t ms_from_now)
{
	run->deadline_ms = monotonic_get_ms() + ms_from_now;
}

double run_uptime_s(const struct run *run)
{
	return run->power_on_ms ? (double)(monotonic_get_ms() - run->power_on_ms) / 1e3 : 0;
}

static bool is_fatal(enum watcher_cause cause)
{
	switch (cause) {
	case WATCHER_CAUSE_PANIC:
	case WATCHER_CAUSE_HANG:
	case WATCHER_CAUSE_RESET:
	case WATCHER_CAUSE_RESET_LOOP:
	case WATCHER_CAUSE_LOADER_FAILED:
	case WATCHER_CAUSE_LOADER_CRASH:
	case WATCHER_CAUSE_LOADER_HALTED:
		return true;
	case WATCHER_CAUSE_NONE:
	case WATCHER_CAUSE_OOPS:
	case WATCHER_CAUSE_STALL:
	case WATCHER_CAUSE_OOM:
	case WATCHER_CAUSE_STORAGE_ERROR:
	case WATCHER_CAUSE_TASK_CRASH:
	case WATCHER_CAUSE_INIT_FAILED:
	case WATCHER_CAUSE_PASSWORD_DIALOGUE:
	case WATCHER_CAUSE_SPL_FAILED:
	case WATCHER_CAUSE_WRONG_MEDIUM:
	case WATCHER_CAUSE_WRONG_BAUD:
	case WATCHER_CAUSE_SHELL:
	case WATCHER_CAUSE_LOGIN:
	case WATCHER_CAUSE_BOOTING:
	case WATCHER_CAUSES:
		break;
	}
	return false;
}

/* What the watcher keeps beside its verdict is an event of the run. */
static void tell_warnings(struct run *run)
{
	const struct watcher_warning *warnings;
	size_t count = watcher_get_warnings(&run->watcher, &warnings);

	for (; run->warnings_told < count; run->warnings_told++)
		run_event(run, "warning", "%s: %s", warnings[run->warnings_told].word,
			warnings[run->warnings_told].text);
}

/* Ends every wait on the console: a stop, a deadline, or what the line told. */
static int guard(void *context)
{
	struct run *run = context;
	enum watcher_cause cause;

	if (stop_requested() && run->state != RUN_STATE_OFF)
		return -ECANCELED;
	if (monotonic_get_ms() > run->deadline_ms)
		return -ETIME;
	if (!run->is_handed_over)
		return 0;
	/*
	 * Silence is judged only until the agent answers: then it is wanted.  A first boot that
	 * makes a file system grow says nothing for as long as it likes, up to its time limit.
	 */
	if (run->state == RUN_STATE_HELLO)
		watcher_tick(&run->watcher, monotonic_get_ms());
	tell_warnings(run);
	cause = watcher_verdict(&run->watcher)->cause;
	if (run->is_reset_expected && cause == WATCHER_CAUSE_RESET)
		return 0;
	if (is_fatal(cause))
		return -ECONNABORTED;
	if (cause != WATCHER_CAUSE_NONE) {
		run_event(run, "warning", "%s: %s", watcher_cause_name(cause),
			watcher_verdict(&run->watcher)->text);
		watcher_clear_verdict(&run->watcher);
	}
	return 0;
}

/* ----------------------------------------------------------------- closing */

/* What the board takes, where its switch measures that. */
static void note_watts(struct run *run)
{
	double watts;

	if (run->power_on_ms && board_get_watts(run->request->board, &watts) == 0)
		run_event(run, "power", "%.1f W before the board was switched off", watts);
}

static int step_off(struct run *run)
{
	int rc;

	note_watts(run);
	rc = board_set_power(run->request->board, false);
	if (rc != 0)
		return run_fail(run, VERDICT_LAB_FAILURE, rc, "the board may still be POWERED: %s",
			board_error(run->request->board));
	return 0;
}

static bool is_unknown_allowed(void *context, const char *id)
{
	return suite_allows_unknown(context, id);
}

static void judge(struct run *run)
{
	struct gate_run *evidence = &run->evidence;
	const struct store_gate *failed;
	struct peer_statistics statistics;

	peer_get_statistics(&run->peer, &statistics);
	evidence->frames = statistics.frames.frames;
	evidence->session = run->session;
	evidence->counter_hz = run->counter_hz;
	evidence->is_icount = run_is_icount(run);
	evidence->is_local = run->request->board->config->is_local;
	evidence->soak_s = run->request->suite->soak_s;
	evidence->answered_s =
		run->answered_ms ? (double)(run->answered_ms - run->power_on_ms) / 1e3 : 0;
	evidence->host_error = clockfit_host(run->first, run->first_count, run->last,
		run->last_count, run->counter_hz, &evidence->host_fit);
	run_evidence_end(run);
	gate_judge_run(&run->gates, evidence);
	if (run->result->verdict != VERDICT_RUNNING)
		return;
	failed = gate_set_find_failure(
		&run->gates, is_unknown_allowed, (void *)(uintptr_t)run->request->suite);
	if (run->gates.is_out_of_memory) {
		run_fail(run, VERDICT_LAB_FAILURE, -ENOMEM, "out of memory while judging");
	} else if (failed) {
		run_fail(run, VERDICT_INVALID, -EPROTO, "gate %s%s%s: %s", failed->id,
			failed->window ? " of " : "",
			failed->window ? run->request->plan->windows[failed->window - 1].window.name
				       : "",
			failed->evidence);
	} else {
		run->result->verdict = VERDICT_PASS;
		snprintf(run->result->reason, sizeof(run->result->reason), "all gates hold");
	}
}

/* Of a boot that nothing is measured in. */
static void judge_boot(struct run *run)
{
	if (run->evidence.reset_note)
		run_fail(run, VERDICT_FAIL, -ECONNRESET, "the board reset: %s",
			run->evidence.reset_note);
	else if (run->evidence.lost_note)
		run_fail(run, VERDICT_FAIL, -ETIMEDOUT, "%s", run->evidence.lost_note);
	if (run->result->verdict != VERDICT_RUNNING)
		return;
	run->result->verdict = VERDICT_PASS;
	snprintf(run->result->reason, sizeof(run->result->reason),
		"the agent announced itself after %.1f s", (double)run->result->hello_ms / 1e3);
}

/* How the line behaved: what was damaged and asked for again. */
static void note_line(struct run *run)
{
	unsigned reopened = link_count_reopens(run->request->board->console);
	struct peer_statistics s;

	if (reopened)
		run_event(run, "warning", "console: the port went away and came back %u times",
			reopened);
	peer_get_statistics(&run->peer, &s);
	run_event(run, "line",
		"%u frames, %u damaged, %u requests, %u retries, %llu bytes received, %llu sent",
		s.frames.frames,
		s.frames.bad_crc + s.frames.bad_cobs + s.frames.oversize + s.frames.abandoned,
		s.requests, s.retries, (unsigned long long)s.bytes_received,
		(unsigned long long)s.bytes_sent);
}

static void close_run(struct run *run)
{
	struct store *store = run->request->store;
	struct run_result *result = run->result;
	int rc;

	if (run_console_flush(run) != 0)
		run_fail_store(run, -EIO);
	note_line(run);
	if (run->request->is_boot_only)
		judge_boot(run);
	else
		judge(run);
	if (!run->request->is_boot_only && run->evidence.host_error == 0)
		store_add_metric(store, result->run_id,
			&(struct store_metric){.name = "clock.host",
				.value = run->evidence.host_fit.ppm,
				.unit = "ppm"});
	if (run_evidence_store(run) != 0)
		run_fail_store(run, -EIO);
	rc = store_end_run(store, result->run_id, result->verdict, result->reason, store_now_ms(),
		run->gates.gates, run->gates.count);
	if (rc != 0) {
		/* Only an earlier reason is as important as this one. */
		if (result->verdict == VERDICT_PASS || result->verdict == VERDICT_INVALID)
			snprintf(result->reason, sizeof(result->reason), "database %s: %s",
				store_path(store), store_error(store));
		result->verdict = VERDICT_RUNNING;
	}
}

/* -------------------------------------------------------------------- run */

static int begin_run(struct run *run)
{
	const struct run_request *request = run->request;
	const struct manifest *manifest = request->manifest;
	struct store_run row = {
		.job_id = request->job_id,
		.board = request->board->config->name,
		.model = request->board->config->model,
		.system = manifest->system,
		.image_version = manifest->version,
		.image_file = manifest->file,
		.image_sha256 = manifest->sha256,
		.image_manifest = manifest->text,
		.boot = request->boot,
		.seed = request->seed,
		.started_ms = store_now_ms(),
	};
	int rc = store_begin_run(request->store, &row, &run->result->run_id);

	if (rc != 0) {
		run->result->run_id = 0;
		return run_fail_store(run, rc);
	}
	return 0;
}

static int step_through(struct run *run)
{
	enum run_state end = run->request->is_boot_only ? RUN_STATE_SESSION : RUN_STATE_OFF;
	int rc = 0;

	if (run->request->board->config->is_local) {
		rc = run_begin_local(run);
		if (rc != 0)
			return rc;
		run->state = RUN_STATE_HELLO;
	}
	for (; run->state < end; run->state++) {
		if (stop_requested())
			return run_fail(run, VERDICT_INTERRUPTED, -ECANCELED,
				"stopped by signal %d before state %s", stop_requested(),
				states[run->state].name);
		run_event(run, "state", "%s", states[run->state].name);
		do {
			run_set_deadline(run, states[run->state].deadline_s * 1000ull);
			rc = states[run->state].step(run);
			if (rc >= 0 && run_console_flush(run) != 0)
				rc = run_fail_store(run, -EIO);
		} while (rc == RUN_STEP_AGAIN);
		if (rc < 0)
			return rc;
		if (run->state == RUN_STATE_HELLO)
			run->result->hello_ms = monotonic_get_ms() - run->power_on_ms;
	}
	return 0;
}

void run_execute(const struct run_request *request, struct run_result *result)
{
	struct run run = {.request = request, .result = result};
	struct board *board = request->board;

	*result = (struct run_result){.verdict = VERDICT_RUNNING};
	run_console_init(&run);
	run_evidence_begin(&run);
	if (begin_run(&run) == 0) {
		struct link_guard watch = {guard, &run};
		struct link_tap tap = run_console_tap(&run);

		if (board_open_console(board) != 0) {
			run_fail(&run, VERDICT_LAB_FAILURE, -EIO, "%s", board_error(board));
		} else {
			link_set_guard(board->console, &watch);
			link_set_tap(board->console, &tap);
			step_through(&run);
		}
		run.state = RUN_STATE_OFF;
		run_event(&run, "state", "off");
		step_off(&run);
		link_set_guard(board->console, NULL);
		link_set_tap(board->console, NULL);
		close_run(&run);
	}
	run_console_fini(&run);
	card_plan_remove(&run.card_plan);
	loader_free(run.loader);
	gate_set_free(&run.gates);
	free(run.catalogue);
	free(run.sleep_lateness);
}

int run_exit_code(const struct run_result *result)
{
	if (result->is_misconfigured)
		return 2;
	switch (result->verdict) {
	case VERDICT_PASS:
	case VERDICT_SKIPPED:
		return 0;
	case VERDICT_FAIL:
	case VERDICT_INVALID:
		return 1;
	case VERDICT_RUNNING:
	case VERDICT_LAB_FAILURE:
	case VERDICT_INTERRUPTED:
	case VERDICT_COUNT:
		break;
	}
	return 3;
}
