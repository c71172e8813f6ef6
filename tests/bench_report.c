/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-report PROGRAM: how long a person waits for `compare`, `compare` against
 * a baseline and `history` with 10,000 runs in the database, and for the report of
 * one run of 6,000,000 samples, with the memory that it takes.  The program is
 * started as a person would; of several rounds the best one counts.
 */
#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <spawn.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "boardctl/monotonic.h"
#include "db/store.h"
#include "harness/stats.h"
#include "tests/bench/aims.h"
#include "tests/bench/rig.h"

#define RUNS	       10000
#define RUNS_OF_JOB    10
#define WINDOWS	       8
#define SAMPLES	       1000u
#define LONG_WINDOWS   60
#define LONG_SAMPLES   100000u
#define HZ	       24000000
#define ROUNDS	       5
#define AIM_QUERY_S    0.3
#define AIM_REPORT_S   3.0
#define AIM_REPORT_MIB 300.0

extern char **environ;

static const char suite_json[] =
	"{ \"systems\": [\"linux\"], \"boots\": 10, \"primary\": [\"wake.idle/p99\"], "
	"\"windows\": [{ \"bench\": \"wake.idle\" }] }";

struct bench {
	char dir[BENCH_DIR_SIZE];
	char many[BENCH_PATH_SIZE], large[BENCH_PATH_SIZE];
	const char *program;
	struct aims aims;
	cJSON *json;
	bool is_json;
};

static int fail(const char *what, const char *why)
{
	fprintf(stderr, "bench-report: %s: %s\n", what, why);
	return -EIO;
}

/* ------------------------------------------------------------- the databases */

/* A tail as real wake-ups have one. */
static void make_samples(int32_t *samples, size_t count, uint64_t seed)
{
	for (size_t i = 0; i < count; i++) {
		double x;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		x = (double)(seed >> 11) / 9007199254740992.0;
		samples[i] = (int32_t)(240 + 60 * -log(1 - x * 0.999999));
	}
}

static int add_metric(
	struct store *store, int64_t run, const char *series, const char *name, double value)
{
	return store_add_metric(store, run,
		&(struct store_metric){
			.series = series, .name = name, .value = value, .unit = "counts"});
}

static int add_figures(struct store *store, int64_t run, const int32_t *samples, size_t count)
{
	struct stats_summary s;
	int rc = stats_summarise(samples, count, HZ / 1000, &s);
	const struct {
		const char *name;
		double value;
	} figures[] = {{"n", (double)s.n}, {"early", (double)s.early}, {"missed", (double)s.missed},
		{"min", s.min}, {"mean", s.mean}, {"sd", s.sd}, {"max", s.max},
		{"max_index", (double)s.max_index}, {"batch", 1}};

	for (size_t i = 0; rc == 0 && i < sizeof(figures) / sizeof(figures[0]); i++)
		rc = add_metric(store, run, "latency", figures[i].name, figures[i].value);
	for (int q = 0; rc == 0 && q < STATS_QUANTILES; q++)
		rc = add_metric(store, run, "latency", stats_quantile_name((enum stats_quantile)q),
			s.quantiles[q]);
	if (rc == 0)
		rc = add_metric(store, run, NULL, "counter_hz", HZ);
	return rc == 0 ? add_metric(store, run, NULL, "floor", 9) : rc;
}

static int add_window(
	struct store *store, int64_t run, unsigned number, const int32_t *samples, size_t count)
{
	const struct store_window window = {.number = number,
		/* One of them is primary. */
		.bench = number == 1 ? 1 : 2,
		.name = number == 1 ? "wake.idle" : "wake.cpu",
		.load = number == 1 ? "idle" : "cpu",
		.phase = "arbitrary",
		.n = (uint32_t)count,
		/* Each a row of its own. */
		.period_us = 1000 + number - 1,
		.started_ms = 1,
		.ended_ms = 2};
	int rc = store_begin_window(store, run, &window);

	if (rc == 0)
		rc = store_add_series(store, &(struct store_series){.id = 1,
						     .name = "latency",
						     .kind = STORE_SERIES_COUNTS,
						     .data = samples,
						     .count = count});
	if (rc == 0)
		rc = add_figures(store, run, samples, count);
	return rc == 0 ? store_commit_window(store) : rc;
}

/* One run of so many windows in a new database. */
static int make_run(const char *path, unsigned windows, uint32_t count)
{
	static struct store_gate gates[120];
	struct store *store = NULL;
	int32_t *samples = malloc(count * sizeof(*samples));
	int64_t job = 0, run = 0;
	int rc = samples ? store_open(&store, path, 0) : -ENOMEM;

	for (size_t g = 0; g < sizeof(gates) / sizeof(gates[0]); g++)
		gates[g] = (struct store_gate){.id = "silence",
			.verdict = GATE_VERDICT_PASS,
			.evidence =
				"0 bytes heard by the host, 0 in and 0 out counted by the target",
			.threshold = "0 bytes"};
	if (rc == 0)
		rc = store_begin_job(store,
			&(struct store_job){.command = "run bench",
				.suite = "bench",
				.suite_json = suite_json,
				.plan = "",
				.version = "bench",
				.started_ms = 1},
			&job);
	if (rc == 0)
		rc = store_begin_run(store,
			&(struct store_run){.job_id = job,
				.board = "panel1",
				.model = "model",
				.system = "linux",
				.image_version = "1",
				.image_file = "linux.img",
				.image_sha256 = "00",
				.image_manifest = "{}",
				.boot = 1,
				.started_ms = 1000},
			&run);
	for (unsigned w = 0; rc == 0 && w < windows; w++) {
		make_samples(samples, count, w + 1);
		rc = add_window(store, run, w + 1, samples, count);
	}
	if (rc == 0)
		rc = store_end_run(store, run, VERDICT_PASS, "all gates hold", 2000, gates,
			sizeof(gates) / sizeof(gates[0]));
	if (rc == 0)
		rc = store_end_job(store, job, 0, 2000);
	if (rc != 0)
		fail(path, store ? store_error(store) : strerror(-rc));
	free(samples);
	store_close(store);
	return rc;
}

/* The run again and again, its figures a little different each time. */
static int multiply(const char *path)
{
	static const char format[] =
		"BEGIN;"
		"CREATE TEMP TABLE n(i INTEGER PRIMARY KEY);"
		"WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < %d - 1) "
		"INSERT INTO n SELECT i FROM c;"
		"INSERT INTO jobs SELECT 1 + i / %d, command, suite, suite_json, plan, version, "
		"machine, pid, pid_start, 1 + i, 2 + i, 0 FROM jobs, n WHERE i %% %d = 0 AND i > 0;"
		"INSERT INTO runs SELECT 1 + i, 1 + i / %d, board_id, image_id, system, boot, seed, "
		"session, 0, 1000 + i * 1000, 2000 + i * 1000, verdict, reason FROM runs, n;"
		"INSERT INTO windows SELECT id + i * %d, 1 + i, number, bench, name, load, phase, n, "
		"period_us, settle_ms, duration_ms, seed, started_ms, ended_ms FROM windows, n;"
		"INSERT INTO series SELECT id + i * %d, window_id + i * %d, number, name, kind, "
		"encoding, count, clipped, crc32c, x'00' FROM series, n;"
		"INSERT INTO metrics(run_id, window_id, series_id, name, value, unit) "
		"SELECT 1 + i, window_id + i * %d, series_id + i * %d, metrics.name, "
		"CASE WHEN metrics.name LIKE 'p%%' OR metrics.name = 'mean' "
		"THEN value * (1 + (i * 7919 %% 101) / 2000.0) ELSE value END, unit FROM metrics, n;"
		"INSERT INTO gates(run_id, gate, verdict, evidence, threshold) "
		"SELECT 1 + i, gate, verdict, evidence, threshold FROM gates, n;"
		"UPDATE runs SET emulated = 0;"
		"INSERT INTO baselines VALUES(1, 'release', '', 1);"
		"INSERT INTO baseline_runs SELECT 1, id FROM runs WHERE id BETWEEN 11 AND 20;"
		"COMMIT; ANALYZE;";
	char *error = NULL, sql[4096];
	sqlite3 *db = NULL;
	int rc = sqlite3_open(path, &db);

	snprintf(sql, sizeof(sql), format, RUNS, RUNS_OF_JOB, RUNS_OF_JOB, RUNS_OF_JOB, WINDOWS,
		WINDOWS, WINDOWS, WINDOWS, WINDOWS);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, sql, NULL, NULL, &error);
	if (rc != SQLITE_OK)
		fail(path, error ? error : "cannot be opened");
	sqlite3_free(error);
	sqlite3_close(db);
	return rc == SQLITE_OK ? 0 : -EIO;
}

/* ------------------------------------------------------------- measuring */

/* Seconds of one start, or negative; *mib: its peak. */
static double time_once(const struct bench *bench, const char *const arguments[], double *mib)
{
	const char *argv[16] = {bench->program};
	posix_spawn_file_actions_t actions;
	struct rusage usage;
	uint64_t start_us = monotonic_get_us();
	int status = -1;
	pid_t pid;

	for (size_t i = 0; arguments[i]; i++)
		argv[i + 1] = arguments[i];
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	if (posix_spawn(&pid, bench->program, &actions, NULL, (char *const *)(uintptr_t)argv,
		    environ) != 0)
		pid = -1;
	posix_spawn_file_actions_destroy(&actions);
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || !WIFEXITED(status) ||
		WEXITSTATUS(status) > 1)
		return fail(arguments[0], "did not end as it should");
	*mib = (double)usage.ru_maxrss / 1024;
	return (double)(monotonic_get_us() - start_us) / 1e6;
}

static int measure(struct bench *bench, const char *what, const char *const arguments[],
	double aim_s, double aim_mib)
{
	double best = INFINITY, worst = 0, peak = 0;

	for (int round = 0; round < ROUNDS; round++) {
		double mib, seconds = time_once(bench, arguments, &mib);

		if (seconds < 0)
			return -EIO;
		best = fmin(best, seconds);
		worst = fmax(worst, seconds);
		peak = fmax(peak, mib);
	}
	if (!bench->is_json)
		printf("  %-44s %6.3f to %.3f s, peak memory %.0f MiB\n", what, best, worst, peak);
	aims_add(&bench->aims, best < aim_s, "%s: %.3f s, below %.1f s", what, best, aim_s);
	if (aim_mib > 0)
		aims_add(&bench->aims, peak < aim_mib, "%s: %.0f MiB, below %.0f MiB", what, peak,
			aim_mib);
	cJSON_AddNumberToObject(bench->json, what, best);
	return 0;
}

static int measure_all(struct bench *bench)
{
	char many[BENCH_PATH_SIZE + 8], large[BENCH_PATH_SIZE + 8], out[BENCH_PATH_SIZE + 16];
	int rc;

	snprintf(many, sizeof(many), "--db=%s", bench->many);
	snprintf(large, sizeof(large), "--db=%s", bench->large);
	snprintf(out, sizeof(out), "--output=%s/report.html", bench->dir);
	rc = measure(bench, "compare of a job, 10,000 runs stored",
		(const char *[]){"compare", many, NULL}, AIM_QUERY_S, 0);
	if (rc == 0)
		rc = measure(bench, "compare against a baseline, 10,000 runs",
			(const char *[]){"compare", many, "--baseline=release", NULL}, AIM_QUERY_S,
			0);
	if (rc == 0)
		rc = measure(bench, "history of a row of 10,000 runs",
			(const char *[]){"history", "wake.idle/p99", many, NULL}, AIM_QUERY_S, 0);
	if (rc == 0)
		rc = measure(bench, "report of 6,000,000 samples",
			(const char *[]){"report", large, out, NULL}, AIM_REPORT_S, AIM_REPORT_MIB);
	return rc;
}

static int run(struct bench *bench)
{
	int rc = bench_make_dir(bench->dir);

	if (rc != 0)
		return fail("a folder beside the program", strerror(-rc));
	snprintf(bench->many, sizeof(bench->many), "%s/many.db", bench->dir);
	snprintf(bench->large, sizeof(bench->large), "%s/large.db", bench->dir);
	rc = make_run(bench->many, WINDOWS, SAMPLES);
	if (rc == 0)
		rc = multiply(bench->many);
	if (rc == 0)
		rc = make_run(bench->large, LONG_WINDOWS, LONG_SAMPLES);
	if (rc == 0)
		rc = measure_all(bench);
	bench_remove_dir(bench->dir);
	return rc;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'},
		{"aims", required_argument, NULL, 'a'}, {"help", no_argument, NULL, 'h'}, {0}};
	static const char usage[] = "usage: bench-report PROGRAM [--json] [--aims FILE]\n";
	struct bench bench = {.json = cJSON_CreateObject()};
	const char *aims_path = NULL;
	int letter, rc;

	while ((letter = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (letter == 'j') {
			bench.is_json = true;
		} else if (letter == 'a') {
			aims_path = optarg;
		} else {
			fputs(usage, letter == 'h' ? stdout : stderr);
			return letter == 'h' ? 0 : 2;
		}
	}
	if (optind + 1 != argc) {
		fputs(usage, stderr);
		return 2;
	}
	bench.program = argv[optind];
	rc = run(&bench);
	if (rc == 0 && bench.is_json) {
		char *text = cJSON_PrintUnformatted(bench.json);

		puts(text ? text : "{}");
		cJSON_free(text);
	} else if (rc == 0) {
		fputs(bench.aims.text, stdout);
	}
	if (rc == 0 && aims_append(&bench.aims, aims_path) != 0)
		rc = fail(aims_path, "cannot be written");
	cJSON_Delete(bench.json);
	return rc != 0 || bench.aims.missed ? 1 : 0;
}
