/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Linux needs to measure fairly: locked memory, SCHED_FIFO, one
 * processor, no real-time throttling, no fair server above FIFO threads, no
 * timer slack, the fastest governor, no deep idle states, no clock that NTP slews.  Each setting is
 * made, read back, kept for the facts and put back at the end.  Nothing here
 * fails: what is not permitted is recorded, and the host judges by
 * `settings.unfair`.
 */
#ifndef AGENTS_LINUX_TUNING_H
#define AGENTS_LINUX_TUNING_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

#include "agents/core/text.h"
#include "agents/linux/discipline.h"

#define TUNING_PRIORITY_HIGH   80
#define TUNING_PRIORITY_MIDDLE 70
#define TUNING_PRIORITY_LOW    60

#define TUNING_FILES_MAX 136
#define TUNING_PATH_MAX	 96
#define TUNING_VALUE_MAX 32

struct tuning_file {
	unsigned int setting; /* row of the table in tuning.c */
	char path[TUNING_PATH_MAX];
	char before[TUNING_VALUE_MAX]; /* to be put back */
	char after[TUNING_VALUE_MAX];  /* as read back */
	bool was_set;
};

struct tuning {
	bool memory_is_locked;
	bool fifo_is_permitted;
	bool is_changing;    /* false: the system's settings are only read */
	int cpu;	     /* the one it runs on, -1: any */
	int cpu_dma_latency; /* descriptor, -1: not held */
	bool clock_is_free;  /* nothing slews it any more */
	struct discipline clock_before;
	int debugfs; /* 0: was there, 1: mounted here, negative errno: cannot be */
	unsigned long timer_slack_before_ns;
	unsigned long timer_slack_ns;
	struct tuning_file files[TUNING_FILES_MAX];
	size_t file_count;
};

/*
 * For the calling thread, which becomes the measuring one, and for the
 * system.  keep_settings leaves everything outside this process alone and
 * records what is there.
 */
void tuning_apply(struct tuning *tuning, bool keep_settings);
void tuning_restore(struct tuning *tuning);

/*
 * Of the calling thread, by the kernel's own call: musl's sched_setscheduler()
 * does nothing.  0, or negative with errno.
 */
int tuning_set_policy(int policy, int priority);

/* All of it as `key=value` lines. */
void tuning_write_facts(const struct tuning *tuning, struct text *text);

#endif
