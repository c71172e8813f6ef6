/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/linux/snapshot.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define FILE_MAX 16384

void snapshot_open(struct snapshot_files *files)
{
	files->stat = open("/proc/stat", O_RDONLY | O_CLOEXEC);
	files->interrupts = open("/proc/interrupts", O_RDONLY | O_CLOEXEC);
}

void snapshot_close(struct snapshot_files *files)
{
	if (files->stat >= 0)
		close(files->stat);
	if (files->interrupts >= 0)
		close(files->interrupts);
	files->stat = -1;
	files->interrupts = -1;
}

/* The whole file from its beginning, NUL behind it; its size, 0 on any error. */
static size_t read_again(int fd, char *text, size_t size)
{
	size_t used = 0;

	if (fd < 0)
		return 0;
	while (used < size - 1) {
		ssize_t got = pread(fd, text + used, size - 1 - used, (off_t)used);

		if (got <= 0)
			break;
		used += (size_t)got;
	}
	text[used] = '\0';
	return used;
}

static uint64_t read_interrupts(int fd)
{
	char text[FILE_MAX];
	const char *line;

	if (read_again(fd, text, sizeof(text)) == 0)
		return SNAPSHOT_UNKNOWN;
	line = strstr(text, "\nintr ");
	return line ? strtoull(line + 6, NULL, 10) : SNAPSHOT_UNKNOWN;
}

/* All numbers between the label's colon and the next word. */
static uint64_t sum_line(const char *line)
{
	const char *at = strchr(line, ':');
	uint64_t sum = 0;

	if (!at)
		return 0;
	at++;
	for (;;) {
		char *end;
		uint64_t value;

		at += strspn(at, " ");
		value = strtoull(at, &end, 10);
		if (end == at || (*end != ' ' && *end != '\n' && *end != '\0'))
			return sum;
		sum += value;
		at = end;
	}
}

/* Timer lines: "riscv-timer", "sun4i_timer0", "arch_timer", or LOC on x86. */
static uint64_t read_ticks(int fd)
{
	char text[FILE_MAX];
	uint64_t sum = 0;
	bool found = false;
	char *line = text;

	if (read_again(fd, text, sizeof(text)) == 0)
		return SNAPSHOT_UNKNOWN;
	while (*line) {
		char *end = line + strcspn(line, "\n");
		bool is_last = *end == '\0';

		*end = '\0';
		if (strstr(line, "timer") || strstr(line, " LOC:")) {
			sum += sum_line(line);
			found = true;
		}
		line = is_last ? end : end + 1;
	}
	return found ? sum : SNAPSHOT_UNKNOWN;
}

void snapshot_take(const struct snapshot_files *files, struct snapshot *snapshot)
{
	struct rusage usage;

	snapshot->interrupts = read_interrupts(files->stat);
	snapshot->ticks = read_ticks(files->interrupts);
	getrusage(RUSAGE_SELF, &usage);
	snapshot->page_faults = (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
	snapshot->page_faults_major = (uint64_t)usage.ru_majflt;
	snapshot->context_switches = (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
	snapshot->preemptions = (uint64_t)usage.ru_nivcsw;
}

static void put(struct text *text, const char *key, uint64_t begin, uint64_t end)
{
	if (begin == SNAPSHOT_UNKNOWN || end == SNAPSHOT_UNKNOWN)
		text_put(text, key, "unknown");
	else
		text_put_u64(text, key, end - begin);
}

void snapshot_write(const struct snapshot *begin, const struct snapshot *end, struct text *text)
{
	put(text, "interrupts", begin->interrupts, end->interrupts);
	put(text, "ticks", begin->ticks, end->ticks);
	put(text, "page_faults", begin->page_faults, end->page_faults);
	put(text, "page_faults_major", begin->page_faults_major, end->page_faults_major);
	put(text, "context_switches", begin->context_switches, end->context_switches);
	put(text, "preemptions", begin->preemptions, end->preemptions);
}
