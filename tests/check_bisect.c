/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commit that made it slower, found by the real git over a small repository;
 * what measures is a script that knows what each commit costs.
 */
#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/bisect.h"
#include "tests/doc_words.h"
#include "tests/lab_rig.h"
#include "tests/scratch.h"

#define COMMITS 16

static struct scratch scratch;
static char commits[COMMITS + 1][64];

static void git(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void git(const char *format, ...)
{
	char command[512];
	size_t used = (size_t)snprintf(command, sizeof(command),
		"git -c user.name=tester -c user.email=tester@example.com ");
	va_list args;

	va_start(args, format);
	vsnprintf(command + used, sizeof(command) - used, format, args);
	va_end(args);
	ck_assert_msg(system(command) == 0, "%s", command);
}

/* Commit i says in `cost` what measuring it ends with. */
static void make_repository(const int codes[COMMITS + 1])
{
	char line[64];
	FILE *pipe;

	scratch_init(&scratch);
	ck_assert_int_eq(chdir(scratch.dir), 0);
	ck_assert_int_eq(setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1), 0);
	git("init -q .");
	scratch_write(&scratch, "measure",
		"#!/bin/sh\necho $(cat cost) \"$@\" >>.git/measured\nexit $(cat cost)\n", 64);
	ck_assert_int_eq(chmod(scratch_path(&scratch, "measure"), 0755), 0);
	for (int i = 1; i <= COMMITS; i++) {
		snprintf(line, sizeof(line), "%d\n", codes[i]);
		scratch_write(&scratch, "cost", line, strlen(line));
		snprintf(line, sizeof(line), "%d\n", i);
		scratch_write(&scratch, "number", line, strlen(line));
		git("add .");
		git("commit -q -m 'change %d'", i);
		pipe = popen("git rev-parse HEAD", "r");
		ck_assert_ptr_nonnull(fgets(commits[i], sizeof(commits[i]), pipe));
		pclose(pipe);
		commits[i][strcspn(commits[i], "\n")] = '\0';
	}
}

static int bisect_all(struct bisect *bisect, const char *build)
{
	*bisect = (struct bisect){.good = commits[1],
		.bad = commits[COMMITS],
		.build = build,
		.measure = {"./measure", "run", "regress", NULL}};
	return bisect_run(bisect);
}

static void end(void)
{
	ck_assert_int_eq(access(".git/BISECT_LOG", F_OK), -1);
	ck_assert_int_eq(chdir("/"), 0);
	scratch_fini(&scratch);
}

START_TEST(test_the_first_bad_commit_is_named)
{
	int codes[COMMITS + 1] = {0};
	struct bisect bisect;
	char *measured;

	for (int i = 11; i <= COMMITS; i++)
		codes[i] = 1;
	make_repository(codes);
	ck_assert_msg(bisect_all(&bisect, "true") == 0, "%s", bisect.error);
	ck_assert_str_eq(bisect.first_bad, commits[11]);
	ck_assert_str_eq(bisect.subject, "change 11");
	measured = doc_read_file(".git/measured");
	ck_assert_ptr_nonnull(strstr(measured, "run regress"));
	free(measured);
	end();
}
END_TEST

/* A lab that failed says nothing about the commit, and a build that fails neither. */
START_TEST(test_lab_failures_and_broken_builds_are_passed_over)
{
	int codes[COMMITS + 1] = {0};
	struct bisect bisect;

	for (int i = 11; i <= COMMITS; i++)
		codes[i] = 1;
	codes[8] = codes[9] = 3;
	codes[13] = 125;
	make_repository(codes);
	ck_assert_msg(bisect_all(&bisect, "test $(cat number) != 12") == 0, "%s", bisect.error);
	ck_assert_str_eq(bisect.first_bad, commits[11]);
	end();
}
END_TEST

START_TEST(test_where_nothing_can_be_measured_no_commit_is_blamed)
{
	int codes[COMMITS + 1];
	struct bisect bisect;

	for (int i = 0; i <= COMMITS; i++)
		codes[i] = 3;
	make_repository(codes);
	ck_assert_int_eq(bisect_all(&bisect, "true"), 1);
	ck_assert_str_eq(bisect.first_bad, "");
	end();
}
END_TEST

/* A key that is misspelt is no bad commit. */
START_TEST(test_wrong_usage_ends_it)
{
	int codes[COMMITS + 1];
	struct bisect bisect;

	for (int i = 0; i <= COMMITS; i++)
		codes[i] = 2;
	make_repository(codes);
	ck_assert_int_ge(bisect_all(&bisect, "true"), 2);
	ck_assert_str_eq(bisect.first_bad, "");
	bisect.good = "no-such-commit";
	ck_assert_int_eq(bisect_run(&bisect), 2);
	ck_assert_ptr_nonnull(strstr(bisect.error, "no such commit"));
	end();
}
END_TEST

/* The program itself: without a board each commit is passed over, with exit code 3. */
START_TEST(test_the_program_passes_over_a_lab_that_failed)
{
	int codes[COMMITS + 1] = {0};
	char program[512], suite[2048], root[256];
	struct lab_rig rig;

	ck_assert_ptr_nonnull(getcwd(root, sizeof(root)));
	lab_rig_start_unplugged(&rig);
	make_repository(codes);
	snprintf(program, sizeof(program), "%s/%s/sameboard", root,
		getenv("BUILD") ? getenv("BUILD") : "build");
	snprintf(suite, sizeof(suite),
		"%s bisect %s %s smoke --os=baremetal --build=true --baseline=1 --lab=%s --db=%s "
		">/dev/null 2>&1",
		program, commits[COMMITS - 1], commits[COMMITS], rig.lab, rig.db);
	/* There is no run 1 to hold anything against: wrong usage, told before a board moves. */
	ck_assert_int_eq(WEXITSTATUS(system(suite)), 2);
	ck_assert_int_eq(access(".git/BISECT_LOG", F_OK), -1);
	ck_assert_int_eq(chdir(root), 0);
	scratch_fini(&scratch);
	lab_rig_stop(&rig);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bisect");
	TCase *tcase = tcase_create("bisect");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, test_the_first_bad_commit_is_named);
	tcase_add_test(tcase, test_lab_failures_and_broken_builds_are_passed_over);
	tcase_add_test(tcase, test_where_nothing_can_be_measured_no_commit_is_blamed);
	tcase_add_test(tcase, test_wrong_usage_ends_it);
	tcase_add_test(tcase, test_the_program_passes_over_a_lab_that_failed);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
