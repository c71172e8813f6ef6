/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/paths.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int paths_state_file(const char *name, char *path, size_t size)
{
	const char *fixed = getenv("SAMEBOARD_STATE"), *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");
	int length;

	if (fixed && *fixed)
		length = snprintf(path, size, "%s/%s", fixed, name);
	else if (state && *state)
		length = snprintf(path, size, "%s/sameboard/%s", state, name);
	else
		length = snprintf(
			path, size, "%s/.local/state/sameboard/%s", home ? home : "", name);
	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

int paths_beside_program(const char *relative, char *path, size_t size)
{
	char program[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (length < 0)
		return -errno;
	program[length] = '\0';
	*strrchr(program, '/') = '\0';
	length = snprintf(path, size, "%s/%s", program, relative);
	return (size_t)length >= size ? -ENAMETOOLONG : 0;
}

void paths_make_parents(const char *path)
{
	char dir[PATH_MAX];

	if ((size_t)snprintf(dir, sizeof(dir), "%s", path) >= sizeof(dir) || !dir[0])
		return;
	for (char *slash = strchr(dir + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(dir, 0777);
		*slash = '/';
	}
}
