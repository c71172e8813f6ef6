/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/job.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "boardctl/sha256.h"
#include "db/query.h"
#include "db/queue.h"
#include "harness/board.h"
#include "harness/golden.h"
#include "harness/local.h"
#include "harness/log.h"
#include "harness/recover.h"
#include "harness/run.h"
#include "harness/stop.h"

static int job_fail(struct job *job, int exit_code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int job_fail(struct job *job, int exit_code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(job->error, sizeof(job->error), format, args);
	va_end(args);
	return exit_code;
}

static const struct manifest *find_manifest(const struct job *job, const char *system)
{
	for (size_t i = 0; i < job->manifest_count; i++)
		if (strcmp(job->manifests[i]->system, system) == 0)
			return job->manifests[i];
	return NULL;
}

/* ------------------------------------------------------------------ checks */

static int check_model(struct job *job, const struct manifest *manifest)
{
	const char *model = job->request->board->model;

	if (manifest->board_count == 0)
		return 0;
	for (size_t i = 0; i < manifest->board_count; i++)
		if (strcmp(manifest->boards[i], model) == 0)
			return 0;
	return job_fail(job, 2, "%s: the image boots on %s%s, board %s is a %s", manifest->path,
		manifest->boards[0], manifest->board_count > 1 ? " and others" : "",
		job->request->board->name, model);
}

static int check_hash(struct job *job, const struct manifest *manifest)
{
	char hex[SHA256_HEX_SIZE];
	uint64_t size;
	int rc = sha256_file(manifest->image_path, hex, &size);

	if (rc != 0)
		return job_fail(job, 2, "%s: cannot read the image: %s", manifest->image_path,
			strerror(-rc));
	if (strcmp(hex, manifest->sha256) != 0)
		return job_fail(job, 2,
			"%s: wrong hash: the file has SHA-256 %s, its manifest %s says %s; "
			"build it again or mend the manifest",
			manifest->image_path, hex, manifest->path, manifest->sha256);
	return 0;
}

bool job_has_clock(
	const struct suite *suite, const struct lab_board *board, char *error, size_t size)
{
	bool wants_icount = suite->time == SUITE_TIME_ICOUNT;
	bool has_icount = board->time == LAB_TIME_ICOUNT;

	if (wants_icount != has_icount)
		snprintf(error, size,
			"suite %s is for boards with \"time\": \"%s\", board %s has \"%s\"",
			suite->name, wants_icount ? "icount" : "real", board->name,
			has_icount ? "icount" : "real");
	return wants_icount == has_icount;
}

static int check_plan(struct job *job, const struct manifest *manifest)
{
	if (job->request->board->time == LAB_TIME_REAL || manifest->plan.size)
		return 0;
	return job_fail(job, 2,
		"%s: the image keeps no place for a plan, so it cannot be measured in repeatable "
		"time",
		manifest->path);
}

/* This machine is one system, and nobody boots another. */
static int take_local(struct job *job, const char *system)
{
	struct manifest *manifest;

	if (job->request->suite->golden)
		return job_fail(job, 2,
			"suite %s boots %s before and after; board %s boots nothing",
			job->request->suite->name, job->request->suite->golden, LOCAL_NAME);
	if (strcmp(system, LOCAL_SYSTEM) != 0)
		return job_fail(job, 2, "board %s runs %s and boots nothing: no system %s",
			LOCAL_NAME, LOCAL_SYSTEM, system);
	manifest = local_make_manifest();
	if (!manifest)
		return job_fail(job, 3, "out of memory");
	job->manifests[job->manifest_count++] = manifest;
	return 0;
}

static const struct job_image *find_given(const struct job *job, const char *system)
{
	for (size_t i = 0; i < job->request->given_count; i++)
		if (strcmp(job->request->given[i].system, system) == 0)
			return &job->request->given[i];
	return NULL;
}

/* The image that was named must be the one that its manifest describes. */
static int check_given(
	struct job *job, const struct job_image *given, const struct manifest *manifest)
{
	if (strcmp(manifest->system, given->system) != 0)
		return job_fail(job, 2, "--image: %s is of \"%s\", not of \"%s\"", manifest->path,
			manifest->system, given->system);
	if (strcasecmp(manifest->sha256, given->sha256) != 0)
		return job_fail(job, 2, "--image: wrong hash: %s has SHA-256 %s, %s was named",
			manifest->path, manifest->sha256, given->sha256);
	return 0;
}

static int open_given(struct manifest **manifest, const struct job_image *given)
{
	size_t length = strlen(given->path);
	const char *end = strrchr(given->path, '.');
	char path[1024];

	if (end && strchr(end, '/') == NULL)
		length = (size_t)(end - given->path);
	snprintf(path, sizeof(path), "%.*s.json", (int)length, given->path);
	return manifest_open(manifest, path);
}

static int read_manifest(struct job *job, const char *system)
{
	struct manifest *manifest = NULL;
	const struct job_image *given = find_given(job, system);
	int rc = given ? open_given(&manifest, given)
		       : manifest_find(&manifest, job->request->images, system);

	if (rc != 0) {
		job_fail(job, 2, "%s", manifest ? manifest_error(manifest) : "out of memory");
		manifest_close(manifest);
		return 2;
	}
	job->manifests[job->manifest_count++] = manifest;
	rc = given ? check_given(job, given, manifest) : 0;
	if (rc == 0)
		rc = check_model(job, manifest);
	if (rc == 0)
		rc = check_plan(job, manifest);
	return rc != 0 ? rc : check_hash(job, manifest);
}

static struct plan_card card_of(void *context, const char *system)
{
	const struct manifest *manifest = find_manifest(context, system);

	return (struct plan_card){manifest->sha256, manifest_spends_card(manifest)};
}

int job_init(struct job *job, const struct job_request *request)
{
	static const char *const local[] = {LOCAL_SYSTEM};
	const char *const *systems = request->system_count ? request->systems : NULL;
	size_t system_count = request->system_count;

	*job = (struct job){.request = request};
	if (!job_has_clock(request->suite, request->board, job->error, sizeof(job->error)))
		return 2;
	if (request->board->is_local && !systems) {
		systems = local;
		system_count = 1;
	}
	if (plan_init(&job->plan, request->suite, systems, system_count, request->boots,
		    request->seed) != 0)
		return job_fail(job, 3, "out of memory");
	if (request->board->is_local)
		plan_drop_cards(&job->plan);
	for (size_t i = 0; i < job->plan.run_count; i++) {
		int rc;

		if (find_manifest(job, job->plan.runs[i].system))
			continue;
		if (job->manifest_count == JOB_SYSTEMS_MAX)
			return job_fail(job, 2, "more than %d systems in one job", JOB_SYSTEMS_MAX);
		rc = request->board->is_local ? take_local(job, job->plan.runs[i].system)
					      : read_manifest(job, job->plan.runs[i].system);
		if (rc != 0)
			return rc;
	}
	if (!request->board->is_local)
		plan_set_cards(&job->plan, card_of, job);
	return 0;
}

void job_fini(struct job *job)
{
	for (size_t i = 0; i < job->manifest_count; i++)
		manifest_close(job->manifests[i]);
	plan_fini(&job->plan);
}

/* -------------------------------------------------------------------- runs */

/* 3 (the lab) outweighs 1 (a result): a broken lab must not look like one. */
static int worse(int a, int b)
{
	return a > b ? a : b;
}

/* Two lab failures in a row, of whatever jobs, put the board in quarantine. */
static void note_health(struct job *job, const struct run_result *result)
{
	const char *board = job->request->board->name;
	bool lab_failed = result->verdict == VERDICT_LAB_FAILURE && !result->is_store_failure;

	if (lab_failed || result->verdict == VERDICT_PASS || result->verdict == VERDICT_FAIL ||
		result->verdict == VERDICT_INVALID)
		queue_note_health(
			job->request->store, board, lab_failed, result->reason, store_now_ms());
}

/* Whatever ended the night: without two golden runs that are alike nothing is proven. */
static int judge_golden(struct job *job, int64_t first, int64_t last)
{
	struct store *store = job->request->store;
	char reason[sizeof(((struct golden *)NULL)->reason) + 16];
	struct golden golden;
	int count = golden_judge(&golden, store, first, last);

	if (count == 0 && golden.verdict != GOLDEN_VOID) {
		log_progress("%s", golden.reason);
		return 0;
	}
	snprintf(reason, sizeof(reason), "void: %s", golden.reason);
	if (count == 0)
		count = store_void_runs(store, job->id, reason, store_now_ms());
	if (count < 0)
		return job_fail(job, 3, "database %s: %s", store_path(store), store_error(store));
	log_error("%s; %d runs are kept and not compared", reason, count);
	return 1;
}

/* A trap has passed when it was caught. */
static int close_trap(struct job *job, int rc, const struct trap_finding *finding)
{
	struct store *store = job->request->store;

	if (rc < 0)
		return job_fail(job, 3, "database %s: %s", store_path(store), store_error(store));
	if (finding->outcome == TRAP_MISSED)
		log_error("%s", finding->text);
	else
		log_progress("%s", finding->text);
	return finding->outcome == TRAP_MISSED ? 1 : 0;
}

static int exit_code_of(struct job *job, const char *system, const struct run_result *result)
{
	const struct trap *trap = suite_get_trap(job->request->suite, system);
	int code = run_exit_code(result);
	struct trap_finding finding;

	/* What shows in a comparison only must pass until then. */
	if (!trap || trap->is_rise || code >= 2)
		return code;
	return close_trap(
		job, trap_judge_run(trap, job->request->store, result->run_id, &finding), &finding);
}

/* Traps that show against the job's other runs. */
static int judge_rises(struct job *job)
{
	const struct suite *suite = job->request->suite;
	int exit_code = 0;

	for (size_t i = 0; i < suite->trap_count; i++) {
		const struct trap *trap = &suite->traps[i];
		struct trap_finding finding;

		if (!trap->is_rise || !find_manifest(job, trap->system))
			continue;
		exit_code = worse(
			exit_code, close_trap(job,
					   trap_judge_rise(trap, job->request->store, job->id,
						   suite->time == SUITE_TIME_ICOUNT, &finding),
					   &finding));
	}
	return exit_code;
}

static int execute_runs(struct job *job, struct board *board, int64_t golden[2])
{
	const struct job_request *request = job->request;
	char on_card[SHA256_HEX_SIZE] = "";
	int exit_code = 0, lab_failures = 0;

	for (size_t i = 0; i < job->plan.run_count; i++) {
		const struct plan_run *planned = &job->plan.runs[i];
		const struct manifest *manifest = find_manifest(job, planned->system);
		bool holds_image = strcmp(on_card, manifest->sha256) == 0;
		struct run_result result;
		struct run_request run = {
			.store = request->store,
			.job_id = job->id,
			.board = board,
			.suite = request->suite,
			.plan = &job->plan,
			.manifest = manifest,
			.boot = planned->boot,
			.seed = request->seed,
			.write_card = !holds_image,
			.card_sha256 = on_card,
			.watch = request->watch,
		};

		log_progress("run %zu of %zu: %s, boot %u", i + 1, job->plan.run_count,
			planned->system, planned->boot);
		run_execute(&run, &result);
		if (planned->is_golden)
			golden[i > 0] = result.run_id;
		log_progress("run %lld: %s: %s", (long long)result.run_id,
			result.verdict == VERDICT_RUNNING ? "not closed"
							  : verdict_name(result.verdict),
			result.reason);
		exit_code = worse(exit_code, exit_code_of(job, planned->system, &result));
		note_health(job, &result);
		/* A system that writes its card is only gone on with where it ended in order. */
		snprintf(on_card, sizeof(on_card), "%s",
			result.is_card_dirty ? "" : result.card_sha256);
		if (result.verdict == VERDICT_INTERRUPTED || result.verdict == VERDICT_RUNNING)
			return job_fail(job, exit_code, "%s", result.reason);
		lab_failures = result.verdict == VERDICT_LAB_FAILURE ? lab_failures + 1 : 0;
		/* The rest would fail alike. */
		if (lab_failures == QUEUE_LAB_FAILURES_MAX && i + 1 < job->plan.run_count)
			return job_fail(job, exit_code,
				"%d lab failures in a row, the job ends: %s", lab_failures,
				result.reason);
	}
	return worse(exit_code, judge_rises(job));
}

static int begin_job(struct job *job)
{
	const struct job_request *request = job->request;
	char *plan = plan_to_text(&job->plan, request->suite);
	struct store_job row = {
		.command = request->command,
		.suite = request->suite->name,
		.suite_json = request->suite->text,
		.plan = plan,
		.version = SAMEBOARD_VERSION,
		.started_ms = store_now_ms(),
		.id = request->id,
	};
	int rc = store_begin_job(request->store, &row, &job->id);

	free(plan);
	if (rc < 0)
		return job_fail(job, 3, "database %s: %s", store_path(request->store),
			store_error(request->store));
	return 0;
}

static int refuse_quarantined(struct job *job)
{
	const char *board = job->request->board->name;
	struct queue_health *health = NULL;
	int exit_code = 0;

	if (queue_get_health(job->request->store, board, &health) != 0)
		exit_code = job_fail(job, 3, "database %s: %s", store_path(job->request->store),
			store_error(job->request->store));
	else if (health && health->quarantined_ms)
		exit_code = job_fail(job, 3,
			"board %s is in quarantine after %lld lab failures in a row, the last: %s; "
			"mend it, then `sameboard boards %s --release`",
			board, (long long)health->lab_failures, health->reason, board);
	free(health);
	return exit_code;
}

/* What a dead job left behind goes first, whatever becomes of this one. */
static int open_board(struct job *job, struct board *board)
{
	const struct job_request *request = job->request;
	struct recover_report report;
	int rc = board_open(board, request->board, request->command);

	if (rc == 0 && recover_board(request->store, board, &request->watch, &report) != 0)
		return job_fail(job, 3, "%s", report.text);
	if (refuse_quarantined(job) != 0)
		return 3;
	if (rc != 0 && rc != -EBUSY && rc != -EINVAL)
		queue_note_health(request->store, request->board->name, true, board_error(board),
			store_now_ms());
	return rc == 0 ? 0 : job_fail(job, rc == -EINVAL ? 2 : 3, "%s", board_error(board));
}

int job_execute(struct job *job)
{
	struct board board;
	char why[sizeof(board.error)];
	int64_t golden[2] = {0};
	int exit_code = open_board(job, &board);
	int rc;

	if (exit_code == 0)
		exit_code = begin_job(job);
	if (exit_code == 0) {
		exit_code = execute_runs(job, &board, golden);
		if (job->request->suite->golden)
			exit_code = worse(exit_code, judge_golden(job, golden[0], golden[1]));
	}
	rc = board_close(&board);
	if (rc != 0) {
		snprintf(why, sizeof(why), "%s", board_error(&board));
		exit_code = job_fail(job, 3, "%s", why);
	}
	if (job->id &&
		store_end_job(job->request->store, job->id, exit_code, store_now_ms()) != 0) {
		if (!job->error[0])
			job_fail(job, 3, "database %s: %s", store_path(job->request->store),
				store_error(job->request->store));
		exit_code = 3;
	}
	return exit_code;
}
