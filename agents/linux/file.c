/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/linux/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *overlay;

void file_set_overlay(const char *folder)
{
	overlay = folder;
}

int file_open(const char *path, int flags)
{
	char above[PATH_MAX];
	int fd = -1;

	if (overlay && snprintf(above, sizeof(above), "%s%s", overlay, path) < (int)sizeof(above))
		fd = open(above, flags | O_CLOEXEC | O_NOCTTY);
	if (fd >= 0 || (overlay && errno != ENOENT))
		return fd;
	return open(path, flags | O_CLOEXEC | O_NOCTTY);
}

static ssize_t read_all(const char *path, void *data, size_t size)
{
	size_t used = 0;
	int fd = file_open(path, O_RDONLY);

	if (fd < 0)
		return -errno;
	while (used < size) {
		ssize_t got = read(fd, (char *)data + used, size - used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int error = errno;

			close(fd);
			return -error;
		}
		if (got == 0)
			break;
		used += (size_t)got;
	}
	close(fd);
	return (ssize_t)used;
}

ssize_t file_read_text(const char *path, char *text, size_t size)
{
	ssize_t length = read_all(path, text, size - 1);

	text[length > 0 ? length : 0] = '\0';
	while (length > 0 && strchr("\n \t", text[length - 1]))
		text[--length] = '\0';
	return length;
}

int file_read_number(const char *path, int64_t *number)
{
	char text[32];
	ssize_t length = file_read_text(path, text, sizeof(text));
	char *end;
	int64_t value = strtoll(text, &end, 10);

	if (length < 0)
		return (int)length;
	if (end == text)
		return -EINVAL;
	*number = value;
	return 0;
}

uint64_t file_read_cell(const char *path)
{
	uint8_t cell[8];
	ssize_t length = read_all(path, cell, sizeof(cell));
	uint64_t value = 0;

	if (length != 4 && length != 8)
		return 0;
	for (ssize_t i = 0; i < length; i++)
		value = value << 8 | cell[i];
	return value;
}

int file_write_text(const char *path, const char *text)
{
	int fd = file_open(path, O_WRONLY | (overlay ? O_TRUNC : 0));
	ssize_t written;
	int error;

	if (fd < 0)
		return -errno;
	do
		written = write(fd, text, strlen(text));
	while (written < 0 && errno == EINTR);
	error = written < 0 ? errno : 0;
	close(fd);
	return -error;
}

size_t file_list(const char *pattern, glob_t *found)
{
	char above[PATH_MAX];

	*found = (glob_t){0};
	if (overlay &&
		snprintf(above, sizeof(above), "%s%s", overlay, pattern) < (int)sizeof(above) &&
		glob(above, 0, NULL, found) == 0)
		return found->gl_pathc;
	globfree(found);
	*found = (glob_t){0};
	return glob(pattern, 0, NULL, found) == 0 ? found->gl_pathc : 0;
}

const char *file_list_path(const glob_t *found, size_t i)
{
	const char *path = found->gl_pathv[i];
	size_t length = overlay ? strlen(overlay) : 0;

	return overlay && strncmp(path, overlay, length) == 0 ? path + length : path;
}

void file_free_list(glob_t *found)
{
	globfree(found);
}
