/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/catalogue.h"

#include <string.h>

#define THREADS	  CATALOGUE_NEEDS_THREADS
#define PROCESSES CATALOGUE_NEEDS_PROCESSES
#define TIMER	  CATALOGUE_NEEDS_TIMER
#define PRIO	  CATALOGUE_NEEDS_PRIORITIES
#define PI	  CATALOGUE_NEEDS_PI
#define DEVICE	  CATALOGUE_NEEDS_DEVICE
#define IPC	  CATALOGUE_NEEDS_IPC
#define STAMPS	  CATALOGUE_NEEDS_STAMPS

/* clang-format off */
static const struct catalogue_bench benches[] = {
	{.id = 0, .name = "floor", .what = "two adjacent counter reads",
	 .value = CATALOGUE_FLOOR, .n = 1000, .implemented = true},
	{.id = 1, .name = "wake.idle", .what = "periodic wake-up, idle",
	 .value = CATALOGUE_LATENESS, .needs = TIMER, .n = 20000, .has_grid = true,
	 .load_is_free = true, .implemented = true},
	{.id = 2, .name = "wake.cpu", .what = "periodic wake-up above an endless loop",
	 .value = CATALOGUE_LATENESS, .needs = TIMER | THREADS | PRIO, .n = 20000,
	 .load = CATALOGUE_LOAD_CPU, .has_grid = true, .implemented = true},
	{.id = 3, .name = "wake.cache", .what = "periodic wake-up, caches dirtied",
	 .value = CATALOGUE_LATENESS, .needs = TIMER | THREADS | PRIO, .n = 20000, .load = CATALOGUE_LOAD_CACHE,
	 .has_grid = true, .implemented = true},
	{.id = 4, .name = "wake.ipc", .what = "periodic wake-up above IPC and thread creation",
	 .value = CATALOGUE_LATENESS, .needs = TIMER | THREADS | PRIO | IPC, .n = 20000, .load = CATALOGUE_LOAD_IPC,
	 .has_grid = true, .implemented = true},
	{.id = 5, .name = "irq.split", .what = "compare match to handler to thread",
	 .value = CATALOGUE_LATENESS, .needs = TIMER | STAMPS, .n = 20000, .has_grid = true,
	 .implemented = true},
	{.id = 6, .name = "wake.long", .what = "wake.cpu for 10 minutes and more",
	 .value = CATALOGUE_LATENESS, .needs = TIMER | THREADS | PRIO,
	 .load = CATALOGUE_LOAD_CPU, .duration_ms = 600000, .has_grid = true, .extended = true},
	{.id = 7, .name = "wake.period", .what = "misses of fixed work, period by period",
	 .value = CATALOGUE_LATENESS, .needs = TIMER | THREADS | PRIO, .duration_ms = 10000, .parts = 7,
	 .load = CATALOGUE_LOAD_MIXED, .implemented = true},
	{.id = 8, .name = "irq.thread", .what = "device interrupt to thread",
	 .value = CATALOGUE_LATENESS, .needs = DEVICE, .n = 5000, .sample_us = 2000000, .load_is_free = true, .implemented = true},
	{.id = 10, .name = "syscall", .what = "cheapest kernel entry",
	 .value = CATALOGUE_COST, .n = 20000, .load_is_free = true, .implemented = true},
	{.id = 11, .name = "mutex.pair", .what = "uncontended lock and unlock, plain and PI",
	 .value = CATALOGUE_BATCH, .needs = THREADS, .n = 20000, .load_is_free = true,
	 .implemented = true},
	{.id = 12, .name = "sem.pair", .what = "post and wait without a waiter",
	 .value = CATALOGUE_BATCH, .needs = THREADS, .n = 20000, .load_is_free = true,
	 .extended = true, .implemented = true},
	{.id = 13, .name = "yield.switch", .what = "yield between two equal threads",
	 .value = CATALOGUE_COST, .needs = THREADS | PRIO, .n = 20000, .load_is_free = true, .implemented = true},
	{.id = 20, .name = "sem.handoff", .what = "post to a waiter of higher priority",
	 .value = CATALOGUE_COST, .needs = THREADS | PRIO, .n = 20000, .sample_us = 2000, .load_is_free = true,
	 .implemented = true},
	{.id = 21, .name = "sem.handoff.low", .what = "post to a waiter of lower priority",
	 .value = CATALOGUE_COST, .needs = THREADS | PRIO, .n = 20000, .sample_us = 6000, .load_is_free = true,
	 .extended = true, .implemented = true},
	{.id = 22, .name = "mutex.handoff", .what = "unlock to a blocked waiter, plain and PI",
	 .value = CATALOGUE_COST, .needs = THREADS | PRIO, .n = 20000, .sample_us = 2000, .load_is_free = true,
	 .implemented = true},
	{.id = 23, .name = "cond.handoff", .what = "signal to a waiter",
	 .value = CATALOGUE_COST, .needs = THREADS | PRIO, .n = 20000, .load_is_free = true,
	 .extended = true},
	{.id = 24, .name = "mq", .what = "message queue, send to receive",
	 .value = CATALOGUE_COST, .needs = THREADS | IPC, .n = 20000, .load_is_free = true,
	 .extended = true},
	{.id = 25, .name = "pipe", .what = "pipe, write to read",
	 .value = CATALOGUE_COST, .needs = THREADS | IPC, .n = 20000, .load_is_free = true,
	 .extended = true},
	{.id = 26, .name = "signal", .what = "signal, kill to handler",
	 .value = CATALOGUE_COST, .needs = THREADS | IPC, .n = 20000, .load_is_free = true,
	 .extended = true},
	{.id = 27, .name = "poll", .what = "poll, write to return",
	 .value = CATALOGUE_COST, .needs = THREADS | IPC, .n = 20000, .load_is_free = true,
	 .extended = true},
	{.id = 28, .name = "rpc", .what = "call and answer between processes",
	 .value = CATALOGUE_COST, .needs = PROCESSES | IPC, .n = 20000, .load_is_free = true,
	 .extended = true},
	{.id = 30, .name = "thread.create", .what = "create to the child's first instruction",
	 .value = CATALOGUE_COST, .needs = THREADS, .n = 5000, .load_is_free = true,
	 .implemented = true},
	{.id = 31, .name = "thread.join", .what = "join of a thread that ended",
	 .value = CATALOGUE_COST, .needs = THREADS, .n = 5000, .sample_us = 6000, .load_is_free = true,
	 .extended = true, .implemented = true},
	{.id = 32, .name = "create.join", .what = "create and join, end to end",
	 .value = CATALOGUE_COST, .needs = THREADS, .n = 5000, .load_is_free = true, .implemented = true},
	{.id = 33, .name = "spawn", .what = "posix_spawn to main of the child",
	 .value = CATALOGUE_COST, .needs = PROCESSES, .n = 500, .load_is_free = true,
	 .extended = true},
	{.id = 40, .name = "timer.oneshot", .what = "absolute timers of 100 us, 1 ms, 10 ms",
	 .value = CATALOGUE_LATENESS, .needs = TIMER, .n = 5000, .sample_us = 20000, .load_is_free = true, .implemented = true},
	{.id = 41, .name = "timer.set", .what = "create, set and cancel a timer",
	 .value = CATALOGUE_BATCH, .needs = TIMER, .n = 20000, .load_is_free = true,
	 .extended = true, .implemented = true},
	{.id = 42, .name = "clock.audit", .what = "OS clock against the counter",
	 .value = CATALOGUE_AUDIT, .needs = TIMER, .duration_ms = 20000, .implemented = true},
	{.id = 50, .name = "pi.bound", .what = "blocking time under priority inheritance",
	 .value = CATALOGUE_COST, .needs = THREADS | PRIO | PI, .n = 5000, .sample_us = 3000, .implemented = true},
	{.id = 51, .name = "pi.chain", .what = "chains of priority inheritance",
	 .value = CATALOGUE_COST, .needs = THREADS | PRIO | PI, .n = 2000, .extended = true},
	{.id = 60, .name = "malloc", .what = "malloc and free of 128 bytes",
	 .value = CATALOGUE_BATCH, .n = 20000, .load_is_free = true, .extended = true, .implemented = true},
	{.id = 70, .name = "noise", .what = "gaps in a spinning thread",
	 .value = CATALOGUE_GAPS, .needs = PRIO, .duration_ms = 60000, .implemented = true},
	{.id = 80, .name = "pipeline", .what = "staged job, a stamp a stage",
	 .value = CATALOGUE_COST, .n = 1000, .sample_us = 1000, .load_is_free = true,
	 .extended = true, .implemented = true},
	{.id = 90, .name = "containment", .what = "wild write in a victim task",
	 .value = CATALOGUE_PRICE, .needs = THREADS, .n = 1, .implemented = true},
	{.id = 95, .name = "price", .what = "time to first output, RAM, sizes",
	 .value = CATALOGUE_PRICE, .n = 1, .implemented = true},
	{.id = 98, .name = "sleep.check", .what = "timed sleeps of 1, 10, 100 ms, 1 s that must wake",
	 .value = CATALOGUE_LATENESS, .needs = TIMER, .n = 4, .implemented = true},
	{.id = 99, .name = "reference", .what = "fixed loop, pointer chase, memory bandwidth",
	 .value = CATALOGUE_REFERENCE, .n = 3, .implemented = true},
};
/* clang-format on */

static const char *const load_names[] = {
	[CATALOGUE_LOAD_IDLE] = "idle",
	[CATALOGUE_LOAD_CPU] = "cpu",
	[CATALOGUE_LOAD_CACHE] = "cache",
	[CATALOGUE_LOAD_IPC] = "ipc",
	[CATALOGUE_LOAD_LIGHT] = "light",
	[CATALOGUE_LOAD_MODERATE] = "moderate",
	[CATALOGUE_LOAD_HEAVY] = "heavy",
	[CATALOGUE_LOAD_MIXED] = "mixed",
	[CATALOGUE_LOAD_IO] = "io",
	[CATALOGUE_LOAD_RX] = "rx",
	[CATALOGUE_LOAD_THERMAL] = "thermal",
};

#define COUNT (sizeof(benches) / sizeof(benches[0]))

const struct catalogue_bench *catalogue_benches(size_t *count)
{
	*count = COUNT;
	return benches;
}

const struct catalogue_bench *catalogue_find(const char *name)
{
	for (size_t i = 0; i < COUNT; i++) {
		if (!strcmp(benches[i].name, name))
			return &benches[i];
	}
	return NULL;
}

const struct catalogue_bench *catalogue_find_id(unsigned id)
{
	for (size_t i = 0; i < COUNT; i++) {
		if (benches[i].id == id)
			return &benches[i];
	}
	return NULL;
}

const char *catalogue_load_name(enum catalogue_load load)
{
	return (unsigned)load < sizeof(load_names) / sizeof(load_names[0]) ? load_names[load] : "?";
}
