/* SPDX-License-Identifier: Apache-2.0 */
/* What came of many jobs: each sample, and each byte of each console. */
#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boardctl/monotonic.h"
#include "db/query.h"
#include "tests/json_fields.h"
#include "tests/many_rig.h"

static void note_wrong(struct many_result *result, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void note_wrong(struct many_result *result, const char *format, ...)
{
	va_list args;

	if (result->wrong[0])
		return;
	va_start(args, format);
	vsnprintf(result->wrong, sizeof(result->wrong), format, args);
	va_end(args);
}

/* ------------------------------------------------------------------- samples */

static bool is_as_sent(const struct many_rig *rig, unsigned board,
	const struct query_window *window, const int32_t *samples, size_t count)
{
	if (count != rig->config.n)
		return false;
	for (size_t i = 0; i < count; i++)
		if (samples[i] != recording_value(&rig->recording, board, (uint32_t)window->seed,
					  (uint32_t)i))
			return false;
	return true;
}

static void compare_windows(struct many_rig *rig, struct store *store, const struct query_run *run,
	unsigned board, struct many_result *result)
{
	struct query_window *windows = NULL;
	int count = query_windows(store, run->id, &windows);

	for (int i = 0; i < count; i++) {
		void *samples = NULL;
		size_t size = 0;

		if (query_samples_named(store, windows[i].id, "latency", STORE_SERIES_COUNTS,
			    &samples, &size) != 0)
			note_wrong(result, "board %u, window %d: %s", board, i, store_error(store));
		else if (!is_as_sent(rig, board, &windows[i], samples, size))
			note_wrong(
				result, "board %u, window %d: not what the board sent", board, i);
		else
			result->windows++;
		free(samples);
	}
	if (count != (int)rig->config.windows)
		note_wrong(result, "board %u: %d windows are stored, not %u (%s)", board, count,
			rig->config.windows, run->reason);
	free(windows);
}

/* ------------------------------------------------------------------- console */

/* Bytes from the board in the console's log, by its marks. */
static unsigned long long count_heard(
	size_t size, const struct store_mark *marks, size_t mark_count)
{
	unsigned long long heard = 0;

	for (size_t i = 0; i < mark_count; i++)
		if (!marks[i].sent)
			heard +=
				(i + 1 < mark_count ? marks[i + 1].offset : size) - marks[i].offset;
	return heard;
}

static void compare_console(struct many_rig *rig, struct store *store, const struct query_run *run,
	unsigned board, struct many_result *result)
{
	const struct recorded_tally *tally = &rig->peer.shared->boards[board];
	unsigned long long sent = atomic_load(&tally->sent), heard;
	struct store_mark *marks = NULL;
	size_t size, mark_count;
	char *data = NULL;

	if (query_console(store, run->id, &data, &size, &marks, &mark_count) != 0) {
		note_wrong(result, "board %u: %s", board, store_error(store));
		return;
	}
	heard = count_heard(size, marks, mark_count);
	if (heard != sent)
		note_wrong(result, "board %u sent %llu bytes, %llu were heard", board, sent, heard);
	result->sent += sent;
	result->missing += sent > heard ? sent - heard : 0;
	result->refused += atomic_load(&tally->refused);
	free(data);
	free(marks);
}

/* "N frames, N damaged, N requests, N retries, ..." */
static void add_line(struct store *store, int64_t run, struct many_result *result)
{
	struct query_event *events = NULL;
	int count = query_events(store, run, &events);

	for (int i = 0; i < count; i++) {
		unsigned damaged, retries;

		if (strcmp(events[i].kind, "line") == 0 &&
			sscanf(events[i].text, "%*u frames, %u damaged, %*u requests, %u retries",
				&damaged, &retries) == 2) {
			result->damaged += damaged;
			result->retries += retries;
		}
	}
	free(events);
}

/* ---------------------------------------------------------------------- jobs */

static void compare_board(
	struct many_rig *rig, struct store *store, unsigned board, struct many_result *result)
{
	char name[32];
	struct query_run *runs = NULL;
	int count;

	snprintf(name, sizeof(name), "board%u", board);
	count = query_runs(store, &(struct query_filter){.board = name}, &runs);
	if (count != 1) {
		note_wrong(result, "board %u has %d runs", board, count);
	} else {
		result->passed += runs[0].verdict == VERDICT_PASS;
		result->invalid += runs[0].verdict == VERDICT_INVALID;
		if (runs[0].verdict != VERDICT_PASS && runs[0].verdict != VERDICT_INVALID)
			note_wrong(result, "board %u: %s: %s", board, verdict_name(runs[0].verdict),
				runs[0].reason);
		compare_windows(rig, store, &runs[0], board, result);
		compare_console(rig, store, &runs[0], board, result);
		add_line(store, runs[0].id, result);
	}
	free(runs);
}

/* utime, stime and those of children that have ended. */
static double read_family_s(pid_t pid)
{
	unsigned long long own[2] = {0}, ended[2] = {0};
	char path[64], line[1024] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	if (fgets(line, sizeof(line), file) && strrchr(line, ')'))
		sscanf(strrchr(line, ')') + 2,
			"%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu", &own[0],
			&own[1], &ended[0], &ended[1]);
	fclose(file);
	return (double)(own[0] + own[1] + ended[0] + ended[1]) / (double)sysconf(_SC_CLK_TCK);
}

void many_rig_finish(struct many_rig *rig, struct many_result *result)
{
	struct store *store = NULL;

	*result = (struct many_result){0};
	for (unsigned i = 0; i < rig->config.peer.boards; i++) {
		cJSON *job = daemon_rig_await(&rig->daemon, (int)i + 1, "done");

		if (number_of(job, "exit_code") > 1)
			note_wrong(result, "job %u ended with %d", i + 1,
				(int)number_of(job, "exit_code"));
		cJSON_Delete(job);
	}
	result->wall_s = (double)monotonic_get_us() / 1e6 - rig->begun_s;
	result->total_s = read_family_s(rig->daemon.pid);
	ck_assert_msg(
		store_open(&store, rig->daemon.lab.db, STORE_READ_ONLY | STORE_NO_CREATE) == 0,
		"%s", store_error(store));
	for (unsigned i = 0; i < rig->config.peer.boards; i++)
		compare_board(rig, store, i, result);
	store_close(store);
}

void many_rig_explain(const struct many_rig *rig, char *text, size_t size)
{
	struct query_filter filter = {.verdicts = ~(1u << VERDICT_PASS | 1u << VERDICT_RUNNING)};
	struct query_run *runs = NULL;
	struct store *store = NULL;
	int count = 0;

	snprintf(text, size, "no run has failed");
	if (store_open(&store, rig->daemon.lab.db, STORE_READ_ONLY | STORE_NO_CREATE) == 0)
		count = query_runs(store, &filter, &runs);
	/* Newest first: the first one that failed took the others with it. */
	for (int i = 0; i < count; i++)
		if (i + 1 == count || runs[i].verdict == VERDICT_LAB_FAILURE)
			snprintf(text, size, "%d runs, run %lld: %s: %s", count,
				(long long)runs[i].id, verdict_name(runs[i].verdict),
				runs[i].reason);
	free(runs);
	store_close(store);
}
