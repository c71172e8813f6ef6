/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include "boardctl/monotonic.h"
#include "tests/bench/way.h"

#define PATIENCE_MS 60000
#define READY_MS    5000
#define LEVEL	    19 /* the strongest that needs no special decoder */

struct transfer {
	struct bench_rig *rig;
	const struct samples *samples;
	bool is_compressed;
	int inotify_fd;
	pid_t sender, receiver;
};

/* ------------------------------------------------------------- in the children */

/* A program on one end of the line; returns only where it cannot be started. */
static void run_on_line(int fd, const char *log, const char *const argv[])
{
	int log_fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	dup2(fd, STDIN_FILENO);
	dup2(fd, STDOUT_FILENO);
	if (log_fd >= 0)
		dup2(log_fd, STDERR_FILENO);
	execvp(argv[0], (char *const *)(uintptr_t)argv);
}

static bool write_file(const char *path, const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	bool is_written = fd >= 0 && write(fd, bytes, size) == (ssize_t)size;

	return fd >= 0 && close(fd) == 0 && is_written;
}

static bool make_file(const struct transfer *transfer, const char *path)
{
	const struct samples *samples = transfer->samples;
	size_t size = samples->count * sizeof(int32_t);
	void *packed;
	size_t got;

	if (!transfer->is_compressed)
		return write_file(path, samples->values, size);
	packed = malloc(ZSTD_compressBound(size));
	if (!packed)
		return false;
	got = ZSTD_compress(packed, ZSTD_compressBound(size), samples->values, size, LEVEL);
	return !ZSTD_isError(got) && write_file(path, packed, got);
}

static void run_sender(const struct transfer *transfer)
{
	char path[BENCH_PATH_SIZE], log[BENCH_PATH_SIZE];

	if (make_file(transfer, bench_rig_path(transfer->rig, "values", path)))
		run_on_line(transfer->rig->board_fd, bench_rig_path(transfer->rig, "sz.log", log),
			(const char *const[]){"sz", "-q", "-b", path, NULL});
	_exit(127);
}

static void run_receiver(const struct transfer *transfer)
{
	char path[BENCH_PATH_SIZE], log[BENCH_PATH_SIZE];

	if (chdir(bench_rig_path(transfer->rig, "received", path)) == 0)
		run_on_line(transfer->rig->host_fd, bench_rig_path(transfer->rig, "rz.log", log),
			(const char *const[]){"rz", "-q", "-b", "-y", NULL});
	_exit(127);
}

/* ------------------------------------------------------------- receiving */

static int open_received(struct transfer *transfer)
{
	char path[BENCH_PATH_SIZE];

	bench_rig_path(transfer->rig, "received", path);
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return bench_rig_fail(transfer->rig, -errno, "%s: %s", path, strerror(errno));
	transfer->inotify_fd = inotify_init1(IN_CLOEXEC);
	if (transfer->inotify_fd < 0 ||
		inotify_add_watch(transfer->inotify_fd, path, IN_CLOSE_WRITE) < 0)
		return bench_rig_fail(transfer->rig, -errno, "inotify: %s", strerror(errno));
	return 0;
}

static bool wait_readable(int fd, int timeout_ms)
{
	struct pollfd waited = {.fd = fd, .events = POLLIN};

	return poll(&waited, 1, timeout_ms) > 0;
}

/* The receiver says of its own accord that it is there. */
static int start_receiver(struct transfer *transfer)
{
	struct bench_rig *rig = transfer->rig;

	transfer->receiver = fork();
	if (transfer->receiver == 0)
		run_receiver(transfer);
	if (!wait_readable(rig->board_fd, READY_MS))
		return bench_rig_fail(
			rig, -ETIMEDOUT, "rz does not begin: is the package lrzsz installed?");
	return 0;
}

static int read_values(const struct transfer *transfer, int32_t *values, size_t size)
{
	char path[BENCH_PATH_SIZE];
	int fd = open(bench_rig_path(transfer->rig, "received/values", path), O_RDONLY | O_CLOEXEC);
	size_t capacity = ZSTD_compressBound(size) + 1;
	uint8_t *bytes = malloc(capacity);
	ssize_t got = fd >= 0 && bytes ? read(fd, bytes, capacity) : -1;

	if (fd >= 0)
		close(fd);
	if (got >= 0 && transfer->is_compressed)
		got = ZSTD_decompress(values, size, bytes, (size_t)got) == size ? (ssize_t)size
										: -1;
	else if (got == (ssize_t)size)
		memcpy(values, bytes, size);
	free(bytes);
	if (got == (ssize_t)size && memcmp(values, transfer->samples->values, size) == 0)
		return 0;
	return bench_rig_fail(transfer->rig, -EILSEQ, "zmodem: other values came than were sent");
}

/* Until the received file is closed and has the values again. */
static int send_file(struct transfer *transfer, double *seconds)
{
	size_t size = transfer->samples->count * sizeof(int32_t);
	int32_t *values = calloc(1, size + 1);
	uint64_t start_us = monotonic_get_us();
	int rc = values ? 0 : -ENOMEM;

	if (rc == 0) {
		transfer->sender = fork();
		if (transfer->sender == 0)
			run_sender(transfer);
		if (!wait_readable(transfer->inotify_fd, PATIENCE_MS))
			rc = bench_rig_fail(transfer->rig, -ETIMEDOUT, "zmodem: no file came");
	}
	if (rc == 0)
		rc = read_values(transfer, values, size);
	*seconds = (double)(monotonic_get_us() - start_us) / 1e6;
	free(values);
	return rc;
}

static int end_sender(struct transfer *transfer, int rc)
{
	if (transfer->sender <= 0)
		return rc;
	if (rc == 0)
		return bench_rig_wait(transfer->rig, transfer->sender, "sz");
	kill(transfer->sender, SIGKILL);
	waitpid(transfer->sender, NULL, 0);
	return rc;
}

/* It would wait for a farewell that sz flushes away, since a pty cannot be drained. */
static void end_receiver(struct transfer *transfer)
{
	if (transfer->receiver <= 0)
		return;
	kill(transfer->receiver, SIGTERM);
	waitpid(transfer->receiver, NULL, 0);
}

static int send_series(struct bench_rig *rig, const struct samples *samples, bool is_compressed,
	struct way_result *result)
{
	struct transfer transfer = {
		.rig = rig, .samples = samples, .is_compressed = is_compressed, .inotify_fd = -1};
	struct bench_counts before, after;
	int rc = bench_rig_reset(rig);

	if (rc == 0)
		rc = open_received(&transfer);
	if (rc == 0)
		rc = bench_rig_count(rig, &before);
	if (rc == 0)
		rc = start_receiver(&transfer);
	if (rc == 0)
		rc = send_file(&transfer, &result->seconds);
	rc = end_sender(&transfer, rc);
	end_receiver(&transfer);
	if (rc == 0)
		rc = bench_rig_count(rig, &after);
	result->encoded = 0;
	if (rc == 0)
		result->line = (struct bench_counts){
			after.to_host - before.to_host, after.to_board - before.to_board};
	if (transfer.inotify_fd >= 0)
		close(transfer.inotify_fd);
	return rc;
}

int way_send_zmodem(struct bench_rig *rig, const struct samples *samples, struct way_result *result)
{
	return send_series(rig, samples, false, result);
}

int way_send_zstd(struct bench_rig *rig, const struct samples *samples, struct way_result *result)
{
	return send_series(rig, samples, true, result);
}
