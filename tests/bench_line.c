/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-line FILE...: the same series over the same line of 115200 baud by text,
 * by zmodem and as a window of ours, in seconds from the sender's start to the
 * receiver's last byte; ours from the last release to COMMIT, the middle one of
 * three times, since it is held to a bound.
 */
#include <cjson/cJSON.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/aims.h"
#include "tests/bench/way.h"

#define BOUND_FACTOR 1.06
#define BOUND_S	     0.060
#define OURS_TIMES   3

enum { WAY_TEXT, WAY_ZMODEM, WAY_ZSTD, WAY_OURS, WAYS };

static const struct {
	const char *name;
	int (*send)(
		struct bench_rig *rig, const struct samples *samples, struct way_result *result);
	double aim; /* ours is to be so many times faster; 0: it is ours */
} ways[WAYS] = {
	[WAY_TEXT] = {"text, decimal and LF", way_send_text, 3.5},
	[WAY_ZMODEM] = {"zmodem, 32-bit", way_send_zmodem, 3.5},
	[WAY_ZSTD] = {"zmodem, zstd -19", way_send_zstd, 1.2},
	[WAY_OURS] = {"ours, to COMMIT", way_send_window, 0},
};

struct row {
	const char *name;
	size_t samples;
	struct way_result results[WAYS];
};

struct bench {
	struct bench_rig rig;
	struct row *rows, total;
	size_t count;
	uint64_t hz;
	bool is_json, is_ours_only;
	const char *aims_path;
	double worst; /* of ours to its bound */
	struct aims aims;
};

static const char *usage = "usage: bench-line FILE... [--hz HZ] [--ours] [--json] [--aims FILE]\n";

static bool is_left_out(const struct bench *bench, int way)
{
	return bench->is_ours_only && way != WAY_OURS;
}

static double bound_s(const struct way_result *ours)
{
	return BOUND_FACTOR * (double)ours->encoded * BENCH_BYTE_US / 1e6 + BOUND_S;
}

static double slowness(const struct row *row, int way)
{
	return row->results[way].seconds / row->results[WAY_OURS].seconds;
}

/* ------------------------------------------------------------------ output */

static void print_row(const struct bench *bench, const struct row *row)
{
	const struct way_result *ours = &row->results[WAY_OURS];

	printf("%s, %zu samples\n", row->name, row->samples);
	for (int way = 0; way < WAYS; way++) {
		const struct way_result *result = &row->results[way];

		if (!is_left_out(bench, way))
			printf("  %-22s %9llu %9llu %9.3f %7.2f\n", ways[way].name,
				(unsigned long long)result->line.to_host,
				(unsigned long long)result->line.to_board, result->seconds,
				slowness(row, way));
	}
	if (row != &bench->total)
		printf("  %zu bytes encoded: %.3f s of at most %.3f s, %.1f %%\n", ours->encoded,
			ours->seconds, bound_s(ours), 100 * ours->seconds / bound_s(ours));
	fflush(stdout);
}

static cJSON *make_row(const struct bench *bench, const struct row *row)
{
	cJSON *json = cJSON_CreateObject();
	cJSON *list = cJSON_AddArrayToObject(json, "ways");
	const struct way_result *ours = &row->results[WAY_OURS];

	cJSON_AddStringToObject(json, "file", row->name);
	cJSON_AddNumberToObject(json, "samples", (double)row->samples);
	cJSON_AddNumberToObject(json, "encoded_bytes", (double)ours->encoded);
	if (row != &bench->total)
		cJSON_AddNumberToObject(json, "bound_seconds", bound_s(ours));
	for (int way = 0; way < WAYS; way++) {
		const struct way_result *result = &row->results[way];
		cJSON *item = is_left_out(bench, way) ? NULL : cJSON_CreateObject();

		if (!item)
			continue;
		cJSON_AddStringToObject(item, "way", ways[way].name);
		cJSON_AddNumberToObject(item, "bytes_to_host", (double)result->line.to_host);
		cJSON_AddNumberToObject(item, "bytes_to_board", (double)result->line.to_board);
		cJSON_AddNumberToObject(item, "seconds", result->seconds);
		cJSON_AddNumberToObject(item, "times_slower", slowness(row, way));
		cJSON_AddItemToArray(list, item);
	}
	return json;
}

static void print_json(const struct bench *bench)
{
	cJSON *json = cJSON_CreateObject();
	cJSON *files = cJSON_AddArrayToObject(json, "files");
	char *text;

	cJSON_AddNumberToObject(json, "hz", (double)bench->hz);
	cJSON_AddNumberToObject(json, "baud", BENCH_BAUD);
	for (size_t i = 0; i < bench->count; i++)
		cJSON_AddItemToArray(files, make_row(bench, &bench->rows[i]));
	cJSON_AddItemToObject(json, "total", make_row(bench, &bench->total));
	cJSON_AddNumberToObject(json, "worst_of_bound", bench->worst);
	cJSON_AddNumberToObject(json, "aims_missed", bench->aims.missed);
	text = cJSON_PrintUnformatted(json);
	puts(text ? text : "{}");
	cJSON_free(text);
	cJSON_Delete(json);
}

/* ------------------------------------------------------------------- work */

/* Nothing may be faster than its bytes on the line. */
static int check_pace(struct bench_rig *rig, const char *name, const struct way_result *result)
{
	double least_s = (double)result->line.to_host * BENCH_BYTE_US / 1e6;

	/* The end of a zmodem session comes after its file. */
	if (result->seconds >= least_s - 0.01)
		return 0;
	return bench_rig_fail(rig, -1, "%s: %llu bytes in %.3f s are faster than the line", name,
		(unsigned long long)result->line.to_host, result->seconds);
}

static void add_to_total(struct row *total, const struct row *row)
{
	total->samples += row->samples;
	for (int way = 0; way < WAYS; way++) {
		struct way_result *sum = &total->results[way];
		const struct way_result *result = &row->results[way];

		sum->line.to_host += result->line.to_host;
		sum->line.to_board += result->line.to_board;
		sum->seconds += result->seconds;
		sum->encoded += result->encoded;
	}
}

static int compare_seconds(const void *a, const void *b)
{
	double x = ((const struct way_result *)a)->seconds;
	double y = ((const struct way_result *)b)->seconds;

	return (x > y) - (x < y);
}

static int measure_way(
	struct bench *bench, int way, const struct samples *samples, struct way_result *result)
{
	struct way_result results[OURS_TIMES];
	int times = way == WAY_OURS ? OURS_TIMES : 1;
	int rc = 0;

	for (int i = 0; rc == 0 && i < times; i++) {
		rc = ways[way].send(&bench->rig, samples, &results[i]);
		if (rc == 0)
			rc = check_pace(&bench->rig, ways[way].name, &results[i]);
	}
	if (rc != 0)
		return rc;
	qsort(results, (size_t)times, sizeof(results[0]), compare_seconds);
	*result = results[times / 2];
	return 0;
}

static int measure_file(struct bench *bench, const char *path, struct row *row)
{
	const char *slash = strrchr(path, '/');
	struct samples samples;
	double reached;
	int rc = samples_read(&samples, path, bench->hz);

	if (rc != 0)
		bench_rig_fail(&bench->rig, rc, "%s", samples_error(&samples));
	row->name = slash ? slash + 1 : path;
	row->samples = samples.count;
	for (int way = 0; rc == 0 && way < WAYS; way++)
		if (!is_left_out(bench, way))
			rc = measure_way(bench, way, &samples, &row->results[way]);
	samples_free(&samples);
	if (rc != 0)
		return rc;
	reached = row->results[WAY_OURS].seconds / bound_s(&row->results[WAY_OURS]);
	bench->worst = reached > bench->worst ? reached : bench->worst;
	add_to_total(&bench->total, row);
	if (!bench->is_json)
		print_row(bench, row);
	return 0;
}

static void judge(struct bench *bench)
{
	aims_add(&bench->aims, bench->worst <= 1,
		"release to COMMIT at most 1.06 x bytes x 86.8 us + 60 ms: %.1f %% of it at most",
		100 * bench->worst);
	for (int way = 0; way < WAY_OURS; way++)
		if (!is_left_out(bench, way))
			aims_add(&bench->aims, slowness(&bench->total, way) >= ways[way].aim,
				"%.1f x faster than %s: %.2f x", ways[way].aim, ways[way].name,
				slowness(&bench->total, way));
}

static int run(struct bench *bench, char **paths)
{
	int rc = bench_rig_open(&bench->rig);

	if (rc == 0 && !bench->is_json)
		printf("%-24s %9s %9s %9s %7s\n", "at 115200 baud, 8N1", "to host", "to board",
			"seconds", "x ours");
	for (size_t i = 0; rc == 0 && i < bench->count; i++)
		rc = measure_file(bench, paths[i], &bench->rows[i]);
	if (rc == 0) {
		judge(bench);
		if (bench->is_json)
			print_json(bench);
		else
			print_row(bench, &bench->total);
		if (!bench->is_json)
			fputs(bench->aims.text, stdout);
		rc = aims_append(&bench->aims, bench->aims_path);
	} else {
		fprintf(stderr, "bench-line: %s\n", bench_rig_error(&bench->rig));
	}
	bench_rig_close(&bench->rig);
	return rc == 0 && bench->aims.missed == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"hz", required_argument, NULL, 'z'},
		{"ours", no_argument, NULL, 'o'},
		{"json", no_argument, NULL, 'j'},
		{"aims", required_argument, NULL, 'a'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	static struct bench bench = {.hz = 24000000, .total.name = "total"};
	char *end = NULL;
	int option, rc;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'z')
			bench.hz = strtoull(optarg, &end, 10);
		else if (option == 'o')
			bench.is_ours_only = true;
		else if (option == 'j')
			bench.is_json = true;
		else if (option == 'a')
			bench.aims_path = optarg;
		else {
			fputs(usage, option == 'h' ? stdout : stderr);
			return option == 'h' ? 0 : 2;
		}
	}
	bench.count = (size_t)(argc - optind);
	if (bench.count == 0 || bench.hz == 0 || bench.hz > 1000000000000 || (end && *end)) {
		fputs(usage, stderr);
		return 2;
	}
	bench.rows = calloc(bench.count, sizeof(*bench.rows));
	rc = bench.rows ? run(&bench, argv + optind) : 1;
	free(bench.rows);
	return rc;
}
