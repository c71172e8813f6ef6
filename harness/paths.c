/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/paths.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where one variable names the folder itself, another the one of all programs. */
static int find_file(const char *const variables[2], const char *below_home, const char *name,
	char *path, size_t size)
{
	const char *fixed = getenv(variables[0]), *shared = getenv(variables[1]);
	const char *home = getenv("HOME");
	int length;

	if (fixed && *fixed)
		length = snprintf(path, size, "%s/%s", fixed, name);
	else if (shared && *shared)
		length = snprintf(path, size, "%s/sameboard/%s", shared, name);
	else
		length = snprintf(
			path, size, "%s/%s/sameboard/%s", home ? home : "", below_home, name);
	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

int paths_state_file(const char *name, char *path, size_t size)
{
	static const char *const variables[] = {"SAMEBOARD_STATE", "XDG_STATE_HOME"};

	return find_file(variables, ".local/state", name, path, size);
}

int paths_cache_file(const char *name, char *path, size_t size)
{
	static const char *const variables[] = {"SAMEBOARD_CACHE", "XDG_CACHE_HOME"};

	return find_file(variables, ".cache", name, path, size);
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
