/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-store FILE...: how long it takes to store a run of 6,000,000 samples,
 * beside a plain copy of the same bytes.  The samples of all files, one after
 * the other and over again, are windows as they come over the wire; each is
 * checked, decoded, summarised and stored in one transaction, as the harness
 * does it.  Of several rounds the best one counts: whatever else the machine
 * does can only add to it.
 */
#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "boardctl/monotonic.h"
#include "harness/decode.h"
#include "protocol/codec.h"
#include "protocol/crc32c.h"
#include "tests/bench/aims.h"
#include "tests/bench/rig.h"
#include "tests/bench/stored.h"
#include "tests/samples.h"

#define HZ	      24000000
#define SAMPLES	      6000000u
#define WINDOW_MAX    100000u /* what a suite may ask for */
#define ROUNDS	      5
#define AIM_S	      2.0
#define AIM_BYTES     200e6
#define BYTES_PER_KIB 1024.0

struct window {
	struct series_entry entry;
	uint8_t *bytes;	       /* as encoded */
	const int32_t *values; /* the same again */
};

struct bench {
	char dir[BENCH_DIR_SIZE];
	char path[BENCH_PATH_SIZE];
	int32_t *values;
	size_t value_count;
	struct window *windows;
	size_t window_count;
	uint32_t window_samples;
	double store_s[ROUNDS], copy_s[ROUNDS];
	double file_bytes, memory_bytes;
	bool is_json;
	const char *aims_path;
	struct aims aims;
};

static const char *usage_text =
	"usage: bench-store FILE... [--window SAMPLES] [--json] [--aims FILE]\n";

static int fail(const char *what, int error)
{
	fprintf(stderr, "bench-store: %s: %s\n", what, strerror(error < 0 ? -error : error));
	return error < 0 ? error : -error;
}

/* ------------------------------------------------------------- preparation */

static int read_values(struct bench *bench, char **paths, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct samples samples;
		int rc = samples_read(&samples, paths[i], HZ);
		int32_t *values =
			rc == 0 ? realloc(bench->values,
					  (bench->value_count + samples.count) * sizeof(*values))
				: NULL;

		if (values) {
			memcpy(values + bench->value_count, samples.values,
				samples.count * sizeof(*values));
			bench->values = values;
			bench->value_count += samples.count;
		} else {
			fprintf(stderr, "bench-store: %s\n",
				rc ? samples_error(&samples) : "out of memory");
		}
		samples_free(&samples);
		if (!values)
			return -ENOMEM;
	}
	if (bench->value_count >= bench->window_samples)
		return 0;
	fprintf(stderr, "bench-store: %zu samples are no window\n", bench->value_count);
	return -EINVAL;
}

/* Encoded as the agent does it. */
static int make_window(struct bench *bench, struct window *window, size_t number, uint8_t *spare)
{
	size_t starts = bench->value_count - bench->window_samples + 1;
	size_t count = bench->window_samples;
	size_t size;

	window->values = bench->values + number * count % starts;
	size = samples_encode(
		window->values, count, codec_find_base(window->values, (uint32_t)count), spare);
	window->bytes = malloc(size);
	if (!window->bytes)
		return -ENOMEM;
	memcpy(window->bytes, spare, size);
	window->entry = (struct series_entry){.id = 1,
		.kind = SERIES_KIND_COUNTS,
		.encoding = SERIES_ENCODING_CODED,
		.count = (uint32_t)count,
		.bytes = (uint32_t)size,
		.crc = crc32c_update(0, spare, size),
		.name = "latency"};
	return 0;
}

static int make_windows(struct bench *bench)
{
	uint8_t *spare = malloc(samples_bound(bench->window_samples));
	int rc = 0;

	bench->window_count = SAMPLES / bench->window_samples;
	bench->windows = calloc(bench->window_count, sizeof(*bench->windows));
	if (!spare || !bench->windows)
		rc = -ENOMEM;
	for (size_t i = 0; rc == 0 && i < bench->window_count; i++)
		rc = make_window(bench, &bench->windows[i], i, spare);
	free(spare);
	return rc == 0 ? 0 : fail("windows", rc);
}

/* ------------------------------------------------------------- the store */

static int keep_window(struct stored *stored, const struct window *window, unsigned number)
{
	struct run_series series = {.entry = window->entry};
	struct run_window pulled = {.plan = &stored->plan,
		.number = number,
		.started_ms = store_now_ms(),
		.ended_ms = store_now_ms(),
		.series = &series,
		.series_count = 1,
		.counters = ""};
	char error[160];
	int rc;

	if (crc32c_update(0, window->bytes, window->entry.bytes) != window->entry.crc)
		return -EBADMSG;
	rc = decode_series(&series.entry, window->bytes, &series.data, error, sizeof(error));
	if (rc == 0)
		rc = run_window_store(&stored->run, &pulled);
	free(series.data);
	return rc;
}

static int keep_all(struct bench *bench, struct stored *stored)
{
	for (size_t i = 0; i < bench->window_count; i++) {
		int rc = keep_window(stored, &bench->windows[i], (unsigned)i + 1);

		if (rc != 0)
			return rc;
	}
	return 0;
}

static double file_size(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 ? (double)info.st_size : 0;
}

static double memory_bytes(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss * BYTES_PER_KIB;
}

static int check_all(const struct bench *bench, struct stored *stored)
{
	for (size_t i = 0; i < bench->window_count; i++)
		if (!stored_has(stored, (unsigned)i + 1, bench->windows[i].values,
			    bench->window_samples))
			return -EILSEQ;
	return 0;
}

static int measure_store(struct bench *bench, int round)
{
	static struct stored stored;
	uint64_t start_us;
	int rc;

	snprintf(bench->path, sizeof(bench->path), "%s/%d.db", bench->dir, round);
	rc = stored_open(&stored, bench->path, bench->window_samples);
	start_us = monotonic_get_us();
	if (rc == 0)
		rc = keep_all(bench, &stored);
	bench->store_s[round] = (double)(monotonic_get_us() - start_us) / 1e6;
	bench->memory_bytes = memory_bytes();
	if (rc == 0)
		rc = check_all(bench, &stored);
	if (rc != 0)
		fprintf(stderr, "bench-store: %s\n",
			rc == -EILSEQ ? "what is stored is something else" : stored_error(&stored));
	stored_close(&stored);
	bench->file_bytes = file_size(bench->path);
	return rc;
}

/* The raw values of all windows into one file, and onto the disk. */
static int measure_copy(struct bench *bench, int round)
{
	size_t size = bench->window_samples * sizeof(int32_t);
	uint64_t start_us = monotonic_get_us();
	int rc = 0;
	int fd;

	snprintf(bench->path, sizeof(bench->path), "%s/%d.raw", bench->dir, round);
	fd = open(bench->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	for (size_t i = 0; fd >= 0 && rc == 0 && i < bench->window_count; i++)
		if (write(fd, bench->windows[i].values, size) != (ssize_t)size)
			rc = -EIO;
	if (fd < 0 || fsync(fd) != 0 || close(fd) != 0)
		rc = -errno;
	bench->copy_s[round] = (double)(monotonic_get_us() - start_us) / 1e6;
	return rc == 0 ? 0 : fail(bench->path, rc);
}

/* ------------------------------------------------------------------ output */

static double find_least(const double *seconds)
{
	double least = seconds[0];

	for (int i = 1; i < ROUNDS; i++)
		least = seconds[i] < least ? seconds[i] : least;
	return least;
}

static double find_most(const double *seconds)
{
	double most = seconds[0];

	for (int i = 1; i < ROUNDS; i++)
		most = seconds[i] > most ? seconds[i] : most;
	return most;
}

static void print_table(const struct bench *bench)
{
	double raw = (double)bench->window_count * bench->window_samples * sizeof(int32_t);

	printf("%zu windows of %u samples, %d rounds\n", bench->window_count, bench->window_samples,
		ROUNDS);
	printf("  store      %6.3f to %.3f s, %.1f MB in the database, peak memory %.1f MB\n",
		find_least(bench->store_s), find_most(bench->store_s), bench->file_bytes / 1e6,
		bench->memory_bytes / 1e6);
	printf("  plain copy %6.3f to %.3f s, %.1f MB\n", find_least(bench->copy_s),
		find_most(bench->copy_s), raw / 1e6);
	fputs(bench->aims.text, stdout);
}

static void print_json(const struct bench *bench)
{
	cJSON *json = cJSON_CreateObject();
	char *text;

	cJSON_AddNumberToObject(json, "windows", (double)bench->window_count);
	cJSON_AddNumberToObject(json, "window_samples", bench->window_samples);
	cJSON_AddItemToObject(
		json, "store_seconds", cJSON_CreateDoubleArray(bench->store_s, ROUNDS));
	cJSON_AddItemToObject(json, "copy_seconds", cJSON_CreateDoubleArray(bench->copy_s, ROUNDS));
	cJSON_AddNumberToObject(json, "database_bytes", bench->file_bytes);
	cJSON_AddNumberToObject(json, "peak_memory_bytes", bench->memory_bytes);
	cJSON_AddNumberToObject(json, "aims_missed", bench->aims.missed);
	text = cJSON_PrintUnformatted(json);
	puts(text ? text : "{}");
	cJSON_free(text);
	cJSON_Delete(json);
}

static int run(struct bench *bench, char **paths, size_t count)
{
	int rc = read_values(bench, paths, count);

	if (rc == 0)
		rc = make_windows(bench);
	if (rc == 0 && (rc = bench_make_dir(bench->dir)) != 0)
		fail("a folder beside the program", rc);
	/* What else the machine does is not what is measured; it may not be permitted. */
	sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
	for (int round = 0; rc == 0 && round < ROUNDS; round++) {
		rc = measure_copy(bench, round);
		if (rc == 0)
			rc = measure_store(bench, round);
	}
	bench_remove_dir(bench->dir);
	if (rc != 0)
		return rc;
	aims_add(&bench->aims, find_least(bench->store_s) < AIM_S,
		"6,000,000 samples stored in less than 2 s: %.2f s (a plain copy %.2f s)",
		find_least(bench->store_s), find_least(bench->copy_s));
	aims_add(&bench->aims, bench->memory_bytes < AIM_BYTES,
		"and with less than 200 MB of memory: %.0f MB", bench->memory_bytes / 1e6);
	if (bench->is_json)
		print_json(bench);
	else
		print_table(bench);
	return aims_append(&bench->aims, bench->aims_path);
}

static void fini(struct bench *bench)
{
	for (size_t i = 0; bench->windows && i < bench->window_count; i++)
		free(bench->windows[i].bytes);
	free(bench->windows);
	free(bench->values);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"window", required_argument, NULL, 'w'},
		{"json", no_argument, NULL, 'j'},
		{"aims", required_argument, NULL, 'a'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	static struct bench bench = {.window_samples = WINDOW_MAX};
	int option, rc;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'w')
			bench.window_samples = (uint32_t)strtoul(optarg, NULL, 10);
		else if (option == 'j')
			bench.is_json = true;
		else if (option == 'a')
			bench.aims_path = optarg;
		else {
			fputs(usage_text, option == 'h' ? stdout : stderr);
			return option == 'h' ? 0 : 2;
		}
	}
	if (optind == argc || bench.window_samples < 100 || bench.window_samples > WINDOW_MAX ||
		SAMPLES % bench.window_samples != 0) {
		fputs(usage_text, stderr);
		return 2;
	}
	rc = run(&bench, argv + optind, (size_t)(argc - optind));
	fini(&bench);
	return rc == 0 && bench.aims.missed == 0 ? 0 : 1;
}
