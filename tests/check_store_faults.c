/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/scratch.h"
#include "tests/store_fixture.h"

static struct scratch scratch;
static char path[320];

static void set_up(void)
{
	scratch_init(&scratch);
	strcpy(path, scratch_path(&scratch, "runs.db"));
}

static void tear_down(void)
{
	scratch_fini(&scratch);
}

/* Opening fails with this code and text, in which %s is the path. */
static void expect_refusal(const char *file, unsigned flags, int code, const char *format)
{
	char expected[1024];
	struct store *store;
	int64_t id;
	int result = store_open(&store, file, flags);
	const char *at = strstr(format, "%s");

	snprintf(expected, sizeof(expected), "%.*s%s%s", at ? (int)(at - format) : 0, format,
		at ? file : "", at ? at + 2 : format);
	ck_assert_str_eq(store_error(store), expected);
	ck_assert_int_eq(result, code);
	/* A store that did not open answers everything with an error and keeps its text. */
	ck_assert_int_lt(query_resolve_run(store, "LAST", &id), 0);
	ck_assert_int_lt(store_set_fact(store, 1, "a", "b"), 0);
	ck_assert_int_lt(store_commit_window(store), 0);
	ck_assert_str_eq(store_error(store), expected);
	store_close(store);
}

START_TEST(what_is_no_database_of_ours_is_refused_with_its_reason)
{
	char garbage[4096];

	memset(garbage, 'x', sizeof(garbage));
	expect_refusal("", 0, -EINVAL, "the path of the database is empty");
	expect_refusal(scratch.dir, 0, -EISDIR,
		"cannot open database %s: it is a directory; name a file in it");
	expect_refusal("/nonexistent/dir/x.db", 0, -ENOENT,
		"cannot open database %s: No such file or directory");
	expect_refusal(scratch_path(&scratch, "none.db"), STORE_READ_ONLY, -ENOENT,
		"there is no database %s yet; the first run makes one");
	expect_refusal(scratch_path(&scratch, "none.db"), STORE_NO_CREATE, -ENOENT,
		"there is no database %s yet; the first run makes one");
	ck_assert_int_ne(access(scratch_path(&scratch, "none.db"), F_OK), 0);
	expect_refusal(scratch_write(&scratch, "short.db", "not a database", 14), 0, -EPROTO,
		"cannot read: %s is not a database; name another file");
	expect_refusal(scratch_write(&scratch, "long.db", garbage, sizeof(garbage)), 0, -EPROTO,
		"cannot read: %s is not a database; name another file");
	expect_refusal(scratch_write(&scratch, "file", "", 0), STORE_READ_ONLY, -EPROTO,
		"%s is empty, no sameboard database");
	{
		char below[400];

		snprintf(below, sizeof(below), "%s/x.db", scratch_path(&scratch, "file"));
		expect_refusal(below, 0, -ENOTDIR, "cannot open database %s: Not a directory");
	}
	fixture_sql(path, "CREATE TABLE songs(id)");
	expect_refusal(path, 0, -EPROTO, "%s is a database of another program; name another file");
	ck_assert_int_eq(fixture_get(path, "SELECT count(*) FROM sqlite_master"), 1);
}
END_TEST

START_TEST(a_database_of_a_newer_version_is_refused_and_left_alone)
{
	char pragma[64], says[160];

	store_close(fixture_open(path));
	snprintf(pragma, sizeof(pragma), "PRAGMA user_version=%d", STORE_SCHEMA_VERSION + 1);
	snprintf(says, sizeof(says),
		"%%s was written by a newer sameboard (schema %d, this one knows %d); update "
		"sameboard or name another file",
		STORE_SCHEMA_VERSION + 1, STORE_SCHEMA_VERSION);
	fixture_sql(path, pragma);
	expect_refusal(path, 0, -EPROTO, says);
	ck_assert_int_eq(fixture_get(path, "PRAGMA user_version"), STORE_SCHEMA_VERSION + 1);
}
END_TEST

START_TEST(a_path_with_odd_letters_is_taken_as_it_is)
{
	const char *odd = scratch_path(&scratch, "100% ?a=b#c \xc3\xa4.db");
	struct store *store = fixture_open(odd);

	ck_assert_str_eq(store_path(store), odd);
	store_close(store);
	ck_assert_int_eq(access(odd, F_OK), 0);
}
END_TEST

/* Runs `body` as a user who owns nothing; its exit code. */
static int run_as_nobody(void (*body)(void))
{
	pid_t pid;
	int status;

	ck_assert_int_eq(chmod(scratch.dir, 0755), 0);
	ck_assert_int_eq(chmod(path, 0644), 0);
	pid = fork();
	if (!pid) {
		if (!geteuid() && (setgid(65534) || setuid(65534)))
			_exit(99);
		body();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void refuse_to_write(void)
{
	struct store *store;

	if (store_open(&store, path, 0) != -EROFS)
		_exit(1);
	if (!strstr(store_error(store), " is read-only for this user; give write permission or "
					"name another file"))
		_exit(2);
	store_close(store);
}

static void read_without_writing(void)
{
	struct query_run *runs;
	struct store *store;

	if (store_open(&store, path, STORE_READ_ONLY))
		_exit(1);
	if (query_runs(store, NULL, &runs) != 1)
		_exit(2);
	free(runs);
	if (store_set_fact(store, 1, "a", "b") != -EROFS)
		_exit(3);
	store_close(store);
}

START_TEST(a_file_without_write_permission_is_read_and_not_written)
{
	struct store *store = fixture_open(path);

	fixture_run(store, fixture_job(store, "s"), "linux", 0);
	store_close(store);
	ck_assert_int_eq(chmod(path, 0444), 0);
	ck_assert_int_eq(run_as_nobody(read_without_writing), 0);
	if (!geteuid())
		ck_assert_int_eq(run_as_nobody(refuse_to_write), 0);
}
END_TEST

/* Brings in the database that schema 1 left. */
static void load_version_1(void)
{
	FILE *file = fopen("tests/data/store-v1.sql", "r");
	char sql[16384];
	size_t size;

	ck_assert_msg(file != NULL, "tests/data/store-v1.sql: run from the root of the tree");
	size = fread(sql, 1, sizeof(sql) - 1, file);
	ck_assert_uint_lt(size, sizeof(sql) - 1);
	sql[size] = '\0';
	fclose(file);
	fixture_sql(path, sql);
}

START_TEST(a_database_of_version_1_is_migrated_with_all_it_holds)
{
	static const int32_t expected[] = {1, -2, 3};
	struct query_window *windows;
	struct query_gate *gates;
	struct query_run *runs;
	char says[160];
	struct store *store;
	size_t count;
	void *data;

	load_version_1();
	snprintf(says, sizeof(says),
		"%%s is of an older sameboard (schema 1, now %d) and opened read-only; a command "
		"that writes brings it up to date",
		STORE_SCHEMA_VERSION);
	expect_refusal(path, STORE_READ_ONLY, -EROFS, says);
	store = fixture_open(path);
	ck_assert_int_eq(query_runs(store, NULL, &runs), 1);
	ck_assert_str_eq(runs[0].reason, "all gates passed");
	ck_assert_int_eq(runs[0].verdict, VERDICT_PASS);
	ck_assert_int_eq(query_windows(store, runs[0].id, &windows), 1);
	ck_assert_int_eq(query_samples_named(store, windows[0].id, "latency", STORE_SERIES_COUNTS,
				 &data, &count),
		0);
	ck_assert_uint_eq(count, 3);
	ck_assert_mem_eq(data, expected, sizeof(expected));
	free(data);
	free(windows);
	free(runs);
	ck_assert_int_eq(query_gates(store, 1, &gates), 1);
	free(gates);
	ck_assert_int_eq(store_set_baseline(store, "b", "", (int64_t[]){1}, 1, 1), 0);
	store_close(store);
	ck_assert_int_eq(fixture_get(path, "PRAGMA user_version"), STORE_SCHEMA_VERSION);
	/* The same tables and indexes as in a new one. */
	{
		char fresh[320];

		strcpy(fresh, scratch_path(&scratch, "fresh.db"));
		store_close(fixture_open(fresh));
		ck_assert_int_eq(fixture_get(path, "SELECT count(*) FROM sqlite_master"),
			fixture_get(fresh, "SELECT count(*) FROM sqlite_master"));
	}
}
END_TEST

START_TEST(a_migration_that_fails_halfway_changes_nothing)
{
	struct store *store;

	load_version_1();
	/* The last thing of step 2 is in the way. */
	fixture_sql(path, "CREATE INDEX console_logs_by_run ON runs(boot)");
	ck_assert_int_lt(store_open(&store, path, 0), 0);
	ck_assert_ptr_nonnull(strstr(store_error(store), "cannot migrate the schema in "));
	store_close(store);
	ck_assert_int_eq(fixture_get(path, "PRAGMA user_version"), 1);
	ck_assert_int_eq(
		fixture_get(path, "SELECT count(*) FROM sqlite_master WHERE name LIKE 'base%'"), 0);
	fixture_sql(path, "DROP INDEX console_logs_by_run");
	store_close(fixture_open(path));
}
END_TEST

START_TEST(a_damaged_file_is_named_as_such)
{
	struct store *store = fixture_open(path);
	int64_t run = fixture_run(store, fixture_job(store, "s"), "linux", 0);
	struct query_window *windows;
	char zeroes[4096] = {0};
	FILE *file;

	for (unsigned i = 1; i <= 20; i++)
		ck_assert_int_eq(fixture_store_window(store, run, i, 2000), 0);
	store_close(store);
	file = fopen(path, "r+");
	ck_assert_ptr_nonnull(file);
	/* Every page but the first, which carries version and schema. */
	for (long page = 1; page < 60; page++) {
		fseek(file, page * 4096, SEEK_SET);
		fwrite(zeroes, 1, sizeof(zeroes), file);
	}
	fclose(file);
	if (!store_open(&store, path, 0)) {
		ck_assert_int_eq(query_windows(store, run, &windows), -EBADMSG);
		ck_assert_ptr_null(windows);
	}
	ck_assert_ptr_nonnull(strstr(store_error(store), "is damaged ("));
	store_close(store);
}
END_TEST

/* Tables that were exchanged for something that computes, and rows without what must be there. */
START_TEST(a_file_of_strangers_is_refused_or_read_without_harm)
{
	struct store *store = fixture_open(path);
	int64_t run = fixture_run(store, fixture_job(store, "s"), "linux", 0);
	char *text;

	store_close(store);
	fixture_sql(path, "PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql = replace(sql, "
			  "'manifest TEXT NOT NULL', 'manifest TEXT') WHERE name = 'images'");
	fixture_sql(path, "UPDATE images SET manifest = NULL");
	store = fixture_open(path);
	ck_assert_int_eq(query_manifest(store, run, &text), 0);
	ck_assert_str_eq(text, "");
	free(text);
	store_close(store);
	fixture_sql(path, "CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
			  "SELECT i FROM n) SELECT i FROM n");
	expect_refusal(path, STORE_READ_ONLY, -EPROTO,
		"%s has views or triggers, which sameboard never makes; name another file");
	fixture_sql(path, "DROP VIEW endless; CREATE TRIGGER t AFTER INSERT ON events BEGIN "
			  "DELETE FROM runs; END");
	expect_refusal(path, 0, -EPROTO,
		"%s has views or triggers, which sameboard never makes; name another file");
}
END_TEST

/* A Zstandard frame (RFC 8878) of zeros in blocks that are one byte and a length. */
static size_t make_bomb(unsigned char *frame, uint32_t size)
{
	static const unsigned char head[] = {0x28, 0xb5, 0x2f, 0xfd, 0xa0};
	size_t at = sizeof(head);

	memcpy(frame, head, sizeof(head));
	for (int shift = 0; shift < 32; shift += 8)
		frame[at++] = (unsigned char)(size >> shift);
	while (size > 0) {
		uint32_t block = size < 131072 ? size : 131072;
		uint32_t header = block << 3 | 1 << 1 | (block == size);

		size -= block;
		for (int shift = 0; shift < 32; shift += 8)
			frame[at++] = (unsigned char)(header >> shift);
	}
	return at;
}

START_TEST(few_bytes_do_not_become_more_than_a_series_may_have)
{
	/* One word more, and the CRC-32C of so many zeros: nothing else is wrong with it. */
	static const uint32_t count = (1u << 26) + 1, crc = 2754848227u;
	static unsigned char frame[16384];
	static char sql[2 * sizeof(frame) + 256];
	const struct store_window window = fixture_window(2);
	struct store *store = fixture_open(path);
	int64_t run = fixture_run(store, fixture_job(store, "s"), "linux", 0);
	size_t size = make_bomb(frame, count * 4), got, at;
	struct store_series series = {
		.id = 1, .name = "x", .kind = STORE_SERIES_COUNTS, .data = frame, .count = count};
	void *data;

	ck_assert_uint_lt(size, sizeof(frame));
	ck_assert_int_eq(fixture_store_window(store, run, 1, 100), 0);
	at = (size_t)snprintf(sql, sizeof(sql),
		"UPDATE series SET count = %u, crc32c = %u, data = X'", count, crc);
	for (size_t i = 0; i < size; i++)
		at += (size_t)snprintf(sql + at, sizeof(sql) - at, "%02x", frame[i]);
	snprintf(sql + at, sizeof(sql) - at, "'");
	fixture_sql(path, sql);
	ck_assert_int_eq(query_samples(store, 1, STORE_SERIES_COUNTS, &data, &got), -EBADMSG);
	ck_assert_ptr_null(data);
	/* And none is written that could not be read. */
	ck_assert_int_eq(store_begin_window(store, run, &window), 0);
	ck_assert_int_eq(store_add_series(store, &series), -EFBIG);
	ck_assert_str_eq(store_error(store), "series x: more than 256 MiB of samples");
	store_close(store);
}
END_TEST

/* Stores windows for ever, and says so after each. */
static void write_windows(int report)
{
	struct store *store = fixture_open(path);
	int64_t run = fixture_run(store, fixture_job(store, "s"), "linux", 0);

	for (unsigned number = 1; number < 60000; number++) {
		unsigned char byte = 1;

		if (fixture_store_window(store, run, number, 500))
			_exit(1);
		if (write(report, &byte, 1) != 1)
			_exit(2);
	}
	_exit(3);
}

START_TEST(committed_windows_survive_kill_9_at_any_point)
{
	uint32_t random = 12345;

	for (int64_t round = 1; round <= 8; round++) {
		unsigned committed = 0, wanted, spin;
		unsigned char bytes[64];
		struct store *store;
		struct query_run *run;
		int ends[2], status;
		ssize_t got;
		pid_t pid;

		random = random * 1664525 + 1013904223;
		wanted = 1 + (random >> 28);
		spin = (random >> 8) % 400000;
		ck_assert_int_eq(pipe(ends), 0);
		pid = fork();
		if (!pid)
			write_windows(ends[1]);
		close(ends[1]);
		while (committed < wanted && (got = read(ends[0], bytes, 1)) == 1)
			committed++;
		/* A random moment later, in the middle of whatever it does then. */
		for (volatile unsigned i = 0; i < spin; i++)
			;
		kill(pid, SIGKILL);
		while ((got = read(ends[0], bytes, sizeof(bytes))) > 0)
			committed += (unsigned)got;
		close(ends[0]);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert(WIFSIGNALED(status));
		ck_assert_uint_ge(committed, wanted);

		store = fixture_open(path);
		for (unsigned number = 1; number <= committed; number++)
			fixture_check_window(store, round, number, 500);
		ck_assert_int_eq(store_recover(store, NULL, FIXTURE_T0 + 77), 1);
		ck_assert_int_eq(query_run(store, round, &run), 0);
		ck_assert_int_eq(run->verdict, VERDICT_INTERRUPTED);
		ck_assert_int_eq(run->ended_ms, FIXTURE_T0 + 77);
		ck_assert_ptr_nonnull(strstr(run->reason, "is gone without having ended the run"));
		ck_assert_int_le(run->windows, committed + 1);
		free(run);
		store_close(store);
		ck_assert_int_eq(
			fixture_get(path, "SELECT count(*) FROM pragma_integrity_check WHERE "
					  "integrity_check = 'ok'"),
			1);
		ck_assert_int_eq(
			fixture_get(path, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
	}
}
END_TEST

START_TEST(recovery_leaves_living_jobs_and_closed_runs_alone)
{
	struct store *store = fixture_open(path);
	int64_t living = fixture_run(store, fixture_job(store, "s"), "linux", 0);
	struct query_run *run;
	struct query_job *job;
	int status;
	pid_t pid = fork();

	if (!pid) {
		struct store *other = fixture_open(path);
		int64_t id = fixture_job(other, "dead");
		int64_t closed = fixture_run(other, id, "linux", 0);

		fixture_run(other, id, "baremetal", 0);
		store_end_run(other, closed, VERDICT_PASS, "", 1, NULL, 0);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(store_recover(store, NULL, 5), 1);
	ck_assert_int_eq(store_recover(store, NULL, 6), 0);
	ck_assert_int_eq(query_run(store, living, &run), 0);
	ck_assert_int_eq(run->verdict, VERDICT_RUNNING);
	free(run);
	ck_assert_int_eq(query_run(store, 2, &run), 0);
	ck_assert_int_eq(run->verdict, VERDICT_PASS);
	free(run);
	ck_assert_int_eq(query_run(store, 3, &run), 0);
	ck_assert_int_eq(run->verdict, VERDICT_INTERRUPTED);
	ck_assert_str_eq(run->reason, "the process of job 2 is gone without having ended the run");
	free(run);
	ck_assert_int_eq(query_job(store, 2, &job), 0);
	ck_assert_int_eq(job->ended_ms, 5);
	ck_assert_int_eq(job->exit_code, -1);
	free(job);
	/* The same process id in another life of the machine is another process. */
	fixture_sql(path, "UPDATE jobs SET machine = 'other boot' WHERE id = 1");
	ck_assert_int_eq(store_recover(store, NULL, 7), 1);
	store_close(store);
}
END_TEST

START_TEST(a_process_id_used_again_is_not_taken_for_the_job)
{
	struct store *store = fixture_open(path);

	fixture_run(store, fixture_job(store, "s"), "linux", 0);
	fixture_sql(path, "UPDATE jobs SET pid_start = pid_start - 1");
	ck_assert_int_eq(store_recover(store, NULL, 7), 1);
	store_close(store);
}
END_TEST

/* Bytes that do not compress. */
static void fill_noise(int32_t *values, size_t count)
{
	uint64_t state = 88172645463325252u;

	for (size_t i = 0; i < count; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		values[i] = (int32_t)(state >> 32);
	}
}

START_TEST(a_full_disk_loses_the_open_window_and_nothing_else)
{
	const struct store_window window = fixture_window(2);
	size_t count = 400000;
	int32_t *values = malloc(count * sizeof(*values));
	const struct store_series series = {1, "latency", STORE_SERIES_COUNTS, values, count, 0};
	struct rlimit old, small;
	struct query_window *windows;
	struct store *store = fixture_open(path);
	int64_t run = fixture_run(store, fixture_job(store, "s"), "linux", 0);
	char expected[512];
	int result;

	fill_noise(values, count);
	ck_assert_int_eq(fixture_store_window(store, run, 1, 100), 0);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = 512 * 1024;
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	result = store_begin_window(store, run, &window);
	if (!result)
		result = store_add_series(store, &series);
	if (!result)
		result = store_commit_window(store);
	setrlimit(RLIMIT_FSIZE, &old);
	ck_assert_int_eq(result, -ENOSPC);
	snprintf(expected, sizeof(expected),
		": the disk or quota of %s is full; free some space and run again", path);
	ck_assert_ptr_nonnull(strstr(store_error(store), expected));
	store_abort_window(store);
	ck_assert_int_eq(query_windows(store, run, &windows), 1);
	free(windows);
	fixture_check_window(store, run, 1, 100);
	ck_assert_int_eq(fixture_store_window(store, run, 2, 100), 0);
	ck_assert_int_eq(store_end_run(store, run, VERDICT_LAB_FAILURE, "disk", 1, NULL, 0), 0);
	store_close(store);
	free(values);
	ck_assert_int_eq(fixture_get(path, "SELECT count(*) FROM pragma_integrity_check WHERE "
					   "integrity_check = 'ok'"),
		1);
}
END_TEST

/* Twenty windows of a run of its own, after the go. */
static void write_beside(int go)
{
	struct store *store = fixture_open(path);
	int64_t run;
	char byte;

	if (read(go, &byte, 1) != 0)
		_exit(1);
	run = fixture_run(store, fixture_job(store, "s"), "linux", 0);
	for (unsigned number = 1; number <= 20; number++) {
		if (fixture_store_window(store, run, number, 2000))
			_exit(2);
	}
	store_end_run(store, run, VERDICT_PASS, "", 1, NULL, 0);
	store_close(store);
	_exit(0);
}

START_TEST(writers_in_several_processes_wait_for_each_other)
{
	const struct query_filter passed = {.verdicts = 1u << VERDICT_PASS};
	struct query_run *runs;
	struct store *store;
	pid_t pids[3];
	int go[2];

	ck_assert_int_eq(pipe(go), 0);
	for (int i = 0; i < 3; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			close(go[1]);
			write_beside(go[0]);
		}
	}
	close(go[0]);
	close(go[1]);
	for (int i = 0; i < 3; i++) {
		int status;

		ck_assert_int_eq(waitpid(pids[i], &status, 0), pids[i]);
		ck_assert_int_eq(status, 0);
	}
	store = fixture_open(path);
	ck_assert_int_eq(query_runs(store, &passed, &runs), 3);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(runs[i].windows, 20);
		for (unsigned number = 1; number <= 20; number++)
			fixture_check_window(store, runs[i].id, number, 2000);
	}
	free(runs);
	store_close(store);
}
END_TEST

/* Opens a file that may not be there yet, after the go. */
static void open_beside(int go)
{
	char byte;

	if (read(go, &byte, 1) != 0)
		_exit(1);
	store_close(fixture_open(path));
	_exit(0);
}

START_TEST(several_processes_may_make_one_new_database_at_once)
{
	for (int round = 0; round < 20; round++) {
		pid_t pids[4];
		int go[2];

		ck_assert_int_eq(pipe(go), 0);
		for (int i = 0; i < 4; i++) {
			pids[i] = fork();
			if (!pids[i]) {
				close(go[1]);
				open_beside(go[0]);
			}
		}
		close(go[0]);
		close(go[1]);
		for (int i = 0; i < 4; i++) {
			int status;

			ck_assert_int_eq(waitpid(pids[i], &status, 0), pids[i]);
			ck_assert_int_eq(status, 0);
		}
		ck_assert_int_eq(fixture_get(path, "PRAGMA user_version"), STORE_SCHEMA_VERSION);
		ck_assert_int_eq(remove(path), 0);
	}
}
END_TEST

START_TEST(a_lock_held_too_long_is_busy_and_readers_go_on)
{
	const struct store_window window = fixture_window(2);
	struct store *holder = fixture_open(path), *other = fixture_open(path);
	int64_t run = fixture_run(holder, fixture_job(holder, "s"), "linux", 0);
	struct query_window *windows;
	char expected[512];

	ck_assert_int_eq(store_set_patience(other, 0), 0);
	ck_assert_int_eq(fixture_store_window(holder, run, 1, 10), 0);
	ck_assert_int_eq(store_begin_window(holder, run, &window), 0);
	ck_assert_int_eq(fixture_store_window(other, run, 3, 10), -EBUSY);
	snprintf(expected, sizeof(expected),
		"cannot begin a transaction: another process holds the write lock of %s; try again "
		"when it is done",
		path);
	ck_assert_str_eq(store_error(other), expected);
	ck_assert_int_eq(query_windows(other, run, &windows), 1);
	free(windows);
	store_close(holder); /* which forgets its open window */
	ck_assert_int_eq(fixture_store_window(other, run, 2, 10), 0);
	ck_assert_int_eq(query_windows(other, run, &windows), 2);
	free(windows);
	store_close(other);
}
END_TEST

START_TEST(a_store_sets_what_keeps_it_safe)
{
	struct store *store = fixture_open(path);
	int64_t run = fixture_run(store, fixture_job(store, "s"), "linux", 0);

	ck_assert_int_eq(store_set_fact(store, run + 1, "a", "b"), -EINVAL);
	ck_assert_ptr_nonnull(strstr(store_error(store), "FOREIGN KEY constraint failed"));
	ck_assert_int_eq(access(scratch_path(&scratch, "runs.db-wal"), F_OK), 0);
	store_close(store);
	ck_assert_int_eq(fixture_get(path, "PRAGMA application_id"), 0x53616d65);
	store_close(NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("store faults");
	TCase *tcase = tcase_create("store faults");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 120);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, what_is_no_database_of_ours_is_refused_with_its_reason);
	tcase_add_test(tcase, a_database_of_a_newer_version_is_refused_and_left_alone);
	tcase_add_test(tcase, a_path_with_odd_letters_is_taken_as_it_is);
	tcase_add_test(tcase, a_file_without_write_permission_is_read_and_not_written);
	tcase_add_test(tcase, a_database_of_version_1_is_migrated_with_all_it_holds);
	tcase_add_test(tcase, a_migration_that_fails_halfway_changes_nothing);
	tcase_add_test(tcase, a_damaged_file_is_named_as_such);
	tcase_add_test(tcase, a_file_of_strangers_is_refused_or_read_without_harm);
	tcase_add_test(tcase, few_bytes_do_not_become_more_than_a_series_may_have);
	tcase_add_test(tcase, committed_windows_survive_kill_9_at_any_point);
	tcase_add_test(tcase, recovery_leaves_living_jobs_and_closed_runs_alone);
	tcase_add_test(tcase, a_process_id_used_again_is_not_taken_for_the_job);
	tcase_add_test(tcase, a_full_disk_loses_the_open_window_and_nothing_else);
	tcase_add_test(tcase, writers_in_several_processes_wait_for_each_other);
	tcase_add_test(tcase, several_processes_may_make_one_new_database_at_once);
	tcase_add_test(tcase, a_lock_held_too_long_is_busy_and_readers_go_on);
	tcase_add_test(tcase, a_store_sets_what_keeps_it_safe);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
