/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/linux/tuning.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agents/linux/file.h"

#define DEBUGFS "/sys/kernel/debug"

/* What goes into which files; `unfair` where another value robs the measured threads of time. */
enum {
	SETTING_THROTTLING,
	SETTING_FAIR_SERVER,
	SETTING_GOVERNOR,
	SETTINGS,
};

static const struct {
	const char *name;
	const char *pattern;
	const char *value;
	const char *unfair;
} settings[SETTINGS] = {
	[SETTING_THROTTLING] = {"sched_rt_runtime_us", "/proc/sys/kernel/sched_rt_runtime_us", "-1",
		"real-time threads are throttled"},
	[SETTING_FAIR_SERVER] = {"fair_server", DEBUGFS "/sched/fair_server/cpu*/runtime", "0",
		"the fair server runs above real-time threads"},
	[SETTING_GOVERNOR] = {"governor", "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
		"performance", NULL},
};

/* ---------------------------------------------------------------- files */

static void set_file(struct tuning *tuning, unsigned int setting, const char *path)
{
	struct tuning_file *file = &tuning->files[tuning->file_count];

	if (tuning->file_count == TUNING_FILES_MAX || strlen(path) >= sizeof(file->path))
		return;
	file->setting = setting;
	strcpy(file->path, path);
	if (file_read_text(path, file->before, sizeof(file->before)) < 0)
		return;
	file->was_set = tuning->is_changing && strcmp(file->before, settings[setting].value) != 0 &&
			file_write_text(path, settings[setting].value) == 0;
	file_read_text(path, file->after, sizeof(file->after));
	tuning->file_count++;
}

static void set_files(struct tuning *tuning)
{
	for (unsigned int i = 0; i < SETTINGS; i++) {
		glob_t found;
		size_t count = file_list(settings[i].pattern, &found);

		for (size_t k = 0; k < count; k++)
			set_file(tuning, i, file_list_path(&found, k));
		file_free_list(&found);
	}
}

/* The fair server's switch lies in there, and distributions do not always mount it. */
static int mount_debugfs(bool is_changing)
{
	int fd = file_open(DEBUGFS "/sched", O_RDONLY | O_DIRECTORY);

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (!is_changing)
		return -ENOENT;
	if (mount("debugfs", DEBUGFS, "debugfs", 0, NULL) != 0)
		return -errno;
	return 1;
}

/* ---------------------------------------------------------------- process */

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

	tuning->cpu_dma_latency = file_open("/dev/cpu_dma_latency", O_RDWR);
	if (tuning->cpu_dma_latency >= 0 &&
		write(tuning->cpu_dma_latency, &none_us, sizeof(none_us)) != sizeof(none_us)) {
		close(tuning->cpu_dma_latency);
		tuning->cpu_dma_latency = -1;
	}
}

int tuning_set_policy(int policy, int priority)
{
	const struct sched_param param = {.sched_priority = priority};

	return (int)syscall(SYS_sched_setscheduler, 0, policy, &param);
}

void tuning_apply(struct tuning *tuning, bool keep_settings)
{
	*tuning = (struct tuning){.cpu_dma_latency = -1, .is_changing = !keep_settings};
	tuning->memory_is_locked = mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
	tuning->cpu = choose_cpu();
	tuning->timer_slack_before_ns = (unsigned long)prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	tuning->timer_slack_ns = (unsigned long)prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
	tuning->debugfs = mount_debugfs(tuning->is_changing);
	/* Throttling off before the first FIFO thread. */
	set_files(tuning);
	if (tuning->is_changing) {
		hold_cpu_latency(tuning);
		tuning->clock_is_free = discipline_suspend(&tuning->clock_before);
	} else {
		discipline_read(&tuning->clock_before);
		tuning->clock_is_free = !discipline_is_on(&tuning->clock_before);
	}
	tuning->fifo_is_permitted = tuning_set_policy(SCHED_FIFO, TUNING_PRIORITY_HIGH) == 0 &&
				    syscall(SYS_sched_getscheduler, 0) == SCHED_FIFO;
}

void tuning_restore(struct tuning *tuning)
{
	if (tuning->fifo_is_permitted)
		tuning_set_policy(SCHED_OTHER, 0);
	for (size_t i = tuning->file_count; i-- > 0;) {
		if (tuning->files[i].was_set)
			file_write_text(tuning->files[i].path, tuning->files[i].before);
	}
	tuning->file_count = 0;
	if (tuning->cpu_dma_latency >= 0)
		close(tuning->cpu_dma_latency);
	tuning->cpu_dma_latency = -1;
	if (tuning->is_changing)
		discipline_restore(&tuning->clock_before);
	if (tuning->debugfs == 1)
		umount(DEBUGFS);
	tuning->debugfs = 0;
	if (tuning->timer_slack_before_ns)
		prctl(PR_SET_TIMERSLACK, tuning->timer_slack_before_ns, 0, 0, 0);
	if (tuning->memory_is_locked)
		munlockall();
}

/* ---------------------------------------------------------------- facts */

/* One value for all processors, or the first that differs beside the first. */
static void put_setting(const struct tuning *tuning, unsigned int setting, struct text *text)
{
	const struct tuning_file *first = NULL, *other = NULL;
	char key[64];

	for (size_t i = 0; i < tuning->file_count; i++) {
		const struct tuning_file *file = &tuning->files[i];

		if (file->setting != setting)
			continue;
		if (!first)
			first = file;
		else if (strcmp(file->after, first->after) != 0)
			other = file;
	}
	snprintf(key, sizeof(key), "tuning.%s", settings[setting].name);
	if (!first) {
		text_put(text, key, "not there");
		return;
	}
	text_append(text, key);
	text_append(text, "=");
	text_append(text, first->after);
	if (other) {
		text_append(text, ", ");
		text_append(text, other->after);
	}
	text_end_line(text);
	text_append(text, key);
	text_append(text, ".before=");
	text_append(text, first->before);
	text_end_line(text);
}

/* Since 6.12 there is a fair server, whether its switch can be reached or not. */
static bool is_hidden(const struct tuning *tuning)
{
	struct utsname name;
	unsigned int major, minor;

	for (size_t i = 0; i < tuning->file_count; i++) {
		if (tuning->files[i].setting == SETTING_FAIR_SERVER)
			return false;
	}
	return uname(&name) == 0 && sscanf(name.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 12));
}

/* Why a measured thread may be held back by the system itself; "no" when nothing says so. */
static void put_unfair(const struct tuning *tuning, struct text *text)
{
	bool is_unfair[SETTINGS] = {false};
	const char *separator = "";

	for (size_t i = 0; i < tuning->file_count; i++) {
		const struct tuning_file *file = &tuning->files[i];

		if (settings[file->setting].unfair &&
			strcmp(file->after, settings[file->setting].value))
			is_unfair[file->setting] = true;
	}
	text_append(text, "settings.unfair=");
	if (!tuning->fifo_is_permitted) {
		text_append(text, "no real-time priority is permitted");
		separator = "; ";
	}
	for (unsigned int i = 0; i < SETTINGS; i++) {
		if (!is_unfair[i])
			continue;
		text_append(text, separator);
		text_append(text, settings[i].unfair);
		separator = "; ";
	}
	if (!*separator)
		text_append(text, is_hidden(tuning)
					  ? "unknown: this kernel has a fair server, whose switch "
					    "(debugfs, SCHED_DEBUG) is not there"
					  : "no");
	text_end_line(text);
}

/* What the kernel holds to now, which other holders may have made smaller. */
static void put_cpu_latency(const struct tuning *tuning, struct text *text)
{
	int32_t held_us;

	if (tuning->cpu_dma_latency < 0)
		text_put(text, "tuning.cpu_dma_latency_us", "not held");
	else if (pread(tuning->cpu_dma_latency, &held_us, sizeof(held_us), 0) == sizeof(held_us))
		text_put_i64(text, "tuning.cpu_dma_latency_us", held_us);
	else
		text_put(text, "tuning.cpu_dma_latency_us", "held, not readable");
}

void tuning_write_facts(const struct tuning *tuning, struct text *text)
{
	bool is_fifo = tuning->fifo_is_permitted;

	text_put(text, "tuning.mlockall", tuning->memory_is_locked ? "yes" : "not permitted");
	text_put(text, "tuning.policy", is_fifo ? "SCHED_FIFO" : "SCHED_OTHER");
	text_put_i64(text, "tuning.priority_high", is_fifo ? TUNING_PRIORITY_HIGH : 0);
	text_put_i64(text, "tuning.priority_middle", is_fifo ? TUNING_PRIORITY_MIDDLE : 0);
	text_put_i64(text, "tuning.priority_low", is_fifo ? TUNING_PRIORITY_LOW : 0);
	text_put(text, "tuning.load_policy", "SCHED_OTHER");
	text_put_i64(text, "tuning.cpu", tuning->cpu);
	text_put_u64(text, "tuning.timer_slack_ns", tuning->timer_slack_ns);
	text_put_u64(text, "tuning.timer_slack_ns.before", tuning->timer_slack_before_ns);
	put_cpu_latency(tuning, text);
	text_put(text, "tuning.clock",
		!discipline_is_on(&tuning->clock_before) ? "was not steered"
		: tuning->clock_is_free			 ? "steering suspended"
							 : "steered");
	text_put(text, "tuning.debugfs",
		tuning->debugfs == 0   ? "was mounted"
		: tuning->debugfs == 1 ? "mounted by the agent"
				       : strerror(-tuning->debugfs));
	for (unsigned int i = 0; i < SETTINGS; i++)
		put_setting(tuning, i, text);
	put_unfair(tuning, text);
}
