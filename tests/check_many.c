/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a daemon does with boards that need no emulator: a sample of
 * campaign-many, a night that is void, a baseline, a viewer that does not read.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "db/query.h"
#include "tests/json_fields.h"
#include "tests/many_rig.h"

#define CHATTER_BYTES (3u << 20)

/* Then freed memory is kept back. */
#ifdef __SANITIZE_ADDRESS__
#define IS_SANITIZED true
#else
#define IS_SANITIZED false
#endif

START_TEST(boards_pulled_at_the_same_time_lose_nothing)
{
	const struct many_config config = {
		.peer = {.boards = 4, .chunk_size = 32}, .windows = 2, .n = 5000};
	struct many_rig rig;
	struct many_result result;

	many_rig_start(&rig, &config);
	many_rig_submit(&rig);
	many_rig_finish(&rig, &result);
	ck_assert_msg(!result.wrong[0], "%s", result.wrong);
	ck_assert_uint_eq(result.windows, config.peer.boards * config.windows);
	ck_assert_uint_eq(result.passed + result.invalid, config.peer.boards);
	ck_assert_uint_eq(result.refused, 0);
	ck_assert_uint_eq(result.missing, 0);
	for (unsigned i = 0; i < config.peer.boards; i++)
		ck_assert(!atomic_load(&rig.peer.shared->boards[i].is_on));
	lab_rig_check_db(&rig.daemon.lab);
	many_rig_stop(&rig);
}
END_TEST

/* ------------------------------------------------------------------- golden */

START_TEST(golden_runs_that_differ_void_their_night)
{
	const struct many_config config = {.peer = {.boards = 1,
						   .chunk_size = 512,
						   .byte_ns = 10000,
						   .drift = 5000,
						   .platform = "recorded"},
		.windows = 1,
		.n = 2000,
		.extra = "\"golden\": \"baremetal\","};
	struct query_run *runs = NULL;
	struct store *store;
	struct many_rig rig;
	cJSON *job;

	many_rig_start(&rig, &config);
	many_rig_submit(&rig);
	job = daemon_rig_await(&rig.daemon, 1, "done");
	ck_assert_int_eq(number_of(job, "exit_code"), 1);
	cJSON_Delete(job);
	ck_assert_int_eq(store_open(&store, rig.daemon.lab.db, STORE_READ_ONLY), 0);
	ck_assert_int_eq(query_runs(store, NULL, &runs), 3);
	for (int i = 0; i < 3; i++) {
		ck_assert_str_eq(verdict_name(runs[i].verdict), "invalid");
		ck_assert_int_eq(runs[i].windows, 1);
	}
	/* A busy machine may cost one of them its floor; then it is void by that. */
	ck_assert_msg(strncmp(runs[1].reason, "void: golden run", 16) == 0 ||
			      strncmp(runs[1].reason, "gate ", 5) == 0,
		"%s", runs[1].reason);
	free(runs);
	store_close(store);
	many_rig_stop(&rig);
}
END_TEST

/* ----------------------------------------------------------------- baseline */

START_TEST(a_baseline_goes_with_the_job_to_the_daemon)
{
	const struct many_config config = {
		.peer = {.boards = 1, .chunk_size = 512, .byte_ns = 10000}, .windows = 1, .n = 500};
	struct many_rig rig;
	struct lab_rig *lab = &rig.daemon.lab;
	cJSON *json;

	many_rig_start(&rig, &config);
	lab_rig_expect(lab, 2, (const char *[]){"submit", rig.suite, "--baseline=1", NULL});
	ck_assert_msg(strstr(lab->err, "baseline: ") != NULL, "%s", lab->err);
	many_rig_submit(&rig);
	json = daemon_rig_await(&rig.daemon, 1, "done");
	ck_assert_int_eq(number_of(json, "exit_code"), 0);
	cJSON_Delete(json);
	/* One run is for repeatable time, and this was none. */
	lab_rig_expect(lab, 2, (const char *[]){"run", rig.suite, "--baseline=LAST", NULL});
	ck_assert_msg(strstr(lab->err, "job 2 of the daemon") != NULL, "%s", lab->err);
	ck_assert_msg(strstr(lab->err, "EXACT rule: run 1 was not") != NULL, "%s", lab->err);
	/* A named one is judged over runs, of which there are too few. */
	lab_rig_expect(lab, 0, (const char *[]){"baseline", "before", "1", NULL});
	lab_rig_expect(
		lab, 0, (const char *[]){"run", rig.suite, "--baseline=before", "--json", NULL});
	json = lab_rig_json(lab);
	ck_assert_str_eq(text_of(cJSON_GetObjectItem(json, "change"), "baseline"), "before");
	ck_assert_int_gt(cJSON_GetArraySize(
				 cJSON_GetObjectItem(cJSON_GetObjectItem(json, "change"), "rows")),
		0);
	cJSON_Delete(json);
	lab_rig_expect(lab, 0, (const char *[]){"watch", "3", NULL});
	ck_assert_msg(strstr(lab->out, "before") != NULL, "%s", lab->out);
	many_rig_stop(&rig);
}
END_TEST

/* ------------------------------------------------------------------- viewer */

static unsigned long read_peak_kb(pid_t pid)
{
	char path[64], line[256];
	unsigned long kb = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	while (kb == 0 && fgets(line, sizeof(line), file))
		sscanf(line, "VmHWM: %lu", &kb);
	fclose(file);
	return kb;
}

/* Everything that is left for a viewer, until the daemon ends it. */
static size_t read_rest(int fd)
{
	static char bytes[65536];
	size_t size = 0;
	ssize_t got;

	while ((got = recv(fd, bytes, sizeof(bytes), 0)) > 0)
		size += (size_t)got;
	return size;
}

START_TEST(a_viewer_that_does_not_read_is_dropped_and_delays_nobody)
{
	const struct many_config config = {.peer = {.boards = 1,
						   .chunk_size = 512,
						   .byte_ns = 2000,
						   .chatter_bytes = CHATTER_BYTES},
		.windows = 1,
		.n = 1000};
	struct many_rig rig;
	struct many_result result;
	unsigned long before_kb, after_kb;
	size_t seen;
	int fd;

	many_rig_start(&rig, &config);
	fd = daemon_rig_open_stream(&rig.daemon, "/v1/boards/board0/console", "");
	before_kb = read_peak_kb(rig.daemon.pid);
	many_rig_submit(&rig);
	many_rig_finish(&rig, &result);
	after_kb = read_peak_kb(rig.daemon.pid);
	ck_assert_msg(!result.wrong[0], "%s", result.wrong);
	ck_assert_uint_eq(result.windows, 1);
	ck_assert_uint_eq(result.missing, 0);
	/* A slow host's port refuses some. */
	ck_assert_uint_gt(result.sent, CHATTER_BYTES / 3);
	/* The console's last MiB, as it grows, and what goes to a socket at a time. */
	ck_assert_msg(IS_SANITIZED || after_kb - before_kb < 6 * 1024, "%lu KiB, then %lu KiB",
		before_kb, after_kb);
	seen = read_rest(fd);
	ck_assert_uint_gt(seen, 0);
	ck_assert_uint_lt(seen, result.sent / 2);
	close(fd);
	many_rig_stop(&rig);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		boards_pulled_at_the_same_time_lose_nothing,
		golden_runs_that_differ_void_their_night,
		a_baseline_goes_with_the_job_to_the_daemon,
		a_viewer_that_does_not_read_is_dropped_and_delays_nobody,
	};
	Suite *suite = suite_create("many");
	SRunner *runner = srunner_create(suite);
	TCase *tcase = tcase_create("many");
	int failed;

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(tcase, tests[i]);
	tcase_set_timeout(tcase, 120);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
