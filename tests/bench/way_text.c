/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "boardctl/monotonic.h"
#include "tests/bench/way.h"

#define VALUE_SIZE_MAX 12 /* sign, ten digits, line feed */
#define PATIENCE_MS    5000

static bool write_all(int fd, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t written = write(fd, bytes, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		bytes += written;
		size -= (size_t)written;
	}
	return true;
}

/* In the child: the exit code. */
static int send_values(int fd, const struct samples *samples)
{
	char *text = malloc(samples->count * VALUE_SIZE_MAX + 1);
	size_t size = 0;

	if (!text)
		return 1;
	for (size_t i = 0; i < samples->count; i++)
		size += (size_t)sprintf(text + size, "%d\n", samples->values[i]);
	return write_all(fd, text, size) && tcdrain(fd) == 0 ? 0 : 1;
}

static int receive_lines(
	struct bench_rig *rig, char *text, size_t capacity, size_t lines, size_t *size)
{
	struct pollfd waited = {.fd = rig->host_fd, .events = POLLIN};

	*size = 0;
	while (lines > 0) {
		ssize_t got = poll(&waited, 1, PATIENCE_MS) > 0
				      ? read(rig->host_fd, text + *size, capacity - *size)
				      : 0;

		if (got <= 0)
			return bench_rig_fail(rig, -ETIMEDOUT, "text: %zu lines never came", lines);
		for (ssize_t i = 0; i < got; i++)
			lines -= text[*size + (size_t)i] == '\n' && lines > 0;
		*size += (size_t)got;
	}
	return 0;
}

static bool is_same(const char *text, size_t size, const struct samples *samples)
{
	const char *at = text;

	for (size_t i = 0; i < samples->count; i++) {
		char *end;

		if (strtol(at, &end, 10) != samples->values[i] || *end != '\n')
			return false;
		at = end + 1;
	}
	return at == text + size;
}

int way_send_text(struct bench_rig *rig, const struct samples *samples, struct way_result *result)
{
	size_t capacity = samples->count * VALUE_SIZE_MAX + 1, size;
	char *text = calloc(1, capacity + 1);
	struct bench_counts before, after;
	int rc = text ? bench_rig_reset(rig) : -ENOMEM;
	uint64_t start_us, end_us;
	pid_t child;

	if (rc == 0)
		rc = bench_rig_count(rig, &before);
	if (rc != 0)
		goto out;
	start_us = monotonic_get_us();
	child = fork();
	if (child == 0)
		_exit(send_values(rig->board_fd, samples));
	rc = receive_lines(rig, text, capacity, samples->count, &size);
	end_us = monotonic_get_us();
	if (bench_rig_wait(rig, child, "the sender of text") != 0)
		rc = -ECHILD;
	if (rc == 0 && !is_same(text, size, samples))
		rc = bench_rig_fail(rig, -EILSEQ, "text: other values came than were sent");
	if (rc == 0)
		rc = bench_rig_count(rig, &after);
	if (rc == 0)
		*result = (struct way_result){
			.line = {after.to_host - before.to_host, after.to_board - before.to_board},
			.seconds = (double)(end_us - start_us) / 1e6};
out:
	free(text);
	return rc;
}
