/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/tool.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "boardctl/fail.h"
#include "boardctl/subprocess.h"

static void cut_blanks(char *text)
{
	size_t size = strlen(text);

	while (size && strchr(" \t\r\n", text[size - 1]))
		text[--size] = '\0';
}

static void write_line(const char *const argv[], char *line, size_t size)
{
	size_t used = 0;

	line[0] = '\0';
	for (size_t i = 0; argv[i] && used < size; i++) {
		int put = snprintf(line + used, size - used, "%s%s", i ? " " : "", argv[i]);

		used += put > 0 ? (size_t)put : 0;
	}
}

static bool is_permission(const char *output)
{
	static const char *const words[] = {"ermission denied", "EACCES", "not permitted", "ACCESS",
		"nsufficient permissions", "are you root"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(output, words[i]))
			return true;
	return false;
}

int tool_run(const char *const argv[], unsigned timeout_ms, char *output, size_t size, char *error,
	size_t error_size)
{
	char line[160];
	int status;
	int ret = subprocess_run(argv, timeout_ms, output, size, &status);

	cut_blanks(output);
	write_line(argv, line, sizeof(line));
	if (ret == -ENOENT)
		return fail_format(error, error_size, ret,
			"cannot run %s: no such program; install it or set \"command\" in the lab "
			"file",
			argv[0]);
	if (ret == -EACCES)
		return fail_format(
			error, error_size, ret, "cannot run %s: it is no program", argv[0]);
	if (ret == -ETIMEDOUT)
		return fail_format(error, error_size, ret,
			"`%s` did not end within %u ms and was killed%s%.160s", line, timeout_ms,
			output[0] ? "; it said: " : "", output);
	if (ret)
		return fail_format(
			error, error_size, ret, "cannot run %s: %s", argv[0], strerror(-ret));
	if (!status)
		return 0;
	if (is_permission(output))
		return fail_format(error, error_size, -EACCES,
			"`%s` may not: it ended with %d and said: %.160s; the udev rules of "
			"sameboard (60-sameboard.rules) give the group plugdev what it needs",
			line, status, output);
	return fail_format(error, error_size, -EIO, "`%s` ended with %d and said: %.160s", line,
		status, output[0] ? output : "nothing");
}
