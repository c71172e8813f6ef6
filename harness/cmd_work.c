/* SPDX-License-Identifier: Apache-2.0 */
/* sameboard work, recover: what a daemon starts; nobody types them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boardctl/monotonic.h"
#include "db/queue.h"
#include "harness/against.h"
#include "harness/cli.h"
#include "harness/job.h"
#include "harness/log.h"
#include "harness/progress.h"
#include "harness/recover.h"

#include "harness/stop.h"

#define BUSY_PATIENCE_MS  60000
#define RELAY_PATIENCE_MS 5000
#define RETRY_STEP_US	  100000
/* Many workers store at once, and SQLite lets whoever comes first: nobody may lose for that. */
#define STORE_PATIENCE_MS 60000

struct work {
	struct progress progress;
	struct lab *lab;
	struct store *store;
};

static int work_open(struct work *work, struct cli *cli)
{
	*work = (struct work){.progress = {.fd = -1}};
	if (cli->report_fd > 0)
		progress_begin(&work->progress, (int)cli->report_fd);
	if (lab_open(&work->lab, cli->lab) != 0) {
		log_error("%s", lab_error(work->lab));
		return CLI_USAGE;
	}
	if (store_open(&work->store, cli->db, STORE_NO_CREATE) != 0) {
		log_error("%s", store_error(work->store));
		return CLI_LAB;
	}
	store_set_patience(work->store, STORE_PATIENCE_MS);
	return CLI_PASS;
}

static int work_close(struct work *work, int exit_code)
{
	store_close(work->store);
	lab_close(work->lab);
	progress_end(&work->progress);
	return exit_code;
}

static struct link_tap work_watch(struct work *work)
{
	return work->progress.fd >= 0 ? progress_tap(&work->progress) : (struct link_tap){0};
}

/* -------------------------------------------------------------------- work */

/* "a,b" in place into the request. */
static void split_systems(char *text, struct job_request *request)
{
	char *word;

	while (text && *text && request->system_count < JOB_SYSTEMS_MAX &&
		(word = strsep(&text, ",")))
		request->systems[request->system_count++] = word;
}

/* What the job's runs are against its baseline, as `run` without a daemon judges. */
static int judge(struct store *store, const char *word, int64_t job)
{
	struct baseline baseline;
	struct against against = {0};
	int64_t *ids = NULL;
	int count = 0, exit_code = CLI_USAGE;

	if (baseline_find(&baseline, store, word) != 0) {
		log_error("--baseline: %s", baseline.error);
	} else if ((count = query_job_runs(store, job, &ids)) < 0) {
		log_error("%s", store_error(store));
		exit_code = CLI_LAB;
	} else {
		exit_code = against_init(&against, store, &baseline, ids, (size_t)count);
	}
	if (against.error[0])
		log_error("%s", against.error);
	else if (exit_code == CLI_FAIL)
		log_error("a regression against %s", word);
	against_fini(&against);
	baseline_fini(&baseline);
	free(ids);
	return exit_code;
}

static int execute(struct job_request *request, const char *baseline)
{
	struct job job;
	int exit_code = job_init(&job, request);
	char *plan = NULL;

	if (exit_code == 0) {
		plan = plan_to_text(&job.plan, request->suite);
		log_progress("%s", plan ? plan : "");
		exit_code = job_execute(&job);
	}
	if (job.error[0])
		log_error("%s", job.error);
	/* A job that failed has no runs to hold against it. */
	if (exit_code == 0 && baseline[0])
		exit_code = judge(request->store, baseline, job.id);
	free(plan);
	job_fini(&job);
	return exit_code;
}

static int work_on(struct work *work, struct cli *cli, struct queue_row *row)
{
	struct suite *suite = NULL;
	struct job_request request = {
		.store = work->store,
		.images = cli->images,
		.command = row->job.command,
		.boots = (unsigned)row->job.boots,
		.seed = (uint64_t)row->job.seed,
		.id = row->id,
		.watch = work_watch(work),
	};
	int exit_code = CLI_USAGE;

	split_systems((char *)(uintptr_t)row->job.systems, &request);
	request.board = lab_find_board(work->lab, row->job.board);
	if (!request.board) {
		log_error("%s", lab_error(work->lab));
	} else if (suite_parse(&suite, row->job.suite, row->job.suite_json,
			   strlen(row->job.suite_json)) != 0) {
		log_error("%s", suite_error(suite));
	} else {
		request.suite = suite;
		exit_code = execute(&request, row->job.baseline);
	}
	suite_close(suite);
	return exit_code;
}

int command_work(struct cli *cli)
{
	struct work work;
	struct queue_row *row = NULL;
	int exit_code = work_open(&work, cli);

	if (exit_code == CLI_PASS) {
		if (queue_get(work.store, strtoll(cli->arguments[0], NULL, 10), &row) != 0) {
			log_error("%s", store_error(work.store));
			exit_code = CLI_USAGE;
		} else {
			exit_code = work_on(&work, cli, row);
		}
	}
	free(row);
	return work_close(&work, exit_code);
}

/* ----------------------------------------------------------------- recover */

/*
 * A worker that was told to end holds the board until it has come to rest; and
 * a relay whose master was killed in the middle of a word may need a moment.
 */
static int open_patiently(struct board *board, const struct lab_board *config, const char *what)
{
	uint64_t begun_ms = monotonic_get_ms();
	int rc;

	for (;;) {
		uint64_t since_ms;

		rc = board_open(board, config, what);
		since_ms = monotonic_get_ms() - begun_ms;
		if (rc == 0 || rc == -EINVAL || stop_requested() ||
			since_ms > (rc == -EBUSY ? BUSY_PATIENCE_MS : RELAY_PATIENCE_MS))
			return rc;
		board_close(board);
		usleep(RETRY_STEP_US);
	}
}

int command_recover(struct cli *cli)
{
	const struct lab_board *config;
	struct recover_report report;
	struct link_tap watch;
	struct board board;
	struct work work;
	int rc, exit_code = work_open(&work, cli);

	if (exit_code != CLI_PASS)
		return work_close(&work, exit_code);
	config = lab_find_board(work.lab, cli->arguments[0]);
	if (!config) {
		log_error("%s", lab_error(work.lab));
		return work_close(&work, CLI_USAGE);
	}
	watch = work_watch(&work);
	exit_code = CLI_LAB;
	rc = open_patiently(&board, config, cli->command_line);
	if (rc != 0)
		log_error("%s", board_error(&board));
	else if (recover_board(work.store, &board, &watch, &report) != 0)
		log_error("%s", report.text);
	else
		exit_code = CLI_PASS;
	exit_code = rc == -EBUSY ? CLI_BUSY : exit_code;
	if (board_close(&board) != 0) {
		log_error("%s", board_error(&board));
		exit_code = CLI_LAB;
	}
	return work_close(&work, exit_code);
}
