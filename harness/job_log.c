/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/job_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job_log *job_logs_find(struct job_logs *logs, int64_t job)
{
	for (struct job_log *log = logs->first; log; log = log->next)
		if (log->job == job)
			return log;
	return NULL;
}

static void forget_oldest(struct job_logs *logs)
{
	struct job_log **oldest = NULL;
	unsigned count = 0;

	for (struct job_log **at = &logs->first; *at; at = &(*at)->next) {
		count++;
		if ((*at)->events.is_ended && (*at)->viewers == 0)
			oldest = at;
	}
	if (count > JOB_LOGS_MAX && oldest) {
		struct job_log *gone = *oldest;

		*oldest = gone->next;
		stream_fini(&gone->events);
		free(gone);
	}
}

struct job_log *job_logs_get(struct job_logs *logs, int64_t job)
{
	struct job_log *log = job_logs_find(logs, job);

	if (log)
		return log;
	log = calloc(1, sizeof(*log));
	if (!log)
		return NULL;
	log->job = job;
	log->next = logs->first;
	logs->first = log;
	forget_oldest(logs);
	return log;
}

void job_logs_fini(struct job_logs *logs)
{
	while (logs->first) {
		struct job_log *log = logs->first;

		logs->first = log->next;
		stream_fini(&log->events);
		free(log);
	}
}

/* ------------------------------------------------------------------ events */

/* "id: N" with N the place behind the event, always of one length. */
#define ID_FORMAT "id: %020" PRIu64 "\n"
#define ID_LENGTH 25

void job_log_add(struct job_log *log, const char *kind, const char *text)
{
	char *event = NULL, id[ID_LENGTH + 1];
	size_t size = 0;
	FILE *out;

	if (!log || log->events.is_ended)
		return;
	out = open_memstream(&event, &size);
	if (!out)
		return;
	fprintf(out, "%*s", ID_LENGTH, "");
	fprintf(out, "event: %s\n", kind);
	for (const char *line = text;;) {
		size_t length = strcspn(line, "\r\n");

		fprintf(out, "data: %.*s\n", (int)length, line);
		line += length;
		if (*line == '\0' || line[1] == '\0')
			break;
		line++;
	}
	fputc('\n', out);
	if (fclose(out) == 0) {
		snprintf(id, sizeof(id), ID_FORMAT, stream_end(&log->events) + size);
		memcpy(event, id, ID_LENGTH);
		stream_append(&log->events, event, size);
	}
	free(event);
}

void job_log_end(struct job_log *log, const char *text)
{
	if (!log)
		return;
	job_log_add(log, "end", text);
	log->events.is_ended = true;
}

static bool is_boundary(const struct stream *events, uint64_t place)
{
	size_t offset;

	if (place < events->start || place > stream_end(events))
		return false;
	offset = (size_t)(place - events->start);
	if (place == 0)
		return true;
	return offset >= 2 && memcmp(events->data + offset - 2, "\n\n", 2) == 0;
}

uint64_t job_log_find_place(const struct job_log *log, uint64_t last_id)
{
	const struct stream *events = &log->events;

	if (is_boundary(events, last_id))
		return last_id;
	for (uint64_t place = events->start; place < stream_end(events); place++)
		if (is_boundary(events, place))
			return place;
	return stream_end(events);
}
