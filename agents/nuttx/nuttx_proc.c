/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/nuttx/nuttx_proc.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATUS_SIZE 192
#define LINES_SIZE  256

int nuttx_proc_parse_state(const char *status)
{
	const char *state = strstr(status, "State:");

	if (!state)
		return -1;
	state += strlen("State:");
	state += strspn(state, " \t");
	return strncmp(state, "Waiting,", 8) == 0;
}

int nuttx_proc_is_blocked(long thread)
{
	char path[32];
	char status[STATUS_SIZE];
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/status", thread);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return -1;
	size = read(fd, status, sizeof(status) - 1);
	close(fd);
	if (size <= 0)
		return -1;
	status[size] = '\0';
	return nuttx_proc_parse_state(status);
}

/* "  5 80001234 00000000       1234    0.100    3": number, handler, argument, count. */
static uint64_t read_count(const char *line)
{
	char *end;

	strtoul(line, &end, 10);
	if (end == line)
		return 0;
	for (int column = 0; column < 2; column++) {
		const char *from = end;

		strtoull(from, &end, 16);
		if (end == from)
			return 0;
	}
	return strtoull(end, NULL, 10);
}

uint64_t nuttx_proc_sum_irqs(const char *lines)
{
	uint64_t sum = 0;

	while (*lines) {
		sum += read_count(lines);
		lines += strcspn(lines, "\n");
		lines += *lines == '\n';
	}
	return sum;
}

uint64_t nuttx_proc_count_interrupts(void)
{
	char text[LINES_SIZE];
	uint64_t sum = 0;
	size_t used = 0;
	ssize_t size;
	int fd = open("/proc/irqs", O_RDONLY);

	if (fd < 0)
		return NUTTX_PROC_UNKNOWN;
	while ((size = read(fd, text + used, sizeof(text) - 1 - used)) > 0) {
		char *end;

		used += (size_t)size;
		text[used] = '\0';
		end = strrchr(text, '\n');
		if (!end)
			continue;
		*end = '\0';
		sum += nuttx_proc_sum_irqs(text);
		used -= (size_t)(end + 1 - text);
		memmove(text, end + 1, used);
	}
	close(fd);
	return sum;
}
