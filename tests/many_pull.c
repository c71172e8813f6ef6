/* SPDX-License-Identifier: Apache-2.0 */
/* What pulling all boards at once costs, as the kernel counts it. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boardctl/monotonic.h"
#include "tests/many_rig.h"

#define LOOK_US	   20000
#define PATIENCE_S 300

struct usage {
	double at_s, daemon_s, workers_s, peer_s, machine_s, bytes;
};

static double ticks_to_s(unsigned long long ticks)
{
	return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

/* Processor time of a living process, all its threads; 0 when it is gone. */
static double read_process_s(pid_t pid)
{
	unsigned long long user = 0, system = 0;
	char path[64], line[1024] = "";
	const char *at;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (fgets(line, sizeof(line), file) && (at = strrchr(line, ')')))
		sscanf(at + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
			&system);
	fclose(file);
	return ticks_to_s(user + system);
}

static double read_machine_s(void)
{
	unsigned long long user = 0, nice = 0, system = 0, irq = 0, softirq = 0;
	FILE *file = fopen("/proc/stat", "r");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "cpu %llu %llu %llu %*u %*u %llu %llu", &user, &nice, &system,
				 &irq, &softirq),
		5);
	fclose(file);
	return ticks_to_s(user + nice + system + irq + softirq);
}

/* Calls for each child of the daemon. */
static void visit_workers(
	const struct many_rig *rig, void (*visit)(void *context, pid_t pid), void *context)
{
	char path[64];
	FILE *file;
	int pid;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)rig->daemon.pid,
		(int)rig->daemon.pid);
	file = fopen(path, "r");
	ck_assert_msg(file != NULL, "%s: the kernel does not list children", path);
	while (fscanf(file, "%d", &pid) == 1)
		visit(context, pid);
	fclose(file);
}

static void add_time(void *context, pid_t pid)
{
	*(double *)context += read_process_s(pid);
}

static void look(const struct many_rig *rig, struct usage *usage)
{
	*usage = (struct usage){
		.at_s = (double)monotonic_get_us() / 1e6,
		.daemon_s = read_process_s(rig->daemon.pid),
		.peer_s = read_process_s(rig->peer.pid),
		.machine_s = read_machine_s(),
	};
	visit_workers(rig, add_time, &usage->workers_s);
	for (unsigned i = 0; i < rig->config.peer.boards; i++)
		usage->bytes += (double)atomic_load(&rig->peer.shared->boards[i].sent);
}

/* -------------------------------------------------------------------- memory */

/* A line "KEY: N kB" of a file of /proc/PID; 0 where there is none. */
static unsigned long read_kb(pid_t pid, const char *name, const char *key)
{
	char path[64], line[256];
	unsigned long kb = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	file = fopen(path, "r");
	while (file && kb == 0 && fgets(line, sizeof(line), file))
		if (strncmp(line, key, strlen(key)) == 0)
			kb = strtoul(line + strlen(key), NULL, 10);
	if (file)
		fclose(file);
	return kb;
}

static void add_memory(void *context, pid_t pid)
{
	struct many_memory *memory = context;
	unsigned long peak = read_kb(pid, "status", "VmHWM:");

	memory->worker_kb = peak > memory->worker_kb ? peak : memory->worker_kb;
	memory->workers_kb += read_kb(pid, "smaps_rollup", "Pss:");
}

static void look_at_memory(const struct many_rig *rig, struct many_memory *memory)
{
	*memory = (struct many_memory){.daemon_kb = read_kb(rig->daemon.pid, "status", "VmHWM:")};
	visit_workers(rig, add_memory, memory);
}

/* ---------------------------------------------------------------------- pull */

static bool all_began(const struct many_rig *rig, unsigned number)
{
	for (unsigned i = 0; i < rig->config.peer.boards; i++)
		if (atomic_load(&rig->peer.shared->boards[i].ran) <= number)
			return false;
	return true;
}

/* The next window is armed, or the board is off again. */
static bool any_ended(const struct many_rig *rig, unsigned number)
{
	for (unsigned i = 0; i < rig->config.peer.boards; i++) {
		const struct recorded_tally *tally = &rig->peer.shared->boards[i];

		if (atomic_load(&tally->armed) > number + 1 || !atomic_load(&tally->is_on))
			return true;
	}
	return false;
}

static void await(const struct many_rig *rig, bool (*is_so)(const struct many_rig *, unsigned),
	unsigned number, const char *what)
{
	uint64_t until_ms = monotonic_get_ms() + PATIENCE_S * 1000u;

	while (!is_so(rig, number)) {
		char why[512];

		if (monotonic_get_ms() >= until_ms) {
			many_rig_explain(rig, why, sizeof(why));
			ck_abort_msg("pull %u: %s: %s", number + 1, what, why);
		}
		usleep(LOOK_US);
	}
}

void many_rig_watch_pull(
	struct many_rig *rig, unsigned number, struct many_pull *pull, struct many_memory *memory)
{
	struct usage first, last;

	await(rig, all_began, number, "some boards never came to their window");
	look(rig, &first);
	await(rig, any_ended, number, "no board came to its end");
	look(rig, &last);
	look_at_memory(rig, memory);
	*pull = (struct many_pull){
		.wall_s = last.at_s - first.at_s,
		.daemon_s = last.daemon_s - first.daemon_s,
		.workers_s = last.workers_s - first.workers_s,
		.peer_s = last.peer_s - first.peer_s,
		.machine_s = last.machine_s - first.machine_s,
		.bytes = last.bytes - first.bytes,
	};
}
