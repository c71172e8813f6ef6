/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/linux/tuning.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "agents/linux/file.h"

/* Patterns of files and what goes into them. */
static const struct {
	const char *pattern;
	const char *value;
} settings[] = {
	{"/proc/sys/kernel/sched_rt_runtime_us", "-1"},
	{"/sys/kernel/debug/sched/fair_server/cpu*/runtime", "0"},
};

static void set_file(struct tuning *tuning, const char *path, const char *value)
{
	struct tuning_file *file = &tuning->files[tuning->file_count];

	if (tuning->file_count == TUNING_FILES_MAX || strlen(path) >= sizeof(file->path))
		return;
	strcpy(file->path, path);
	if (file_read_text(path, file->before, sizeof(file->before)) < 0)
		return;
	file->was_set = file_write_text(path, value) == 0;
	file_read_text(path, file->after, sizeof(file->after));
	tuning->file_count++;
}

static void set_files(struct tuning *tuning)
{
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		glob_t found;

		if (glob(settings[i].pattern, 0, NULL, &found) == 0) {
			for (size_t j = 0; j < found.gl_pathc; j++)
				set_file(tuning, found.gl_pathv[j], settings[i].value);
		}
		globfree(&found);
	}
}

/* The last processor allowed: the first one usually takes the interrupts. */
static int choose_cpu(void)
{
	cpu_set_t allowed;
	size_t chosen = CPU_SETSIZE;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return -1;
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &allowed))
			chosen = cpu;
	}
	if (chosen == CPU_SETSIZE)
		return -1;
	CPU_ZERO(&allowed);
	CPU_SET(chosen, &allowed);
	return sched_setaffinity(0, sizeof(allowed), &allowed) == 0 ? (int)chosen : -1;
}

static void hold_cpu_latency(struct tuning *tuning)
{
	const int none_us = 0;

	tuning->cpu_dma_latency = open("/dev/cpu_dma_latency", O_RDWR | O_CLOEXEC);
	if (tuning->cpu_dma_latency >= 0 &&
		write(tuning->cpu_dma_latency, &none_us, sizeof(none_us)) != sizeof(none_us)) {
		close(tuning->cpu_dma_latency);
		tuning->cpu_dma_latency = -1;
	}
}

void tuning_apply(struct tuning *tuning, bool keep_settings)
{
	const struct sched_param param = {.sched_priority = TUNING_PRIORITY_HIGH};

	*tuning = (struct tuning){.cpu_dma_latency = -1};
	tuning->memory_is_locked = mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
	tuning->cpu = choose_cpu();
	tuning->timer_slack_before_ns = (unsigned long)prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	tuning->timer_slack_ns = (unsigned long)prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
	if (!keep_settings) {
		/* Throttling off before the first FIFO thread. */
		set_files(tuning);
		hold_cpu_latency(tuning);
	}
	tuning->fifo_is_permitted = sched_setscheduler(0, SCHED_FIFO, &param) == 0 &&
				    sched_getscheduler(0) == SCHED_FIFO;
}

void tuning_restore(struct tuning *tuning)
{
	const struct sched_param param = {.sched_priority = 0};

	if (tuning->fifo_is_permitted)
		sched_setscheduler(0, SCHED_OTHER, &param);
	for (size_t i = tuning->file_count; i-- > 0;) {
		if (tuning->files[i].was_set)
			file_write_text(tuning->files[i].path, tuning->files[i].before);
	}
	tuning->file_count = 0;
	if (tuning->cpu_dma_latency >= 0)
		close(tuning->cpu_dma_latency);
	tuning->cpu_dma_latency = -1;
	if (tuning->timer_slack_before_ns)
		prctl(PR_SET_TIMERSLACK, tuning->timer_slack_before_ns, 0, 0, 0);
	if (tuning->memory_is_locked)
		munlockall();
}

/* "/proc/sys/kernel/sched_rt_runtime_us" -> "sched_rt_runtime_us" */
static void put_file(const struct tuning_file *file, struct text *text)
{
	char key[TUNING_PATH_MAX + 16];
	const char *cpu = strstr(file->path, "/cpu");
	const char *name = strrchr(file->path, '/') + 1;

	if (cpu) {
		int length = (int)strcspn(cpu + 1, "/");

		snprintf(key, sizeof(key), "tuning.fair_server.%.*s", length, cpu + 1);
	} else {
		snprintf(key, sizeof(key), "tuning.%s", name);
	}
	text_put(text, key, file->after);
}

void tuning_write_facts(const struct tuning *tuning, struct text *text)
{
	text_put(text, "tuning.mlockall", tuning->memory_is_locked ? "yes" : "not permitted");
	text_put(text, "tuning.policy", tuning->fifo_is_permitted ? "SCHED_FIFO" : "SCHED_OTHER");
	text_put_i64(
		text, "tuning.priority_high", tuning->fifo_is_permitted ? TUNING_PRIORITY_HIGH : 0);
	text_put_i64(text, "tuning.priority_middle",
		tuning->fifo_is_permitted ? TUNING_PRIORITY_MIDDLE : 0);
	text_put_i64(
		text, "tuning.priority_low", tuning->fifo_is_permitted ? TUNING_PRIORITY_LOW : 0);
	text_put(text, "tuning.load_policy", "SCHED_OTHER");
	text_put_i64(text, "tuning.cpu", tuning->cpu);
	text_put_u64(text, "tuning.timer_slack_ns", tuning->timer_slack_ns);
	text_put(
		text, "tuning.cpu_dma_latency_us", tuning->cpu_dma_latency >= 0 ? "0" : "not held");
	for (size_t i = 0; i < tuning->file_count; i++)
		put_file(&tuning->files[i], text);
}
