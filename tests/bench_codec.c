/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-codec FILE... --hz HZ [--json]: what series of samples, one value in ns
 * a line, come to in the codec beside their order-0 entropy.  With --aims it
 * fails when that is more than it should be for such series.
 */
#include <cjson/cJSON.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/codec.h"
#include "tests/bench/aims.h"
#include "tests/samples.h"

#define BITS_PER_BYTE_8N1 10
#define BAUD		  115200
#define AIM_TOTAL	  1.00
#define AIM_FILE	  1.04

struct row {
	const char *name;
	size_t samples;
	double entropy_bits; /* of the whole series */
	size_t bytes;
};

static const char *usage = "usage: bench-codec FILE... [--hz HZ] [--json] [--aims FILE]\n";

/* ------------------------------------------------------------------ output */

static double per_sample(double bits, size_t samples)
{
	return samples ? bits / (double)samples : 0;
}

static double ratio_of(const struct row *row)
{
	return row->entropy_bits > 0 ? 8.0 * (double)row->bytes / row->entropy_bits : 0;
}

static double seconds_of(const struct row *row)
{
	return (double)row->bytes * BITS_PER_BYTE_8N1 / BAUD;
}

static void print_row(const struct row *row)
{
	printf("%-36s %8zu %8.3f %8.3f %7.4f %9zu %8.3f\n", row->name, row->samples,
		per_sample(row->entropy_bits, row->samples),
		per_sample(8.0 * (double)row->bytes, row->samples), ratio_of(row), row->bytes,
		seconds_of(row));
}

static cJSON *make_row(const struct row *row)
{
	cJSON *json = cJSON_CreateObject();

	cJSON_AddStringToObject(json, "file", row->name);
	cJSON_AddNumberToObject(json, "samples", (double)row->samples);
	cJSON_AddNumberToObject(json, "entropy", per_sample(row->entropy_bits, row->samples));
	cJSON_AddNumberToObject(
		json, "bits_per_sample", per_sample(8.0 * (double)row->bytes, row->samples));
	cJSON_AddNumberToObject(json, "ratio", ratio_of(row));
	cJSON_AddNumberToObject(json, "bytes", (double)row->bytes);
	cJSON_AddNumberToObject(json, "seconds", seconds_of(row));
	return json;
}

static void print_json(const struct row *rows, size_t count, const struct row *total, uint64_t hz)
{
	cJSON *json = cJSON_CreateObject();
	cJSON *files = cJSON_AddArrayToObject(json, "files");
	char *text;

	cJSON_AddNumberToObject(json, "hz", (double)hz);
	for (size_t i = 0; i < count; i++)
		cJSON_AddItemToArray(files, make_row(&rows[i]));
	cJSON_AddItemToObject(json, "total", make_row(total));
	text = cJSON_PrintUnformatted(json);
	puts(text ? text : "{}");
	cJSON_free(text);
	cJSON_Delete(json);
}

static void print_table(const struct row *rows, size_t count, const struct row *total)
{
	printf("%-36s %8s %8s %8s %7s %9s %8s\n", "file", "samples", "entropy", "bits", "ratio",
		"bytes", "s@115200");
	for (size_t i = 0; i < count; i++)
		print_row(&rows[i]);
	print_row(total);
}

/* ------------------------------------------------------------------- work */

/* Encoded, and decoded again. */
static bool measure(const struct samples *samples, struct row *row)
{
	const int32_t *values = samples->values;
	uint8_t *bytes = malloc(samples_bound(samples->count));
	int32_t *back = malloc((samples->count + 1) * sizeof(*back));
	bool is_same = false;
	uint32_t offset;

	if (bytes && back) {
		row->samples = samples->count;
		row->entropy_bits = samples_entropy_bits(values, samples->count);
		row->bytes = samples_encode(
			values, samples->count, codec_find_base(values, samples->count), bytes);
		is_same = samples_decode(bytes, row->bytes, back, samples->count, &offset) ==
				  (int)samples->count &&
			  (samples->count == 0 ||
				  memcmp(back, values, samples->count * sizeof(*back)) == 0);
	}
	free(bytes);
	free(back);
	return is_same && row->entropy_bits >= 0;
}

static int measure_file(const char *path, uint64_t hz, struct row *row)
{
	const char *slash = strrchr(path, '/');
	struct samples samples;
	int rc = samples_read(&samples, path, hz);

	row->name = slash ? slash + 1 : path;
	if (rc != 0)
		fprintf(stderr, "bench-codec: %s\n", samples_error(&samples));
	else if (!measure(&samples, row)) {
		fprintf(stderr, "bench-codec: %s: does not come back as it was\n", path);
		rc = -1;
	}
	if (rc == 0 && samples.clipped)
		fprintf(stderr, "bench-codec: %s: %zu values clipped\n", path, samples.clipped);
	samples_free(&samples);
	return rc;
}

/* 0, or 1 when an aim is missed. */
static int judge(const struct row *rows, size_t count, const struct row *total, const char *path)
{
	struct aims aims = {0};
	double worst = 0;

	for (size_t i = 0; i < count; i++)
		worst = ratio_of(&rows[i]) > worst ? ratio_of(&rows[i]) : worst;
	aims_add(&aims, ratio_of(total) <= AIM_TOTAL,
		"codec at most %.2f x the entropy in total: %.4f x", AIM_TOTAL, ratio_of(total));
	aims_add(&aims, worst <= AIM_FILE, "and %.2f x for every series: %.4f x", AIM_FILE, worst);
	return aims_append(&aims, path) != 0 || aims.missed;
}

static int measure_files(
	char **paths, size_t count, uint64_t hz, bool is_json, const char *aims_path)
{
	struct row *rows = calloc(count, sizeof(*rows));
	struct row total = {.name = "total"};
	int rc = rows ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < count; i++) {
		rc = measure_file(paths[i], hz, &rows[i]);
		total.samples += rows[i].samples;
		total.entropy_bits += rows[i].entropy_bits;
		total.bytes += rows[i].bytes;
	}
	if (rc == 0 && is_json)
		print_json(rows, count, &total, hz);
	else if (rc == 0)
		print_table(rows, count, &total);
	if (rc == 0 && aims_path)
		rc = judge(rows, count, &total, aims_path);
	free(rows);
	return rc == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"hz", required_argument, NULL, 'z'},
		{"json", no_argument, NULL, 'j'},
		{"aims", required_argument, NULL, 'a'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	uint64_t hz = 24000000;
	bool is_json = false;
	const char *aims_path = NULL;
	char *end = NULL;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'z')
			hz = strtoull(optarg, &end, 10);
		else if (option == 'j')
			is_json = true;
		else if (option == 'a')
			aims_path = optarg;
		else {
			fputs(usage, option == 'h' ? stdout : stderr);
			return option == 'h' ? 0 : 2;
		}
	}
	if (optind == argc || hz == 0 || hz > 1000000000000 || (end && *end)) {
		fputs(usage, stderr);
		return 2;
	}
	return measure_files(argv + optind, (size_t)(argc - optind), hz, is_json, aims_path);
}
