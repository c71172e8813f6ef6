/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/bisect.h"

#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "boardctl/subprocess.h"

#define GIT_MS 60000

extern char **environ;

/*
 * The build first: a commit that does not build is neither good nor bad.  git
 * takes 1 to 124 for bad, so what is wrong usage must end it.
 */
static const char step[] = "build=$1; shift\n"
			   "sh -c \"$build\" || exit 125\n"
			   "\"$@\"\n"
			   "code=$?\n"
			   "case $code in\n"
			   "0 | 1 | 125) exit $code ;;\n"
			   "3) exit 125 ;;\n"
			   "*) exit 255 ;;\n"
			   "esac\n";

static int fail(struct bisect *bisect, int code, const char *what, const char *said)
{
	snprintf(bisect->error, sizeof(bisect->error), "%.100s: %.200s", what, said);
	return code;
}

/* git with these arguments; what it said without the newline at the end. */
static int ask_git(const char *const argv[], char *said, size_t size)
{
	int status = -1, rc = subprocess_run(argv, GIT_MS, said, size, &status);

	said[strcspn(said, "\n")] = '\0';
	return rc != 0 ? rc : status;
}

/* Hours, and a person watches: with our own output; results are not for its standard output. */
static int run_git(const char *const argv[])
{
	posix_spawn_file_actions_t actions;
	int status = -1, rc;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, 2, 1);
	rc = posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (rc != 0)
		return -rc;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static int check_commits(struct bisect *bisect)
{
	const char *const names[] = {bisect->good, bisect->bad};
	char said[512], commit[128];

	for (size_t i = 0; i < 2; i++) {
		const char *argv[] = {"git", "rev-parse", "--verify", "--quiet", "--end-of-options",
			commit, NULL};
		int rc;

		snprintf(commit, sizeof(commit), "%.100s^{commit}", names[i]);
		rc = ask_git(argv, said, sizeof(said));
		if (rc == -ENOENT)
			return fail(bisect, 2, "git", "not installed");
		if (rc != 0)
			return fail(bisect, 2, names[i], "no such commit in this repository");
	}
	return 0;
}

/* git has called it bad, and its parents good. */
static void take_result(struct bisect *bisect)
{
	const char *commit[] = {"git", "rev-parse", "--verify", "--quiet", "refs/bisect/bad", NULL};
	const char *subject[] = {"git", "show", "-s", "--format=%s", "refs/bisect/bad", NULL};
	char said[512];

	if (ask_git(commit, said, sizeof(said)) == 0)
		snprintf(bisect->first_bad, sizeof(bisect->first_bad), "%.60s", said);
	if (ask_git(subject, said, sizeof(said)) == 0)
		snprintf(bisect->subject, sizeof(bisect->subject), "%.250s", said);
}

int bisect_run(struct bisect *bisect)
{
	const char *start[] = {"git", "bisect", "start", bisect->bad, bisect->good, "--", NULL};
	const char *reset[] = {"git", "bisect", "reset", NULL};
	const char *run[BISECT_ARGUMENTS_MAX + 10] = {
		"git", "bisect", "run", "sh", "-c", step, "step", bisect->build};
	char said[1024];
	size_t count = 8;
	int rc = check_commits(bisect);

	if (rc != 0)
		return rc;
	if (ask_git(start, said, sizeof(said)) != 0)
		return fail(bisect, 2, "git bisect start", said);
	for (size_t i = 0; bisect->measure[i]; i++)
		run[count++] = bisect->measure[i];
	rc = run_git(run);
	if (rc == 0)
		take_result(bisect);
	if (ask_git(reset, said, sizeof(said)) != 0)
		return fail(bisect, 3, "git bisect reset", said);
	if (rc == 0)
		return 0;
	if (rc == 2)
		return fail(bisect, 1, "git bisect",
			"only commits are left that could not be measured");
	return fail(bisect, rc > 0 && rc < 128 ? 2 : 3, "git bisect run",
		"it ended before it had an answer; what it said is above");
}
