/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs that something is killed under, at a random moment: after recovery no
 * window that was committed is missing, no board has power, no lock is held,
 * no run or job is open, and the database is whole.
 *
 * `make check` runs a small fixed sample, `make campaign` as many jobs as
 * $SAMEBOARD_CAMPAIGN says; it can be stopped and goes on where it was, by the
 * file $SAMEBOARD_CAMPAIGN_FILE.  Each job has a lab of its own; its number is
 * the seed of all that happens to it.
 */
#include <check.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/daemon_rig.h"

#define SAMPLE	   8 /* jobs in `make check`: each victim once */
#define AT_ONCE	   4
#define MOMENT_MS  16000 /* a job's boot and its first windows */
#define PATIENCE_S 120
#define WINDOWS	   "{ \"bench\": \"floor\" }, { \"bench\": \"wake.idle\", \"n\": 500 }"

enum victim {
	VICTIM_DAEMON,
	VICTIM_WORKER,
	VICTIM_DAEMON_AND_WORKER,
	VICTIM_CLIENT, /* of the daemon: its job goes on, and is cancelled later */
	VICTIM_RUN,    /* a client that works without a daemon */
	VICTIM_VBOARD,
	VICTIM_GUARD,
	VICTIM_DISK, /* no victim: the disk is full */
	VICTIMS,
};

static const char *const victim_names[VICTIMS] = {
	"daemon", "worker", "daemon+worker", "client", "run", "vboard", "guard", "disk full"};

struct trial {
	unsigned number;
	enum victim victim;
	unsigned moment_ms;
	struct daemon_rig rig;
	bool has_daemon;
	int events;
	char seen[262144];
	size_t seen_size;
	unsigned committed; /* windows that must be there: others came after them */
	char small[300];    /* a file system of its own, "" if none */
};

/* ------------------------------------------------------------------- helpers */

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static unsigned draw(uint64_t *state, unsigned below)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u; /* splitmix64 */

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (unsigned)((z ^ (z >> 31)) % below);
}

static int64_t ask_db(struct trial *trial, const char *sql)
{
	sqlite3_stmt *statement;
	int64_t value = -1;
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(trial->rig.lab.db, &db), SQLITE_OK);
	sqlite3_busy_timeout(db, 10000);
	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
		sqlite3_step(statement) == SQLITE_ROW)
		value = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return value;
}

/* A child of vboard: its emulator, or what is none: the guard.  0 if there is none. */
static pid_t find_child(pid_t vboard, bool wants_emulator)
{
	char path[64], comm[64];
	pid_t child, found = 0;
	FILE *list, *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)vboard, (int)vboard);
	list = fopen(path, "r");
	while (list && fscanf(list, "%d", &child) == 1) {
		snprintf(path, sizeof(path), "/proc/%d/comm", (int)child);
		file = fopen(path, "r");
		if (file && fgets(comm, sizeof(comm), file) &&
			(strncmp(comm, "qemu", 4) == 0) == wants_emulator)
			found = child;
		if (file)
			fclose(file);
	}
	if (list)
		fclose(list);
	return found;
}

/* Emulators that have anything of this lab open, by their command line. */
static unsigned count_emulators(const char *dir)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	unsigned count = 0;

	while (proc && (entry = readdir(proc))) {
		char path[300], text[8192] = "";
		ssize_t size;
		int fd;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/cmdline", entry->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		size = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
		if (fd >= 0)
			close(fd);
		for (ssize_t i = 0; i < size; i++)
			text[i] = text[i] ? text[i] : ' ';
		count += strstr(text, "qemu-system") && strstr(text, dir);
	}
	if (proc)
		closedir(proc);
	return count;
}

/* --------------------------------------------------------------------- begin */

/* The database on a file system of its own, where that is allowed. */
static void mount_small(struct trial *trial)
{
	struct scratch *scratch = &trial->rig.lab.scratch;

	if (!scratch_mount(scratch, "small", "2m"))
		return;
	snprintf(trial->small, sizeof(trial->small), "%s", scratch_path(scratch, "small"));
	snprintf(trial->rig.lab.db, sizeof(trial->rig.lab.db), "%s/runs.db", trial->small);
}

static void begin(struct trial *trial)
{
	struct lab_rig *lab = &trial->rig.lab;
	const char *suite;

	lab_rig_start(lab, NULL, 64);
	if (trial->victim == VICTIM_DISK)
		mount_small(trial);
	suite = lab_rig_write_suite(lab, "\"baremetal\"", WINDOWS, 1);
	daemon_rig_prepare(&trial->rig);
	trial->has_daemon = trial->victim != VICTIM_RUN;
	trial->events = -1;
	if (trial->has_daemon)
		daemon_rig_begin(&trial->rig);
	if (trial->victim == VICTIM_RUN || trial->victim == VICTIM_CLIENT) {
		lab_rig_begin(lab, (const char *[]){"run", suite, NULL});
		return;
	}
	ck_assert_int_eq(daemon_rig_submit(&trial->rig, suite), 1);
	trial->events = daemon_rig_open_stream(&trial->rig, "/v1/jobs/1/events", "");
}

/* What has come so far of its progress. */
static void look(struct trial *trial)
{
	FILE *file;

	if (trial->events >= 0) {
		ssize_t got = recv(trial->events, trial->seen + trial->seen_size,
			sizeof(trial->seen) - 1 - trial->seen_size, MSG_DONTWAIT);

		trial->seen_size += got > 0 ? (size_t)got : 0;
	} else {
		file = fopen(scratch_path(&trial->rig.lab.scratch, "err"), "r");
		trial->seen_size = file ? fread(trial->seen, 1, sizeof(trial->seen) - 1, file) : 0;
		if (file)
			fclose(file);
	}
	trial->seen[trial->seen_size] = '\0';
	/* A window is begun when the one before is on disk. */
	for (unsigned number = 2; number < 10; number++) {
		char text[32];

		snprintf(text, sizeof(text), ": window %u,", number);
		if (strstr(trial->seen, text))
			trial->committed = number - 1;
	}
}

/* -------------------------------------------------------------------- strike */

static void fill_disk(struct trial *trial)
{
	static const char zeros[4096];
	char path[320];
	int fd;

	snprintf(path, sizeof(path), "%s/filler", trial->small);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	while (write(fd, zeros, sizeof(zeros)) > 0)
		;
	close(fd);
}

static void strike(struct trial *trial)
{
	struct lab_rig *lab = &trial->rig.lab;
	pid_t worker = trial->has_daemon ? daemon_rig_get_worker(&trial->rig) : 0;
	pid_t guard = find_child(lab->board, false);
	bool with_daemon =
		trial->victim == VICTIM_DAEMON || trial->victim == VICTIM_DAEMON_AND_WORKER;

	if (with_daemon)
		daemon_rig_kill(&trial->rig, SIGKILL);
	if ((trial->victim == VICTIM_WORKER || trial->victim == VICTIM_DAEMON_AND_WORKER) && worker)
		kill(worker, SIGKILL);
	if (trial->victim == VICTIM_CLIENT || trial->victim == VICTIM_RUN) {
		kill(lab->client, SIGKILL);
		lab_rig_end(lab);
	}
	if (trial->victim == VICTIM_VBOARD) {
		kill(lab->board, SIGKILL);
		waitpid(lab->board, NULL, 0);
		lab->board = 0;
	}
	if (trial->victim == VICTIM_GUARD && guard)
		kill(guard, SIGKILL);
	if (trial->victim == VICTIM_DISK && trial->small[0])
		fill_disk(trial);
}

/* ------------------------------------------------------------------- recover */

/* Until the job is over; what still runs then is not wanted any more. */
static void await_end(struct trial *trial)
{
	uint64_t deadline_ms = now_ms() + PATIENCE_S * 1000;
	const char *state = "";
	cJSON *json = NULL;

	if (trial->victim != VICTIM_DISK && trial->victim != VICTIM_VBOARD) {
		daemon_rig_ask(&trial->rig, "DELETE", "/v1/jobs/1", NULL, &json);
		cJSON_Delete(json);
	}
	for (;;) {
		int status = daemon_rig_ask(&trial->rig, "GET", "/v1/jobs/1", NULL, &json);
		const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(json, "state"));
		bool is_over = status == 404 || strcmp(text, "done") == 0 ||
			       strcmp(text, "cancelled") == 0;

		state = is_over ? "over" : "open";
		cJSON_Delete(json);
		if (is_over)
			return;
		ck_assert_msg(now_ms() < deadline_ms, "the job is %s", state);
		usleep(100000);
	}
}

static void recover(struct trial *trial)
{
	struct lab_rig *lab = &trial->rig.lab;
	char path[320];

	if (!trial->has_daemon) {
		ck_assert_msg(lab_rig_run(lab, (const char *[]){"recover", "vpanel", NULL}) == 0 ||
				      access(lab->db, F_OK) != 0,
			"%s", lab->err);
		return;
	}
	if (!trial->rig.pid)
		daemon_rig_begin(&trial->rig);
	if (trial->small[0]) {
		/* The worker finds the disk full, and then the daemon does. */
		while (daemon_rig_get_worker(&trial->rig))
			usleep(100000);
		snprintf(path, sizeof(path), "%s/filler", trial->small);
		ck_assert_int_eq(unlink(path), 0);
	}
	await_end(trial);
}

/* --------------------------------------------------------------------- check */

static void check_rest(struct trial *trial)
{
	struct lab_rig *lab = &trial->rig.lab;
	const char *holder;
	cJSON *boards;

	if (lab->board)
		ck_assert_msg(!lab_rig_has_power(lab), "the board has power");
	else
		for (int i = 0; count_emulators(lab->scratch.dir); i++) {
			ck_assert_msg(i < 100, "the emulator lives");
			usleep(50000);
		}
	ck_assert_int_eq(lab_rig_run(lab, (const char *[]){"boards", "--json", NULL}), 0);
	boards = lab_rig_json(lab);
	holder = cJSON_GetStringValue(cJSON_GetObjectItem(cJSON_GetArrayItem(boards, 0), "holder"));
	ck_assert_msg(!holder[0], "the lock is held by %s", holder);
	cJSON_Delete(boards);
}

static void check_database(struct trial *trial)
{
	int64_t windows;

	if (access(trial->rig.lab.db, F_OK) != 0)
		return; /* killed before there was one */
	lab_rig_check_db(&trial->rig.lab);
	windows = ask_db(trial, "SELECT count(*) FROM windows");
	ck_assert_msg(windows >= (int64_t)trial->committed,
		"%lld windows of %u that were committed", (long long)windows, trial->committed);
	ck_assert_int_le(ask_db(trial, "SELECT count(*) FROM runs WHERE verdict IS NULL"), 0);
	ck_assert_int_le(ask_db(trial, "SELECT count(*) FROM jobs WHERE ended_ms IS NULL"), 0);
	ck_assert_int_le(
		ask_db(trial, "SELECT count(*) FROM queue WHERE state IN ('queued', 'running')"),
		0);
}

static void end(struct trial *trial)
{
	if (trial->events >= 0)
		close(trial->events);
	if (trial->has_daemon) {
		int status = daemon_rig_kill(&trial->rig, SIGTERM);

		ck_assert_int_eq(status, 0);
	}
	if (trial->small[0])
		scratch_unmount(&trial->rig.lab.scratch, "small");
	if (trial->victim == VICTIM_GUARD && trial->rig.lab.board) {
		/* Whatever a vboard does without its guard, nothing of it may stay. */
		int status;

		kill(trial->rig.lab.board, SIGTERM);
		waitpid(trial->rig.lab.board, &status, 0);
		trial->rig.lab.board = 0;
		ck_assert_uint_eq(count_emulators(trial->rig.lab.scratch.dir), 0);
	}
	lab_rig_stop(&trial->rig.lab);
}

/* ------------------------------------------------------------------ campaign */

static struct trial *make_trial(unsigned number)
{
	struct trial *trial = calloc(1, sizeof(*trial));
	uint64_t state = number;

	ck_assert_ptr_nonnull(trial);
	trial->number = number;
	trial->victim = (enum victim)(number % VICTIMS);
	trial->moment_ms = draw(&state, MOMENT_MS);
	return trial;
}

static void run_trial(unsigned number)
{
	struct trial *trial = make_trial(number);
	uint64_t moment_ms;

	begin(trial);
	moment_ms = now_ms() + trial->moment_ms;
	while (now_ms() < moment_ms) {
		look(trial);
		usleep(5000);
	}
	look(trial);
	strike(trial);
	recover(trial);
	check_rest(trial);
	check_database(trial);
	end(trial);
	free(trial);
}

/* Trials that the file has as good. */
static void read_done(const char *path, bool *is_done, unsigned count)
{
	FILE *file = path ? fopen(path, "r") : NULL;
	char line[128], result[16];
	unsigned number;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%u %15s", &number, result) == 2 && number < count &&
			strcmp(result, "ok") == 0)
			is_done[number] = true;
	if (file)
		fclose(file);
}

static void note(const char *path, unsigned number, bool is_good)
{
	struct trial *trial = make_trial(number);
	FILE *file = path ? fopen(path, "a") : stdout;

	fprintf(file, "%u %s %s at %.3f s\n", number, is_good ? "ok" : "FAILED",
		victim_names[trial->victim], trial->moment_ms / 1e3);
	if (path)
		fclose(file);
	else
		fflush(file);
	free(trial);
}

/* Waits for one of the trials; its place among the children. */
static unsigned reap(pid_t *children, const unsigned *numbers, const char *path, unsigned *failed)
{
	int status;
	pid_t pid = waitpid(-1, &status, 0);

	for (unsigned i = 0; i < AT_ONCE; i++)
		if (children[i] == pid) {
			children[i] = 0;
			note(path, numbers[i], status == 0);
			*failed += status != 0;
			return i;
		}
	return AT_ONCE;
}

static pid_t start_trial(unsigned number)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			run_trial(number);
		_exit(0);
	}
	ck_assert_int_gt(pid, 0);
	return pid;
}

START_TEST(nothing_is_lost_and_nothing_stays_powered_whatever_is_killed)
{
	const char *asked = getenv("SAMEBOARD_CAMPAIGN");
	const char *path = asked ? getenv("SAMEBOARD_CAMPAIGN_FILE") : NULL;
	unsigned count = asked ? (unsigned)strtoul(asked, NULL, 10) : SAMPLE;
	unsigned numbers[AT_ONCE] = {0}, failed = 0, done = 0;
	pid_t children[AT_ONCE] = {0};
	bool *is_done = calloc(count + 1, sizeof(*is_done));

	read_done(path, is_done, count);
	for (unsigned number = 0; number < count; number++) {
		unsigned place = 0;

		done += is_done[number];
		if (is_done[number])
			continue;
		while (place < AT_ONCE && children[place])
			place++;
		if (place == AT_ONCE)
			place = reap(children, numbers, path, &failed);
		numbers[place] = number;
		children[place] = start_trial(number);
	}
	for (unsigned i = 0; i < AT_ONCE; i++)
		while (children[i])
			reap(children, numbers, path, &failed);
	free(is_done);
	printf("campaign: %u jobs (%u of an earlier start), something killed under each: %u failed%s\n",
		count, done, failed,
		failed ? ""
		       : "; 0 committed windows lost, 0 boards powered, 0 locks left, integrity ok");
	fflush(stdout);
	ck_assert_uint_eq(failed, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("campaign");
	SRunner *runner = srunner_create(suite);
	TCase *tcase = tcase_create("campaign");
	int failed;

	tcase_add_test(tcase, nothing_is_lost_and_nothing_stays_powered_whatever_is_killed);
	tcase_set_timeout(tcase, getenv("SAMEBOARD_CAMPAIGN") ? 0 : 240);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
