/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/agent_bench.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/scratch.h"

#define ARGUMENTS_MAX 24

static const char *find_built(const char *name, char *path, size_t size)
{
	const char *build = getenv("BUILD");

	snprintf(path, size, "%s/%s", build ? build : "build", name);
	ck_assert_msg(access(path, R_OK) == 0, "%s is not built", path);
	return path;
}

static void run_agent(const struct agent_bench *bench, FILE *out)
{
	char program[256], lies[256];
	const char *arguments[ARGUMENTS_MAX] = {find_built("sameboard-agent", program, 256)};
	size_t count = 1;

	if (bench->overlay) {
		arguments[count++] = "--overlay";
		arguments[count++] = bench->overlay;
	}
	for (size_t i = 0; bench->arguments[i] && count + 2 < ARGUMENTS_MAX; i++)
		arguments[count++] = bench->arguments[i];
	arguments[count] = "--json";
	if (bench->lie) {
		setenv("LD_PRELOAD", find_built("tests/linux_lies.so", lies, 256), 1);
		setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);
		setenv("SAMEBOARD_LIE", bench->lie, 1);
	}
	dup2(fileno(out), STDOUT_FILENO);
	execv(program, (char *const *)(uintptr_t)arguments);
	_exit(127);
}

static char *read_all(FILE *file)
{
	long size;
	char *text;

	ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
	size = ftell(file);
	rewind(file);
	text = calloc(1, (size_t)size + 1);
	ck_assert_uint_eq(fread(text, 1, (size_t)size, file), (size_t)size);
	return text;
}

cJSON *agent_bench_run(const struct agent_bench *bench)
{
	FILE *out = tmpfile();
	char *text;
	cJSON *json;
	int status = 0;
	pid_t agent, ended;

	ck_assert_ptr_nonnull(out);
	agent = fork();
	ck_assert_int_ge(agent, 0);
	if (agent == 0)
		run_agent(bench, out);
	do {
		ended = waitpid(agent, &status, bench->meanwhile ? WNOHANG : 0);
		if (ended == 0)
			bench->meanwhile(bench->context);
	} while (ended == 0);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", status);
	text = read_all(out);
	fclose(out);
	json = cJSON_Parse(text);
	ck_assert_msg(json != NULL, "no JSON: %.400s", text);
	free(text);
	return json;
}

const char *agent_bench_get(const cJSON *json, const char *part, const char *key)
{
	const char *value = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItem(json, part), key));

	return value ? value : "";
}
