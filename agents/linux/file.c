/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/linux/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static ssize_t read_all(const char *path, void *data, size_t size)
{
	size_t used = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

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
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
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
