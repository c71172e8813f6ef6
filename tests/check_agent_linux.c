/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Linux agent as a program on a real pty, driven by the host's side of the
 * protocol: one small job with every row of the catalogue.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "harness/decode.h"
#include "harness/peer.h"

#define NONCE	     0x5eedu
#define DEADLINE_MS  30000u
#define ANSWER_MS    10000
#define SERIES_LIMIT 16

struct lab {
	int host;
	int console; /* kept open here too, so that its settings outlive the agent */
	pid_t agent;
	struct termios before;
	size_t text_bytes;
	struct peer peer;
};

static struct lab lab;

static ssize_t link_read(void *context, uint8_t *bytes, size_t capacity, int timeout_ms)
{
	struct lab *at = context;
	struct pollfd waited = {.fd = at->host, .events = POLLIN};
	int ready = poll(&waited, 1, timeout_ms);
	ssize_t got;

	if (ready <= 0)
		return ready < 0 ? -errno : 0;
	got = read(at->host, bytes, capacity);
	return got < 0 ? -errno : got;
}

static int link_write(void *context, const uint8_t *bytes, size_t size)
{
	struct lab *at = context;

	return write(at->host, bytes, size) == (ssize_t)size ? 0 : -errno;
}

static uint64_t link_now_us(void *context)
{
	struct timespec now;

	(void)context;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void count_text(void *context, uint64_t when_us, const uint8_t *text, size_t size)
{
	(void)when_us;
	(void)text;
	((struct lab *)context)->text_bytes += size;
}

static const char *agent_path(char *path, size_t size)
{
	const char *build = getenv("BUILD");

	snprintf(path, size, "%s/sameboard-agent", build ? build : "build");
	return path;
}

/* Root keeps its files but may no longer lock memory or run in real time. */
static void give_up_real_time(void)
{
	const struct rlimit none = {0, 0};

	setrlimit(RLIMIT_RTPRIO, &none);
	setrlimit(RLIMIT_MEMLOCK, &none);
	prctl(PR_CAPBSET_DROP, CAP_SYS_NICE, 0, 0, 0);
	prctl(PR_CAPBSET_DROP, CAP_IPC_LOCK, 0, 0, 0);
}

static void start_agent_with(void (*before_exec)(void))
{
	const struct peer_link link = {&lab, link_read, link_write, link_now_us, NULL, NULL};
	const struct peer_events events = {&lab, count_text, NULL};
	const struct peer_config config = {.quiet_ms = 20};
	char path[256];
	const char *console;

	memset(&lab, 0, sizeof(lab));
	lab.host = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_ge(lab.host, 0);
	ck_assert_int_eq(grantpt(lab.host), 0);
	ck_assert_int_eq(unlockpt(lab.host), 0);
	console = ptsname(lab.host);
	lab.console = open(console, O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_ge(lab.console, 0);
	ck_assert_int_eq(tcgetattr(lab.console, &lab.before), 0);
	ck_assert_int_eq(access(agent_path(path, sizeof(path)), X_OK), 0);
	lab.agent = fork();
	ck_assert_int_ge(lab.agent, 0);
	if (lab.agent == 0) {
		if (before_exec)
			before_exec();
		execl(path, path, "--console", console, "--keep-settings", (char *)NULL);
		_exit(127);
	}
	peer_init(&lab.peer, &link, &events, &config);
}

static void start_agent(void)
{
	start_agent_with(NULL);
}

static void start_agent_unprivileged(void)
{
	start_agent_with(give_up_real_time);
}

static void stop_agent(void)
{
	if (lab.agent > 0) {
		kill(lab.agent, SIGKILL);
		waitpid(lab.agent, NULL, 0);
	}
	close(lab.console);
	close(lab.host);
}

#define must(call)                                                                                 \
	do {                                                                                       \
		int result = (int)(call);                                                          \
		ck_assert_msg(result >= 0, "%s: %d, %s", #call, result, peer_error(&lab.peer));    \
	} while (0)

static void open_session(void)
{
	struct message_hello hello;

	must(peer_wait_hello(&lab.peer, ANSWER_MS, &hello));
	must(peer_open_session(&lab.peer, NONCE, &hello));
	ck_assert_str_eq(hello.system, "linux");
	ck_assert_uint_gt(hello.counter_hz, 0);
}

static int wait_agent(void)
{
	int status;

	ck_assert_int_eq(waitpid(lab.agent, &status, 0), lab.agent);
	lab.agent = 0;
	return status;
}

/* ---------------------------------------------------------------- one window */

struct pulled {
	struct series_entry *entries;
	void *data[SERIES_LIMIT];
	size_t count;
	struct peer_window window;
};

static void measure(const struct message_arm *arm, struct pulled *pulled)
{
	uint32_t estimate_ms;

	memset(pulled, 0, sizeof(*pulled));
	must(peer_arm(&lab.peer, arm, &estimate_ms));
	must(peer_go(&lab.peer, arm->window, ANSWER_MS));
	must(peer_wait_done(&lab.peer, estimate_ms + DEADLINE_MS, &pulled->window));
	ck_assert_int_eq(pulled->window.done.status, 0);
	ck_assert_uint_eq(pulled->window.silence.bytes, 0);
	ck_assert_uint_gt(pulled->window.done.end, pulled->window.done.start);
	must(peer_pull_index(&lab.peer, &pulled->window.done, &pulled->entries, &pulled->count));
	ck_assert_uint_le(pulled->count, SERIES_LIMIT);
	for (size_t i = 0; i < pulled->count; i++) {
		const struct series_entry *entry = &pulled->entries[i];
		uint8_t *bytes = malloc(entry->bytes + 1);
		struct peer_transfer transfer;
		char error[160];

		must(peer_transfer_init(
			&transfer, arm->window, entry->id, entry->bytes, entry->crc, bytes));
		must(peer_pull(&lab.peer, &transfer));
		ck_assert_msg(
			decode_series(entry, bytes, &pulled->data[i], error, sizeof(error)) == 0,
			"%s", error);
		free(bytes);
	}
	must(peer_release(&lab.peer, arm->window));
}

static void forget(struct pulled *pulled)
{
	for (size_t i = 0; i < pulled->count; i++)
		free(pulled->data[i]);
	free(pulled->entries);
}

static const int32_t *find_counts(const struct pulled *pulled, const char *name, uint32_t count)
{
	for (size_t i = 0; i < pulled->count; i++) {
		if (strcmp(pulled->entries[i].name, name) == 0) {
			ck_assert_uint_eq(pulled->entries[i].kind, SERIES_KIND_COUNTS);
			ck_assert_uint_eq(pulled->entries[i].count, count);
			ck_assert_uint_eq(pulled->entries[i].clipped, 0);
			return pulled->data[i];
		}
	}
	ck_abort_msg("no series %s", name);
}

/* The value of a key in the counters, or NULL; valid until forget(). */
static const char *find_counter(const struct pulled *pulled, const char *key)
{
	char start[80];

	snprintf(start, sizeof(start), "\n%s=", key);
	for (size_t i = 0; i < pulled->count; i++) {
		const char *found;

		if (strcmp(pulled->entries[i].name, "counters") != 0)
			continue;
		found = strstr(pulled->data[i], start);
		return found ? found + strlen(start) : NULL;
	}
	return NULL;
}

static uint64_t counter_number(const struct pulled *pulled, const char *key)
{
	const char *value = find_counter(pulled, key);

	ck_assert_msg(value && *value >= '0' && *value <= '9', "no number %s", key);
	return strtoull(value, NULL, 10);
}

static void check_floors(const struct pulled *pulled)
{
	const int32_t *before = find_counts(pulled, "floor.before", 1000);
	const int32_t *after = find_counts(pulled, "floor.after", 1000);

	for (int i = 0; i < 1000; i++) {
		ck_assert_int_ge(before[i], 0);
		ck_assert_int_ge(after[i], 0);
	}
}

/* ---------------------------------------------------------------- cases */

START_TEST(a_whole_job_runs_over_a_pty)
{
	struct message_arm arm = {.window = 1, .bench = 1, .n = 50, .period_us = 1000, .seed = 7};
	struct termios after;
	struct pulled pulled;
	char *text;
	size_t size;

	open_session();
	must(peer_probe(&lab.peer, &text, &size));
	ck_assert_ptr_nonnull(strstr(text, "system=linux\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nplatform="));
	ck_assert_ptr_nonnull(strstr(text, "\nprotection=U+MMU process\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nsettings=kept\n"));
	free(text);
	must(peer_catalog(&lab.peer, &text, &size));
	ck_assert_ptr_nonnull(strstr(text, "1 wake.idle supported\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n42 clock.audit supported\n"));
	free(text);
	measure(&arm, &pulled);
	check_floors(&pulled);
	find_counts(&pulled, "cold", 10);
	find_counts(&pulled, "latency", 50);
	ck_assert_uint_eq(counter_number(&pulled, "period_us"), 1000);
	ck_assert_uint_eq(counter_number(&pulled, "uart_rx"), 0);
	forget(&pulled);
	must(peer_quit(&lab.peer));
	ck_assert_int_eq(wait_agent(), 0);
	ck_assert_int_eq(tcgetattr(lab.console, &after), 0);
	ck_assert_mem_eq(&after.c_lflag, &lab.before.c_lflag, sizeof(after.c_lflag));
	ck_assert_mem_eq(&after.c_iflag, &lab.before.c_iflag, sizeof(after.c_iflag));
	ck_assert_uint_eq(lab.text_bytes, 0);
}
END_TEST

START_TEST(wake_ups_follow_the_grid_in_both_phases)
{
	struct message_arm arm = {.window = 9, .bench = 1, .n = 100, .period_us = 500, .seed = 3};
	const int32_t *latency;
	struct pulled pulled;

	arm.flags = _i ? MESSAGE_ARM_ARBITRARY_PHASE : 0;
	open_session();
	measure(&arm, &pulled);
	latency = find_counts(&pulled, "latency", 100);
	/* The clock may be steered against the counter, but not by half a period. */
	for (int i = 0; i < 100; i++)
		ck_assert_int_gt(
			latency[i], -(int32_t)counter_number(&pulled, "period_counts") / 2);
	ck_assert_int_eq(strncmp(find_counter(&pulled, "phase"), _i ? "arb" : "ali", 3), 0);
	ck_assert_uint_gt(counter_number(&pulled, "period_counts"), 0);
	if (_i)
		ck_assert_uint_lt(counter_number(&pulled, "phase_counts"),
			counter_number(&pulled, "period_counts"));
	/* 119 periods must pass between the first and the last of 120 releases. */
	ck_assert_uint_ge(pulled.window.done.end - pulled.window.done.start,
		119 * counter_number(&pulled, "period_counts"));
	forget(&pulled);
	must(peer_quit(&lab.peer));
	ck_assert_int_eq(wait_agent(), 0);
}
END_TEST

static const struct {
	const char *name;
	uint32_t busy_ppm; /* 0: it is never idle */
	bool has_churn, has_partner;
} loads[] = {
	[MESSAGE_LOAD_IDLE] = {"idle", 0, false, false},
	[MESSAGE_LOAD_CPU] = {"cpu", 0, false, false},
	[MESSAGE_LOAD_CACHE] = {"cache", 0, true, false},
	[MESSAGE_LOAD_IPC] = {"ipc", 0, false, true},
	[MESSAGE_LOAD_LIGHT] = {"light", 250000, false, false},
	[MESSAGE_LOAD_MODERATE] = {"moderate", 500000, false, false},
	[MESSAGE_LOAD_HEAVY] = {"heavy", 750000, true, false},
	[MESSAGE_LOAD_MIXED] = {"mixed", 0, true, true},
	[MESSAGE_LOAD_IO] = {"io", 0, false, false},
	[MESSAGE_LOAD_RX] = {NULL, 0, false, false},
	[MESSAGE_LOAD_THERMAL] = {"thermal", 0, false, false},
};

/* Threads of the agent; zombies have none. */
static unsigned int count_threads(void)
{
	char path[64], line[128];
	unsigned int threads = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)lab.agent);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file))
		if (strncmp(line, "Threads:", 8) == 0)
			threads = (unsigned int)strtoul(line + 8, NULL, 10);
	fclose(file);
	return threads;
}

START_TEST(each_load_works_says_what_it_did_and_is_gone_afterwards)
{
	struct message_arm arm = {.window = 2,
		.bench = 1,
		.load = (uint8_t)_i,
		.n = 200,
		.period_us = 1000,
		.seed = 5};
	struct peer_exchange exchange;
	struct pulled pulled;

	/* Nobody has it: see a_flood_on_the_line_is_refused_with_its_reason. */
	if (!loads[_i].name)
		return;
	/* A process needs many turns of a busy processor to be made and reaped. */
	if (loads[_i].has_partner)
		arm.n = 1000;
	open_session();
	measure(&arm, &pulled);
	find_counts(&pulled, "latency", arm.n);
	ck_assert_int_eq(
		strncmp(find_counter(&pulled, "load"), loads[_i].name, strlen(loads[_i].name)), 0);
	ck_assert_uint_gt(counter_number(&pulled, "load_rounds"), 0);
	ck_assert_uint_gt(counter_number(&pulled, "load_rounds_per_s"), 0);
	if (loads[_i].has_churn)
		ck_assert_uint_eq(counter_number(&pulled, "dirty_pages"), 512);
	if (loads[_i].has_partner) {
		ck_assert_uint_gt(counter_number(&pulled, "load_pings"), 0);
		ck_assert_uint_gt(counter_number(&pulled, "load_creates"), 0);
		ck_assert_uint_gt(counter_number(&pulled, "load_forks"), 0);
	}
	if (loads[_i].busy_ppm) {
		ck_assert_uint_gt(counter_number(&pulled, "load_periods"), 5);
		/* On a machine that is busy itself a round takes long by the counter. */
		ck_assert_uint_gt(counter_number(&pulled, "load_busy_ppm"), loads[_i].busy_ppm / 2);
	}
	if (_i == MESSAGE_LOAD_HEAVY || _i == MESSAGE_LOAD_IO)
		ck_assert_uint_gt(counter_number(&pulled, "load_writes"), 0);
	if (_i == MESSAGE_LOAD_IO) {
		ck_assert_uint_gt(counter_number(&pulled, "load_syncs"), 0);
		/* Sixteen blocks, and then they are made to last. */
		ck_assert_uint_eq(counter_number(&pulled, "load_writes"),
			16 * counter_number(&pulled, "load_syncs"));
		ck_assert_ptr_nonnull(find_counter(&pulled, "load_file"));
	}
	if (_i == MESSAGE_LOAD_THERMAL)
		ck_assert_int_eq((int64_t)counter_number(&pulled, "load_threads"),
			sysconf(_SC_NPROCESSORS_ONLN) < 16 ? sysconf(_SC_NPROCESSORS_ONLN) : 16);
	forget(&pulled);
	ck_assert_uint_eq(count_threads(), 1);
	must(peer_ping(&lab.peer, &exchange));
	must(peer_quit(&lab.peer));
	ck_assert_int_eq(wait_agent(), 0);
}
END_TEST

START_TEST(the_load_works_below_the_wake_ups)
{
	struct message_arm arm = {.window = 2, .bench = 2, .n = 100, .period_us = 1000};
	struct pulled pulled;

	open_session();
	measure(&arm, &pulled);
	find_counts(&pulled, "latency", 100);
	ck_assert_int_eq(strncmp(find_counter(&pulled, "load"), "cpu\n", 4), 0);
	ck_assert_uint_gt(counter_number(&pulled, "load_rounds"), 0);
	forget(&pulled);
}
END_TEST

static const struct {
	uint8_t bench;
	uint32_t n;
	uint32_t duration_ms;
	const char *series[10];
	uint32_t counts[10];
	bool is_positive; /* an operation takes time */
} rows[] = {
	{0, 100, 0, {"floor"}, {100}, false},
	{7, 0, 100,
		{"period.100us", "period.200us", "period.500us", "period.1ms", "period.2ms",
			"period.5ms", "period.10ms"},
		{1000, 500, 200, 100, 50, 20, 10}, true},
	{10, 100, 0, {"cold", "syscall", "syscall.hot", "syscall.dirty"}, {20, 100, 100, 100},
		true},
	{11, 100, 0,
		{"cold.plain", "pair.plain", "pair.plain.hot", "pair.plain.dirty", "cold.pi",
			"pair.pi", "pair.pi.hot", "pair.pi.dirty"},
		{20, 100, 100, 100, 20, 100, 100, 100}, true},
	{12, 100, 0, {"cold", "pair", "pair.hot", "pair.dirty"}, {20, 100, 100, 100}, true},
	{13, 40, 0, {"cold", "switch", "round_trip", "switch.hot", "switch.dirty"},
		{8, 40, 40, 40, 40}, true},
	{20, 40, 0, {"cold", "handoff", "caller", "handoff.hot", "handoff.dirty"},
		{8, 40, 40, 40, 40}, true},
	{21, 40, 0, {"cold", "low", "caller", "low.hot", "low.dirty"}, {8, 40, 40, 40, 40}, true},
	{22, 40, 0,
		{"cold.plain", "handoff.plain", "caller.plain", "handoff.plain.hot",
			"handoff.plain.dirty", "cold.pi", "handoff.pi", "caller.pi",
			"handoff.pi.hot", "handoff.pi.dirty"},
		{8, 40, 40, 40, 40, 8, 40, 40, 40, 40}, true},
	{30, 40, 0, {"cold", "create", "caller", "create.hot", "create.dirty"}, {8, 40, 40, 40, 40},
		true},
	{31, 40, 0, {"cold", "join", "join.hot", "join.dirty"}, {8, 40, 40, 40}, true},
	{32, 40, 0, {"cold", "join", "join.hot", "join.dirty"}, {8, 40, 40, 40}, true},
	{40, 40, 0, {"oneshot.100us", "oneshot.1ms", "oneshot.10ms"}, {40, 40, 40}, false},
	{41, 40, 0, {"cold", "set"}, {8, 40}, true},
	{60, 40, 0, {"cold", "malloc"}, {8, 40}, true},
	{70, 0, 300, {"lost"}, {1}, false},
	{90, 1, 0, {"held.memory", "held.process", "held.thread"}, {1, 1, 1}, false},
	{95, 1, 0, {"ram_kib"}, {1}, true},
};

START_TEST(every_row_fills_its_series)
{
	struct message_arm arm = {.window = 3,
		.bench = rows[_i].bench,
		.n = rows[_i].n,
		.duration_ms = rows[_i].duration_ms,
		.settle_ms = 1};
	struct pulled pulled;

	open_session();
	measure(&arm, &pulled);
	check_floors(&pulled);
	for (int i = 0; i < 10 && rows[_i].series[i]; i++) {
		const int32_t *counts =
			find_counts(&pulled, rows[_i].series[i], rows[_i].counts[i]);

		for (uint32_t j = 0; rows[_i].is_positive && j < rows[_i].counts[i]; j++)
			ck_assert_int_gt(counts[j], 0);
	}
	forget(&pulled);
}
END_TEST

START_TEST(a_waiter_is_seen_blocked_before_each_handoff)
{
	struct message_arm arm = {.window = 4, .bench = 22, .n = 20};
	struct pulled pulled;

	open_session();
	measure(&arm, &pulled);
	ck_assert_int_eq(strncmp(find_counter(&pulled, "waiter_seen_blocked"), "yes\n", 4), 0);
	forget(&pulled);
}
END_TEST

START_TEST(a_victim_takes_its_process_with_it_and_not_the_agent)
{
	struct message_arm arm = {.window = 4, .bench = 90, .n = 1};
	struct pulled pulled;

	open_session();
	measure(&arm, &pulled);
	ck_assert_int_eq(find_counts(&pulled, "held.process", 1)[0], 1);
	ck_assert_int_eq(find_counts(&pulled, "held.thread", 1)[0], 0);
	ck_assert_int_eq(find_counts(&pulled, "held.memory", 1)[0], 0);
	ck_assert_uint_eq(counter_number(&pulled, "victim.process.signal"), SIGSEGV);
	ck_assert_uint_eq(counter_number(&pulled, "victim.thread.signal"), SIGSEGV);
	forget(&pulled);
}
END_TEST

START_TEST(inheritance_is_shown_against_an_inversion)
{
	struct message_arm arm = {.window = 4, .bench = 50, .n = 50};
	struct pulled pulled;
	uint64_t medium;
	const int32_t *counts;
	uint32_t above = 0;

	open_session();
	measure(&arm, &pulled);
	medium = counter_number(&pulled, "medium_counts");
	ck_assert_uint_ge(counter_number(&pulled, "inverted.plain"), 45);
	counts = find_counts(&pulled, "bound.plain", 50);
	for (int i = 0; i < 50; i++)
		above += counts[i] >= (int64_t)medium / 2;
	ck_assert_uint_eq(above, counter_number(&pulled, "inverted.plain"));
	/* A stall of the machine may fall into one of them, not into most. */
	ck_assert_uint_lt(counter_number(&pulled, "inverted.pi"), 25);
	forget(&pulled);
}
END_TEST

START_TEST(a_batched_pair_spans_enough_counts)
{
	struct message_arm arm = {.window = 4, .bench = 11, .n = 200};
	const int32_t *counts;
	struct pulled pulled;
	uint64_t batch;
	uint64_t sum = 0;

	open_session();
	measure(&arm, &pulled);
	batch = counter_number(&pulled, "batch.pair.plain");
	counts = find_counts(&pulled, "pair.plain", 200);
	for (int i = 0; i < 200; i++)
		sum += (uint64_t)counts[i];
	/* Either one operation of at least 20 counts, or a batch of about 200. */
	ck_assert_uint_ge(sum / 200, batch == 1 ? 10 : 100);
	forget(&pulled);
}
END_TEST

START_TEST(the_clock_audit_pairs_counter_and_clock)
{
	struct message_arm arm = {.window = 5, .bench = 42, .duration_ms = 400};
	const uint64_t *counter = NULL;
	const uint64_t *os_ns = NULL;
	struct pulled pulled;
	uint32_t points;
	double slope;

	open_session();
	measure(&arm, &pulled);
	points = (uint32_t)counter_number(&pulled, "points");
	ck_assert_uint_ge(points, 4);
	for (size_t i = 0; i < pulled.count; i++) {
		if (pulled.entries[i].kind != SERIES_KIND_STAMPS)
			continue;
		ck_assert_uint_eq(pulled.entries[i].count, points);
		if (strcmp(pulled.entries[i].name, "counter") == 0)
			counter = pulled.data[i];
		else if (strcmp(pulled.entries[i].name, "os_ns") == 0)
			os_ns = pulled.data[i];
	}
	ck_assert_ptr_nonnull(counter);
	ck_assert_ptr_nonnull(os_ns);
	for (uint32_t i = 1; i < points; i++) {
		ck_assert_uint_gt(counter[i], counter[i - 1]);
		ck_assert_uint_gt(os_ns[i], os_ns[i - 1]);
	}
	slope = (double)(counter[points - 1] - counter[0]) /
		(double)(os_ns[points - 1] - os_ns[0]) * 1e9 /
		(double)counter_number(&pulled, "counter_rate_hz");
	ck_assert_double_lt(slope, 1.001);
	ck_assert_double_gt(slope, 0.999);
	forget(&pulled);
}
END_TEST

START_TEST(timed_sleeps_wake_and_never_early)
{
	struct message_arm arm = {.window = 6, .bench = 98};
	const int32_t *counts;
	struct pulled pulled;

	open_session();
	measure(&arm, &pulled);
	counts = find_counts(&pulled, "latency", 4);
	for (int i = 0; i < 4; i++)
		ck_assert_int_gt(counts[i], 0);
	forget(&pulled);
}
END_TEST

START_TEST(the_reference_does_its_three_parts)
{
	struct message_arm arm = {.window = 7, .bench = 99, .duration_ms = 20};
	struct pulled pulled;

	open_session();
	measure(&arm, &pulled);
	for (size_t i = 0; i < pulled.count; i++) {
		const char *name = pulled.entries[i].name;

		if (strcmp(name, "integer") && strcmp(name, "chase") && strcmp(name, "bandwidth"))
			continue;
		ck_assert_uint_ge(pulled.entries[i].count, 1);
		ck_assert_int_gt(((const int32_t *)pulled.data[i])[0], 0);
	}
	ck_assert_uint_eq(counter_number(&pulled, "integer_adds"), 1048576);
	forget(&pulled);
}
END_TEST

START_TEST(too_many_samples_are_refused_with_the_number_that_fits)
{
	struct message_arm arm = {.window = 8, .bench = 1, .n = 1000000000, .period_us = 1000};
	uint32_t estimate_ms;
	uint32_t fits;

	open_session();
	ck_assert_int_eq(peer_arm(&lab.peer, &arm, &estimate_ms), -EREMOTEIO);
	ck_assert_int_eq(peer_target_error(&lab.peer)->code, WIRE_ERROR_NO_MEMORY);
	fits = peer_target_error(&lab.peer)->detail;
	ck_assert_uint_gt(fits, 1000000);
	arm.n = fits + 1;
	ck_assert_int_eq(peer_arm(&lab.peer, &arm, &estimate_ms), -EREMOTEIO);
	arm.n = fits;
	must(peer_arm(&lab.peer, &arm, &estimate_ms));
	must(peer_release(&lab.peer, 8));
}
END_TEST

START_TEST(a_flood_on_the_line_is_refused_with_its_reason)
{
	struct message_arm arm = {
		.window = 8, .bench = 1, .load = MESSAGE_LOAD_RX, .n = 10, .period_us = 1000};
	uint32_t estimate_ms;

	open_session();
	ck_assert_int_eq(peer_arm(&lab.peer, &arm, &estimate_ms), -EREMOTEIO);
	ck_assert_int_eq(peer_target_error(&lab.peer)->code, WIRE_ERROR_UNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(peer_error(&lab.peer), "the line is silent in a window"));
}
END_TEST

START_TEST(a_signal_ends_it_and_gives_the_console_back)
{
	struct termios after;
	int status;

	open_session();
	ck_assert_int_eq(kill(lab.agent, SIGTERM), 0);
	status = wait_agent();
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 3);
	ck_assert_int_eq(tcgetattr(lab.console, &after), 0);
	ck_assert_uint_eq(after.c_lflag, lab.before.c_lflag);
}
END_TEST

START_TEST(without_permission_it_measures_and_says_so)
{
	struct message_arm arm = {.window = 1, .bench = 22, .n = 20};
	struct pulled pulled;
	char *text;
	size_t size;

	open_session();
	must(peer_probe(&lab.peer, &text, &size));
	ck_assert_ptr_nonnull(strstr(text, "\ntuning.policy=SCHED_OTHER\n"));
	ck_assert_ptr_nonnull(strstr(text, "\ntuning.priority_high=0\n"));
#ifndef __SANITIZE_ADDRESS__ /* which locks nothing and says that it did */
	ck_assert_ptr_nonnull(strstr(text, "\ntuning.mlockall=not permitted\n"));
#endif
	free(text);
	measure(&arm, &pulled);
	find_counts(&pulled, "handoff.plain", 20);
	find_counts(&pulled, "handoff.pi", 20);
	forget(&pulled);
	arm = (struct message_arm){.window = 2, .bench = 2, .n = 20, .period_us = 1000};
	measure(&arm, &pulled);
	find_counts(&pulled, "latency", 20);
	forget(&pulled);
}
END_TEST

static int run_agent_with(const char *first, const char *second)
{
	char path[256];
	int status;
	pid_t child;

	agent_path(path, sizeof(path));
	child = fork();
	if (child == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execl(path, path, first, second, (char *)NULL);
		_exit(127);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

START_TEST(wrong_usage_is_told_apart_from_a_missing_console)
{
	ck_assert_int_eq(run_agent_with("--help", NULL), 0);
	ck_assert_int_eq(run_agent_with("--version", NULL), 0);
	ck_assert_int_eq(run_agent_with("--no-such-option", NULL), 2);
	ck_assert_int_eq(run_agent_with("--baud", "fast"), 2);
	ck_assert_int_eq(run_agent_with("argument", NULL), 2);
	ck_assert_int_eq(run_agent_with("--console", "/nonexistent/tty"), 3);
	ck_assert_int_eq(run_agent_with("--console", "/dev/null"), 3);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent_linux");
	TCase *jobs = tcase_create("jobs");
	TCase *unprivileged = tcase_create("unprivileged");
	TCase *usage = tcase_create("usage");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(jobs, start_agent, stop_agent);
	tcase_set_timeout(jobs, 60);
	tcase_add_test(jobs, a_whole_job_runs_over_a_pty);
	tcase_add_loop_test(jobs, wake_ups_follow_the_grid_in_both_phases, 0, 2);
	tcase_add_loop_test(
		jobs, each_load_works_says_what_it_did_and_is_gone_afterwards, 1, MESSAGE_LOADS);
	tcase_add_test(jobs, the_load_works_below_the_wake_ups);
	tcase_add_loop_test(
		jobs, every_row_fills_its_series, 0, (int)(sizeof(rows) / sizeof(rows[0])));
	tcase_add_test(jobs, a_waiter_is_seen_blocked_before_each_handoff);
	tcase_add_test(jobs, a_victim_takes_its_process_with_it_and_not_the_agent);
	tcase_add_test(jobs, inheritance_is_shown_against_an_inversion);
	tcase_add_test(jobs, a_batched_pair_spans_enough_counts);
	tcase_add_test(jobs, the_clock_audit_pairs_counter_and_clock);
	tcase_add_test(jobs, timed_sleeps_wake_and_never_early);
	tcase_add_test(jobs, the_reference_does_its_three_parts);
	tcase_add_test(jobs, too_many_samples_are_refused_with_the_number_that_fits);
	tcase_add_test(jobs, a_flood_on_the_line_is_refused_with_its_reason);
	tcase_add_test(jobs, a_signal_ends_it_and_gives_the_console_back);
	suite_add_tcase(suite, jobs);
	tcase_add_checked_fixture(unprivileged, start_agent_unprivileged, stop_agent);
	tcase_set_timeout(unprivileged, 60);
	tcase_add_test(unprivileged, without_permission_it_measures_and_says_so);
	suite_add_tcase(suite, unprivileged);
	tcase_add_test(usage, wrong_usage_is_told_apart_from_a_missing_console);
	suite_add_tcase(suite, usage);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
