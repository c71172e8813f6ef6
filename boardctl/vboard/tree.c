/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/vboard/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "boardctl/vboard/log.h"

#define TREE_SIZE_MAX	(1u << 20)
#define TREE_MAGIC	0xd00dfeedu
#define TREE_BEGIN_NODE 1u
#define TREE_END_NODE	2u
#define TREE_PROP	3u
#define TREE_NOP	4u

static uint32_t tree_get(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void tree_put(uint8_t *at, uint32_t value)
{
	for (unsigned i = 0; i < 4; i++)
		at[i] = (uint8_t)(value >> (24 - 8 * i));
}

static bool tree_is_serial(const char *name)
{
	return strncmp(name, "serial@", 7) == 0 || strncmp(name, "uart@", 5) == 0;
}

int tree_set_uart_clock(uint8_t *blob, size_t size, uint32_t hz)
{
	bool in_serial = false;
	size_t at, strings;

	/* A terminator behind the blob, so that no name runs out of it. */
	if (size < 40 || tree_get(blob) != TREE_MAGIC || tree_get(blob + 4) > size ||
		blob[size - 1] != '\0')
		return -EINVAL;
	at = tree_get(blob + 8);
	strings = tree_get(blob + 12);
	while (at + 12 <= size && strings < size) {
		uint32_t token = tree_get(blob + at);
		uint32_t length, name;

		at += 4;
		if (token == TREE_BEGIN_NODE) {
			const char *node = (const char *)blob + at;

			in_serial = tree_is_serial(node);
			at += (strlen(node) + 4) & ~(size_t)3;
		} else if (token == TREE_PROP) {
			length = tree_get(blob + at);
			name = tree_get(blob + at + 4);
			at += 8;
			if (length > size - at || name >= size - strings)
				return -EINVAL;
			if (in_serial && length == 4 &&
				strcmp((const char *)blob + strings + name, "clock-frequency") ==
					0) {
				tree_put(blob + at, hz);
				return 0;
			}
			at += (length + 3) & ~(size_t)3;
		} else if (token != TREE_END_NODE && token != TREE_NOP) {
			break;
		}
	}
	return -ENOENT;
}

static int tree_dump(const char *program, unsigned memory_mb, const char *path)
{
	char machine[PATH_MAX + 32], memory[32];
	pid_t pid;
	int status;

	snprintf(machine, sizeof(machine), "virt,dumpdtb=%s", path);
	snprintf(memory, sizeof(memory), "%uM", memory_mb);
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		dup2(log_fd(), 1);
		dup2(log_fd(), 2);
		execlp(program, program, "-M", machine, "-smp", "1", "-m", memory, "-bios", "none",
			"-display", "none", (char *)NULL);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

static ssize_t tree_load(const char *path, uint8_t *blob, size_t capacity)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size;

	if (fd < 0)
		return -errno;
	size = read(fd, blob, capacity);
	close(fd);
	return size < 0 ? -errno : size;
}

static int tree_store(const uint8_t *blob, size_t size)
{
	int fd = memfd_create("tree", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (write(fd, blob, size) != (ssize_t)size) {
		close(fd);
		return -EIO;
	}
	return fd;
}

int tree_make(const char *program, unsigned memory_mb, const char *dir, uint32_t hz)
{
	uint8_t *blob = malloc(TREE_SIZE_MAX);
	char path[PATH_MAX];
	ssize_t result;

	if (!blob)
		return -ENOMEM;
	snprintf(path, sizeof(path), "%s/tree.dtb", dir);
	result = tree_dump(program, memory_mb, path);
	if (result == 0)
		result = tree_load(path, blob, TREE_SIZE_MAX);
	unlink(path);
	if (result > 0) {
		int changed = tree_set_uart_clock(blob, (size_t)result, hz);

		result = changed < 0 ? changed : tree_store(blob, (size_t)result);
	}
	free(blob);
	return (int)result;
}
