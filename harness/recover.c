/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/recover.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boardctl/monotonic.h"
#include "db/orphan.h"
#include "harness/log.h"
#include "harness/run_window.h"
#include "harness/stop.h"

#define ANSWER_MS 10000
#define PULL_MS	  600000

static void say(struct recover_report *report, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void say(struct recover_report *report, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(report->text, sizeof(report->text), format, args);
	va_end(args);
}

/* Ends every wait on the console. */
static int guard(void *context)
{
	struct run *run = context;

	if (stop_requested())
		return -ECANCELED;
	return monotonic_get_ms() > run->deadline_ms ? -ETIME : 0;
}

/* ------------------------------------------------------------------- pull */

/* When the window began and ended by the target's counter, as time of this host. */
static int64_t place_in_time(const struct run *run, const struct message_pong *pong, uint64_t stamp)
{
	uint64_t since = pong->sent - stamp;

	return store_now_ms() - (int64_t)(since / (run->counter_hz / 1000));
}

static int pull_window(struct run *run, const struct message_pong *pong)
{
	unsigned number = pong->done.window;
	struct run_window window = {
		.plan = &run->request->plan->windows[number - 1],
		.number = number,
		.started_ms = place_in_time(run, pong, pong->done.start),
		.ended_ms = place_in_time(run, pong, pong->done.end),
		.peer = {.done = pong->done, .is_resolved_by_ping = true},
		.is_unheard = true,
	};
	char doing[96];
	int rc;

	snprintf(doing, sizeof(doing), "window %u, %s, left by a dead process", number,
		window.plan->window.name);
	log_progress("recovery: pulling %s", doing);
	run_set_deadline(run, PULL_MS);
	rc = run_window_pull(run, &window, doing);
	if (rc == 0) {
		run_window_judge(run, &window);
		rc = run_window_store(run, &window);
	}
	run_window_fini(&window);
	return rc;
}

/* What the agent has that the store has not. */
static void fetch_rest(
	struct run *run, const struct message_pong *pong, struct recover_report *report)
{
	unsigned number = pong->done.window;
	int stored;

	if (pong->state != MESSAGE_STATE_DONE || number == 0 ||
		number > run->request->plan->window_count) {
		say(report, "the agent answered and had nothing left");
		return;
	}
	stored = orphan_has_window(run->request->store, run->result->run_id, number);
	if (stored > 0) {
		say(report, "the agent answered; its last window, %u, was stored already", number);
		return;
	}
	if (stored == 0 && pull_window(run, pong) == 0) {
		report->windows++;
		say(report, "window %u was pulled and stored after that", number);
	} else {
		say(report, "window %u was left and could not be saved: %s", number,
			run->result->reason[0] ? run->result->reason : peer_error(&run->peer));
	}
}

/* Ask with the nonce until the agent answers, says that it is another, or time is up. */
static int resume(struct run *run, uint32_t nonce, struct message_pong *pong)
{
	int rc;

	run_set_deadline(run, ANSWER_MS);
	do
		rc = peer_resume_session(&run->peer, nonce, pong);
	while ((rc == -ETIMEDOUT || rc == -EBADMSG) && guard(run) == 0);
	return rc;
}

static void talk(struct run *run, const struct orphan_run *orphan, struct recover_report *report)
{
	struct message_pong pong;
	struct link_guard watch = {guard, run};
	struct link_tap tap = run_console_tap(run);
	struct board *board = run->request->board;
	int rc;

	link_set_guard(board->console, &watch);
	link_set_tap(board->console, &tap);
	run_init_peer(run, board->config->console.baud);
	rc = resume(run, (uint32_t)orphan->session, &pong);
	if (rc == 0)
		fetch_rest(run, &pong, report);
	else
		say(report, "the agent did not answer with this run's nonce within %d s",
			ANSWER_MS / 1000);
	link_set_guard(board->console, NULL);
	link_set_tap(board->console, NULL);
	run_console_flush(run);
}

/* Whatever goes wrong in here is told and no reason to leave the board powered. */
static void salvage(struct store *store, struct board *board, const struct orphan_run *orphan,
	const struct link_tap *watch, struct gate_set *gates, struct recover_report *report)
{
	struct suite *suite = NULL;
	struct plan plan = {0};
	struct watcher_config nothing = {.rules = bootrules_get(board->config->rules)};
	struct run_result result = {.run_id = orphan->id, .verdict = VERDICT_RUNNING};
	struct run_request request = {.store = store,
		.job_id = orphan->job_id,
		.board = board,
		.plan = &plan,
		.watch = watch ? *watch : (struct link_tap){0}};
	struct run run = {.request = &request, .result = &result, .state = RUN_STATE_WINDOWS};

	run.counter_hz = strtoull(orphan->counter_hz, NULL, 10);
	run.session = (uint32_t)orphan->session;
	run.console.offset = (uint64_t)orphan->console_bytes;
	run_console_init(&run);
	watcher_init(&run.watcher, &nothing);
	if (run.counter_hz < 1000 ||
		suite_parse(&suite, orphan->suite, orphan->suite_json,
			strlen(orphan->suite_json)) != 0 ||
		plan_init(&plan, suite, NULL, 0, 1, 1) != 0) {
		say(report, "its suite is not in the store, so nothing can be fetched");
	} else if (board_open_console(board) != 0) {
		say(report, "%s", board_error(board));
	} else {
		request.suite = suite;
		talk(&run, orphan, report);
	}
	run_console_fini(&run);
	if (report->windows) /* gates name windows that are stored */
		*gates = run.gates;
	else
		gate_set_free(&run.gates);
	plan_fini(&plan);
	suite_close(suite);
}

/* ------------------------------------------------------------------- close */

static bool has_power(struct board *board)
{
	bool on = false;
	int rc = power_get(board->power, &on);

	return rc != 0 || on; /* a relay that does not say may have it on */
}

static int close_runs(struct store *store, const char *board, const struct orphan_run *runs,
	int count, const struct gate_set *gates, struct recover_report *report)
{
	char reason[640];
	int rc = 0;

	for (int i = 0; rc == 0 && i < count; i++) {
		snprintf(reason, sizeof(reason),
			"the process of job %lld is gone without having ended the run%s%s",
			(long long)runs[i].job_id, i == 0 ? "; " : "", i == 0 ? report->text : "");
		store_add_event(store, runs[i].id, store_now_ms(), "recovery", report->text);
		rc = store_end_run(store, runs[i].id, VERDICT_INTERRUPTED, reason, store_now_ms(),
			i == 0 ? gates->gates : NULL, i == 0 ? gates->count : 0);
		report->runs += rc == 0;
	}
	if (rc == 0)
		rc = store_recover(store, board, store_now_ms());
	if (rc >= 0)
		return 0;
	say(report, "database %s: %s", store_path(store), store_error(store));
	return rc;
}

int recover_board(struct store *store, struct board *board, const struct link_tap *watch,
	struct recover_report *report)
{
	const char *name = board->config->name;
	struct orphan_run *runs = NULL;
	struct gate_set gates = {0};
	int rc, count;

	*report = (struct recover_report){0};
	count = orphan_find_runs(store, name, &runs);
	if (count <= 0) {
		rc = close_runs(store, name, NULL, 0, &gates, report);
		return count < 0 ? count : rc;
	}
	log_progress("recovery: run %lld on board %s was left open", (long long)runs[0].id, name);
	if (board->config->is_local)
		say(report, "the agent ended with the process that had started it");
	else if (!has_power(board))
		say(report, "the board was off");
	else if (runs[0].session == 0)
		say(report, "the board was powered, and no agent had a session yet");
	else
		salvage(store, board, &runs[0], watch, &gates, report);
	rc = board_rest(board);
	if (rc != 0)
		say(report, "%s", board_error(board));
	else
		rc = close_runs(store, name, runs, count, &gates, report);
	gate_set_free(&gates);
	free(runs);
	log_progress("recovery: %s", report->text);
	return rc;
}
