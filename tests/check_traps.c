/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instrument itself: every trap of the suite `traps` is caught, and nothing
 * is on the clean systems.  `make check` tries some of them in short windows,
 * `make campaign-traps` all of them as they are, $SAMEBOARD_TRAPS times each; it
 * can be stopped and goes on where it was, by the file $SAMEBOARD_TRAPS_FILE.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/suite.h"
#include "tests/lab_rig.h"

#define SUITE	   "harness/suites/traps.json"
#define AT_ONCE	   3
#define TRIALS_MAX 1000
#define SAMPLE_MAX 4
#define CARD_MIB   64
#define BOOTS_RISE "--repeat=2" /* of each: clean runs must not differ among themselves */
#define TEXT_MAX   8192

static struct suite *suite;

/* One board with one system; -1: one with the suite in repeatable time, for what is compared. */
struct trial {
	unsigned number;
	int system;
};

static const char *name_trial(const struct trial *trial)
{
	return trial->system < 0 ? "traps-icount" : suite->systems[trial->system];
}

/* ------------------------------------------------------------------- trial */

/* The suite with less to wait for; the audit needs 10 s between its ends. */
static void shorten(struct lab_rig *rig, char *path, size_t size_max)
{
	static const char *const changes[][2] = {
		{"\"duration_ms\": 20000", "\"duration_ms\": 14000"},
		{"\"boots\": 1", "\"boots\": 1, \"soak_s\": 1"},
	};
	char text[TEXT_MAX] = "", changed[TEXT_MAX + 64];
	FILE *file = fopen(SUITE, "r");
	size_t size;

	ck_assert_ptr_nonnull(file);
	size = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	ck_assert_uint_lt(size, sizeof(text) - 64);
	for (size_t i = 0; i < 2; i++) {
		const char *at = strstr(text, changes[i][0]);

		ck_assert_ptr_nonnull(at);
		snprintf(changed, sizeof(changed), "%.*s%s%s", (int)(at - text), text,
			changes[i][1], at + strlen(changes[i][0]));
		memcpy(text, changed, sizeof(text));
	}
	snprintf(path, size_max, "%s",
		scratch_write(&rig->scratch, "traps.json", text, strlen(text)));
}

/* Whether the job said that it caught the system; its words are printed where it did not. */
static bool has_caught(struct lab_rig *rig, const char *system)
{
	char said[128];

	snprintf(said, sizeof(said), "has caught %s:", system);
	if (strstr(rig->err, said))
		return true;
	snprintf(said, sizeof(said), "of %s is caught:", system);
	return strstr(rig->err, said) != NULL;
}

static bool run_trial(const struct trial *trial, bool is_short)
{
	bool is_icount = trial->system < 0, is_right;
	const char *system = is_icount ? "baremetal-tick-spin" : name_trial(trial);
	struct lab_rig rig;
	char os[128], path[300];
	int exit_code;

	snprintf(path, sizeof(path), "%s", is_icount ? "traps-icount" : "traps");
	if (is_icount)
		lab_rig_start_icount(&rig, CARD_MIB);
	else
		lab_rig_start(&rig, NULL, CARD_MIB);
	if (strncmp(system, "linux", 5) == 0)
		lab_rig_be_patient(&rig);
	snprintf(os, sizeof(os), "--os=%s%s", system, is_icount ? ",baremetal" : "");
	if (is_short)
		shorten(&rig, path, sizeof(path));
	exit_code = lab_rig_run(&rig, (const char *[]){"run", path, os, NULL});
	is_right = exit_code == 0 && !lab_rig_has_power(&rig) &&
		   (!suite_get_trap(suite, system) || has_caught(&rig, system));
	if (!is_right)
		printf("%s ended with %d:\n%s\n", name_trial(trial), exit_code, rig.err);
	fflush(stdout);
	lab_rig_stop(&rig);
	return is_right;
}

/* ---------------------------------------------------------------- campaign */

struct campaign {
	const char *path; /* NULL: nothing is kept */
	unsigned count, done, failed;
	struct trial trials[TRIALS_MAX];
	bool is_done[TRIALS_MAX];
};

static void add_trial(struct campaign *campaign, int system)
{
	ck_assert_uint_lt(campaign->count, TRIALS_MAX);
	campaign->trials[campaign->count] = (struct trial){campaign->count, system};
	campaign->count++;
}

static void add_named(struct campaign *campaign, const char *system)
{
	for (size_t i = 0; i < suite->system_count; i++)
		if (strcmp(suite->systems[i], system) == 0)
			add_trial(campaign, (int)i);
}

static void add_all(struct campaign *campaign, unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		for (int system = 0; system < (int)suite->system_count; system++) {
			const struct trap *trap = suite_get_trap(suite, suite->systems[system]);

			add_trial(campaign, trap && trap->is_rise ? -1 : system);
		}
	}
}

static void read_done(struct campaign *campaign)
{
	FILE *file = campaign->path ? fopen(campaign->path, "r") : NULL;
	char line[128], name[64], result[16];
	unsigned number;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%u %63s %15s", &number, name, result) == 3 &&
			number < campaign->count && strcmp(result, "ok") == 0 &&
			strcmp(name, name_trial(&campaign->trials[number])) == 0)
			campaign->is_done[number] = true;
	}
	if (file)
		fclose(file);
	for (unsigned i = 0; i < campaign->count; i++)
		campaign->done += campaign->is_done[i];
}

static void note(struct campaign *campaign, const struct trial *trial, bool is_right)
{
	FILE *file = campaign->path ? fopen(campaign->path, "a") : NULL;

	campaign->failed += !is_right;
	if (!file)
		return;
	fprintf(file, "%u %s %s\n", trial->number, name_trial(trial), is_right ? "ok" : "FAILED");
	fclose(file);
}

static pid_t start_trial(const struct trial *trial, bool is_short)
{
	pid_t parent = getpid(), pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	_exit(run_trial(trial, is_short) ? 0 : 1);
}

struct child {
	pid_t pid; /* 0: none */
	const struct trial *trial;
};

/* Waits for one of them; its place is free then. */
static void reap(struct campaign *campaign, struct child *children)
{
	int status;
	pid_t pid = waitpid(-1, &status, 0);

	ck_assert_int_gt(pid, 0);
	for (unsigned i = 0; i < AT_ONCE; i++) {
		if (children[i].pid != pid)
			continue;
		note(campaign, children[i].trial, status == 0);
		children[i].pid = 0;
	}
}

static void run_all(struct campaign *campaign, bool is_short)
{
	struct child children[AT_ONCE] = {{0, NULL}};
	unsigned running = 0;

	for (unsigned i = 0; i < campaign->count; i++) {
		const struct trial *trial = &campaign->trials[i];
		unsigned place = 0;

		if (campaign->is_done[i])
			continue;
		if (running == AT_ONCE) {
			reap(campaign, children);
			running--;
		}
		while (children[place].pid)
			place++;
		children[place] = (struct child){start_trial(trial, is_short), trial};
		running++;
	}
	for (; running; running--)
		reap(campaign, children);
}

START_TEST(every_trap_is_caught_and_none_on_clean_systems)
{
	static const char *const sample[SAMPLE_MAX] = {
		"linux-fair-server", "baremetal-reset", NULL};
	const char *asked = getenv("SAMEBOARD_TRAPS");
	static struct campaign campaign;

	campaign.path = asked ? getenv("SAMEBOARD_TRAPS_FILE") : NULL;
	ck_assert_msg(suite_open(&suite, SUITE) == 0, "%s", suite_error(suite));
	ck_assert_uint_ge(suite->trap_count, 7);
	if (asked)
		add_all(&campaign, (unsigned)strtoul(asked, NULL, 10));
	for (size_t i = 0; !asked && sample[i]; i++)
		add_named(&campaign, sample[i]);
	ck_assert_uint_gt(campaign.count, 0);
	read_done(&campaign);
	run_all(&campaign, !asked);
	printf("%u trials of %zu traps and their clean systems (%u of an earlier start): %u wrong\n",
		campaign.count, suite->trap_count, campaign.done, campaign.failed);
	fflush(stdout);
	suite_close(suite);
	ck_assert_uint_eq(campaign.failed, 0);
}
END_TEST

int main(void)
{
	Suite *checks = suite_create("traps");
	TCase *tcase = tcase_create("traps");
	SRunner *runner = srunner_create(checks);
	int failed;

	tcase_set_timeout(tcase, getenv("SAMEBOARD_TRAPS") ? 0 : 300);
	tcase_add_test(tcase, every_trap_is_caught_and_none_on_clean_systems);
	suite_add_tcase(checks, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
