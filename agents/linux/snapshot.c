/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/linux/snapshot.h"

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agents/linux/file.h"

#define FILE_MAX 16384

/* The processor's own sensor where one says so, else the first. */
static void find_sensor(char *path, size_t size)
{
	glob_t found;
	size_t count = file_list("/sys/class/thermal/thermal_zone*", &found);

	path[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		char name[128], type[64];

		snprintf(name, sizeof(name), "%.100s/type", file_list_path(&found, i));
		file_read_text(name, type, sizeof(type));
		if (path[0] && !strstr(type, "cpu") && !strstr(type, "pkg"))
			continue;
		snprintf(path, size, "%.80s/temp", file_list_path(&found, i));
		if (strstr(type, "cpu") || strstr(type, "pkg"))
			break;
	}
	file_free_list(&found);
}

void snapshot_open(struct snapshot_files *files)
{
	files->stat = file_open("/proc/stat", O_RDONLY);
	files->interrupts = file_open("/proc/interrupts", O_RDONLY);
	find_sensor(files->sensor, sizeof(files->sensor));
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

/* "cpu  user nice system idle iowait irq softirq steal ..." */
static uint64_t find_steal(const char *text)
{
	uint64_t steal = SNAPSHOT_UNKNOWN;

	return sscanf(text, "cpu %*u %*u %*u %*u %*u %*u %*u %ju", (uintmax_t *)&steal) == 1
		       ? steal
		       : SNAPSHOT_UNKNOWN;
}

static void read_stat(int fd, struct snapshot *snapshot)
{
	char text[FILE_MAX];
	const char *line;

	snapshot->interrupts = SNAPSHOT_UNKNOWN;
	snapshot->steal = SNAPSHOT_UNKNOWN;
	if (read_again(fd, text, sizeof(text)) == 0)
		return;
	line = strstr(text, "\nintr ");
	if (line)
		snapshot->interrupts = strtoull(line + 6, NULL, 10);
	snapshot->steal = find_steal(text);
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

static int64_t read_frequency(const char *file)
{
	char path[96];
	int64_t value = SNAPSHOT_NONE;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpufreq/%s", sched_getcpu(),
		file);
	file_read_number(path, &value);
	return value;
}

static int64_t read_temperature(const struct snapshot_files *files)
{
	int64_t value = SNAPSHOT_NONE;

	if (files->sensor[0])
		file_read_number(files->sensor, &value);
	return value;
}

void snapshot_take(const struct snapshot_files *files, struct snapshot *snapshot)
{
	struct rusage usage;

	read_stat(files->stat, snapshot);
	snapshot->ticks = read_ticks(files->interrupts);
	getrusage(RUSAGE_SELF, &usage);
	snapshot->page_faults = (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
	snapshot->page_faults_major = (uint64_t)usage.ru_majflt;
	snapshot->context_switches = (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
	snapshot->preemptions = (uint64_t)usage.ru_nivcsw;
	discipline_read(&snapshot->clock);
	snapshot->frequency_khz = read_frequency("scaling_cur_freq");
	snapshot->frequency_changes = read_frequency("stats/total_trans");
	snapshot->temperature_millideg = read_temperature(files);
}

/* Where a driver measures, two readings of one frequency differ a little. */
static bool is_other_frequency(int64_t begin_khz, int64_t end_khz)
{
	int64_t change_khz = end_khz > begin_khz ? end_khz - begin_khz : begin_khz - end_khz;

	return begin_khz == SNAPSHOT_NONE || end_khz == SNAPSHOT_NONE ||
	       change_khz > begin_khz / 100;
}

/* A change and back again only shows in the kernel's own count. */
static void put_frequency(
	const struct snapshot *begin, const struct snapshot *end, struct text *text)
{
	char what[96] = "no";

	if (begin->frequency_khz == SNAPSHOT_NONE && end->frequency_khz == SNAPSHOT_NONE)
		snprintf(what, sizeof(what), "none");
	else if (begin->frequency_changes != end->frequency_changes)
		snprintf(what, sizeof(what), "%lld times, from %lld to %lld kHz",
			(long long)(end->frequency_changes - begin->frequency_changes),
			(long long)begin->frequency_khz, (long long)end->frequency_khz);
	else if (is_other_frequency(begin->frequency_khz, end->frequency_khz))
		snprintf(what, sizeof(what), "from %lld to %lld kHz",
			(long long)begin->frequency_khz, (long long)end->frequency_khz);
	text_put(text, "frequency_changed", what);
	if (end->frequency_khz != SNAPSHOT_NONE)
		text_put_i64(text, "frequency_khz", end->frequency_khz);
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
	put(text, "steal_ticks", begin->steal, end->steal);
	discipline_write(&begin->clock, &end->clock, text);
	put_frequency(begin, end, text);
	if (end->temperature_millideg != SNAPSHOT_NONE) {
		text_put_i64(text, "temperature_millideg.before", begin->temperature_millideg);
		text_put_i64(text, "temperature_millideg", end->temperature_millideg);
	}
}
