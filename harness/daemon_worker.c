/* SPDX-License-Identifier: Apache-2.0 */
/* The children: one a board at most. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "boardctl/monotonic.h"
#include "db/orphan.h"
#include "harness/cli.h"
#include "harness/daemon.h"
#include "harness/http.h"
#include "harness/log.h"
#include "harness/progress.h"

/* A worker that was asked to end drives its board to rest first. */
#define END_PATIENCE_MS 60000
#define RETRY_MS	5000
#define RECOVERIES_MAX	5

struct daemon_worker *daemon_worker_find(struct daemon *daemon, const char *board)
{
	for (size_t i = 0; i < daemon->worker_count; i++)
		if (strcmp(daemon->workers[i].board->name, board) == 0)
			return &daemon->workers[i];
	return NULL;
}

/* ------------------------------------------------------------------ events */

static void tell(struct daemon_worker *worker, const char *kind, const char *text)
{
	struct job_log *log = worker->job ? job_logs_get(&worker->daemon->logs, worker->job) : NULL;

	if (!log)
		return;
	job_log_add(log, kind, text);
	http_wake(worker->daemon->http, &log->events);
}

/* ------------------------------------------------------------------- start */

static void run_child(struct daemon *daemon, const char *command, const char *what, int report)
{
	char report_text[16];
	const char *const argv[] = {daemon->program, command, what, "--lab", daemon->lab_path,
		"--db", daemon->db_path, "--report", report_text,
		strcmp(command, "work") == 0 ? "--images" : NULL, daemon->images_path, NULL};
	sigset_t none;

	/* Dies with the daemon, and ends in the rest state doing so. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != daemon->parent)
		_exit(CLI_LAB);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	snprintf(report_text, sizeof(report_text), "%d", report);
	execv(argv[0], (char *const *)(uintptr_t)argv);
	dprintf(report, "%ccannot start %s: %s", PROGRESS_ERROR, argv[0], strerror(errno));
	_exit(CLI_LAB);
}

/* The descriptors of the daemon are all close-on-exec; the child's end is not. */
static bool start(struct daemon_worker *worker, const char *command, const char *what)
{
	int ends[2], size = 1 << 20;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return false;
	setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	worker->pid = fork();
	if (worker->pid == 0) {
		int report = dup(ends[1]);

		run_child(worker->daemon, command, what, report);
	}
	close(ends[1]);
	if (worker->pid < 0) {
		worker->pid = 0;
		close(ends[0]);
		return false;
	}
	worker->report = ends[0];
	worker->is_cancelled = false;
	worker->kill_ms = 0;
	worker->error[0] = '\0';
	return true;
}

static void start_job(struct daemon_worker *worker, int64_t job)
{
	struct store *store = worker->daemon->store;
	char number[32];

	worker->job = job;
	worker->is_recovery = false;
	stream_clear(&worker->console);
	snprintf(number, sizeof(number), "%lld", (long long)job);
	if (!start(worker, "work", number)) {
		worker->is_ending = true;
		worker->end_state = QUEUE_STATE_DONE;
		worker->end_code = CLI_LAB;
		snprintf(worker->end_error, sizeof(worker->end_error), "cannot start a worker: %s",
			strerror(errno));
		return;
	}
	queue_set_worker(store, job, worker->pid);
	tell(worker, "state", "{\"state\":\"running\"}");
}

static void start_recovery(struct daemon_worker *worker, uint64_t now_ms)
{
	if (now_ms < worker->retry_ms)
		return;
	worker->is_recovery = true;
	if (!start(worker, "recover", worker->board->name))
		worker->retry_ms = now_ms + RETRY_MS;
}

/* --------------------------------------------------------------------- end */

/* Tells the store how a job ended; tried again while it cannot. */
static void write_end(struct daemon_worker *worker)
{
	struct daemon *daemon = worker->daemon;
	char text[64];
	struct job_log *log;
	int rc = queue_end(daemon->store, worker->job, worker->end_state, worker->end_code,
		worker->end_error, store_now_ms());

	if (rc != 0 && rc != -EALREADY && rc != -ENOENT) {
		if (!worker->is_end_refused)
			log_error(
				"job %lld: %s", (long long)worker->job, store_error(daemon->store));
		worker->is_end_refused = true;
		return;
	}
	worker->is_end_refused = false;
	log = job_logs_get(&daemon->logs, worker->job);
	if (worker->end_error[0])
		tell(worker, "error", worker->end_error);
	snprintf(text, sizeof(text), "{\"state\":\"%s\",\"exit_code\":%d}",
		queue_state_name(worker->end_state), worker->end_code);
	job_log_end(log, text);
	if (log)
		http_wake(daemon->http, &log->events);
	worker->is_ending = false;
	worker->job = 0;
}

static void end_job(struct daemon_worker *worker, int code, const char *error)
{
	worker->is_ending = true;
	worker->end_state = worker->is_cancelled ? QUEUE_STATE_CANCELLED : QUEUE_STATE_DONE;
	worker->end_code = code;
	/* What the worker says then is the signal that asked it. */
	snprintf(worker->end_error, sizeof(worker->end_error), "%s",
		worker->is_cancelled ? "cancelled while it ran" : error);
}

static void end_recovery(struct daemon_worker *worker, int status, uint64_t now_ms)
{
	struct daemon *daemon = worker->daemon;

	worker->is_recovery = false;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		worker->needs_recovery = false;
		worker->failures = 0;
		return;
	}
	worker->retry_ms = now_ms + RETRY_MS;
	/* Somebody else has the board: that is no fault of the lab. */
	if (WIFEXITED(status) && WEXITSTATUS(status) == CLI_BUSY)
		return;
	if (++worker->failures == RECOVERIES_MAX) {
		char reason[1200];

		snprintf(reason, sizeof(reason),
			"it could not be brought to its rest state after a job had died, and may "
			"be POWERED: %s",
			worker->error);
		log_error("board %s: %s", worker->board->name, reason);
		queue_quarantine(daemon->store, worker->board->name, reason, store_now_ms());
	}
}

static bool has_orphan(struct daemon *daemon, const char *board)
{
	struct orphan_run *runs = NULL;
	int count = orphan_find_runs(daemon->store, board, &runs);

	free(runs);
	return count != 0;
}

static void reap(struct daemon_worker *worker, int status, uint64_t now_ms)
{
	char error[sizeof(worker->error)];

	daemon_worker_read(worker);
	if (worker->report >= 0)
		close(worker->report);
	worker->report = -1;
	worker->pid = 0;
	if (worker->is_recovery) {
		end_recovery(worker, status, now_ms);
		return;
	}
	worker->failures = 0;
	worker->retry_ms = 0;
	worker->needs_recovery = true;
	if (WIFEXITED(status)) {
		/* One that could not write its end leaves a run open. */
		worker->needs_recovery = has_orphan(worker->daemon, worker->board->name);
		end_job(worker, WEXITSTATUS(status), worker->error);
		return;
	}
	snprintf(error, sizeof(error), "interrupted: the worker died of signal %d",
		WTERMSIG(status));
	end_job(worker, CLI_LAB, error);
}

void daemon_worker_reap(struct daemon *daemon)
{
	for (size_t i = 0; i < daemon->worker_count; i++) {
		struct daemon_worker *worker = &daemon->workers[i];
		int status;

		if (worker->pid > 0 && waitpid(worker->pid, &status, WNOHANG) == worker->pid)
			reap(worker, status, monotonic_get_ms());
	}
}

/* ----------------------------------------------------------------- records */

static void take_record(struct daemon_worker *worker, char *record, size_t size)
{
	char text[64];

	record[size] = '\0';
	switch ((enum progress_kind)record[0]) {
	case PROGRESS_LINE:
		tell(worker, "progress", record + 1);
		break;
	case PROGRESS_ERROR:
		snprintf(worker->error, sizeof(worker->error), "%.1023s", record + 1);
		if (worker->is_recovery)
			tell(worker, "progress", record + 1);
		break;
	case PROGRESS_RX:
		stream_append(&worker->console, record + 1, size - 1);
		http_wake(worker->daemon->http, &worker->console);
		break;
	case PROGRESS_LOST:
		snprintf(text, sizeof(text), "(%.20s records were lost)", record + 1);
		tell(worker, "progress", text);
		break;
	case PROGRESS_TX: /* shown by its echo */
	default:
		break;
	}
}

void daemon_worker_read(struct daemon_worker *worker)
{
	char record[PROGRESS_SIZE_MAX + 1];
	ssize_t got;

	if (worker->report < 0)
		return;
	while ((got = recv(worker->report, record, PROGRESS_SIZE_MAX, MSG_DONTWAIT)) > 0)
		take_record(worker, record, (size_t)got);
	if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
		close(worker->report); /* its end shows by SIGCHLD */
		worker->report = -1;
	}
}

/* -------------------------------------------------------------------- tick */

/* The next job of a board; jobs for one in quarantine end with its reason. */
static void start_next(struct daemon_worker *worker)
{
	struct daemon *daemon = worker->daemon;
	int64_t job;

	if (queue_take(daemon->store, worker->board->name, store_now_ms(), &job) != 0)
		log_error("%s", store_error(daemon->store));
	else if (job)
		start_job(worker, job);
}

void daemon_worker_tick(struct daemon *daemon, uint64_t now_ms)
{
	for (size_t i = 0; i < daemon->worker_count; i++) {
		struct daemon_worker *worker = &daemon->workers[i];

		if (worker->pid > 0) {
			if (worker->kill_ms && now_ms > worker->kill_ms)
				kill(worker->pid, SIGKILL);
			continue;
		}
		if (daemon->is_stopping)
			continue;
		/* The board comes to rest first, then its job is said to be over. */
		if (worker->needs_recovery && worker->failures < RECOVERIES_MAX)
			start_recovery(worker, now_ms);
		else if (worker->is_ending)
			write_end(worker);
		/* Where recovery was given up the job's own attempt says why. */
		if (worker->pid == 0 && !worker->is_ending &&
			(!worker->needs_recovery || worker->failures >= RECOVERIES_MAX))
			start_next(worker);
	}
}

/* -------------------------------------------------------------------- stop */

static void ask_to_end(struct daemon_worker *worker)
{
	kill(worker->pid, SIGTERM);
	if (!worker->kill_ms)
		worker->kill_ms = monotonic_get_ms() + END_PATIENCE_MS;
}

bool daemon_worker_stop_all(struct daemon *daemon)
{
	bool any = false;

	for (size_t i = 0; i < daemon->worker_count; i++) {
		struct daemon_worker *worker = &daemon->workers[i];

		if (worker->pid > 0) {
			any = true;
			if (!worker->kill_ms)
				ask_to_end(worker);
		} else if (worker->is_ending && !worker->needs_recovery) {
			write_end(worker);
		}
	}
	return any;
}

int daemon_worker_cancel(struct daemon *daemon, int64_t job)
{
	struct job_log *log;
	int rc;

	for (size_t i = 0; i < daemon->worker_count; i++) {
		struct daemon_worker *worker = &daemon->workers[i];

		if (worker->job != job)
			continue;
		worker->is_cancelled = true;
		if (worker->is_ending)
			worker->end_state = QUEUE_STATE_CANCELLED;
		else if (worker->pid > 0 && !worker->is_recovery)
			ask_to_end(worker);
		return 0;
	}
	rc = queue_end(daemon->store, job, QUEUE_STATE_CANCELLED, CLI_LAB,
		"cancelled before it began", store_now_ms());
	if (rc != 0)
		return rc;
	log = job_logs_get(&daemon->logs, job);
	job_log_end(log, "{\"state\":\"cancelled\",\"exit_code\":3}");
	if (log)
		http_wake(daemon->http, &log->events);
	return 0;
}

/* -------------------------------------------------------------------- init */

/*
 * A running job without a worker of ours was an earlier daemon's.  Its worker
 * may still be on its way to the rest state: the board's lock tells, and its
 * recovery waits for it.  The job is not run again: nobody knows what it did.
 */
static void adopt(struct daemon *daemon, const struct queue_row *row)
{
	struct daemon_worker *worker = daemon_worker_find(daemon, row->job.board);

	if (!worker || worker->job) {
		queue_end(daemon->store, row->id, QUEUE_STATE_DONE, CLI_LAB,
			"interrupted: the daemon died", store_now_ms());
		return;
	}
	worker->job = row->id;
	worker->needs_recovery = true;
	end_job(worker, CLI_LAB, "interrupted: the daemon died");
}

int daemon_worker_init(struct daemon *daemon)
{
	struct queue_row *rows = NULL;
	int count;

	daemon->workers = calloc(daemon->lab->board_count, sizeof(*daemon->workers));
	if (!daemon->workers)
		return daemon_fail(daemon, CLI_LAB, "out of memory");
	daemon->worker_count = daemon->lab->board_count;
	for (size_t i = 0; i < daemon->worker_count; i++) {
		struct daemon_worker *worker = &daemon->workers[i];

		*worker = (struct daemon_worker){
			.daemon = daemon, .board = &daemon->lab->boards[i], .report = -1};
		worker->needs_recovery = has_orphan(daemon, worker->board->name);
	}
	count = queue_list_open(daemon->store, &rows);
	for (int i = 0; i < count; i++)
		if (rows[i].state == QUEUE_STATE_RUNNING)
			adopt(daemon, &rows[i]);
	free(rows);
	return count < 0 ? daemon_fail(daemon, CLI_LAB, "%s", store_error(daemon->store)) : 0;
}
