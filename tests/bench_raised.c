/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-raised: 1 MiB of the agent's test pattern over a line of 115200 baud
 * and raised to 1.5 Mbaud, with the asking, the first proof of the rate and the
 * way back.  At 115200 a quarter of it is pulled, and its time counts fourfold.
 */
#include <cjson/cJSON.h>
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boardctl/monotonic.h"
#include "protocol/crc32c.h"
#include "tests/bench/aims.h"
#include "tests/bench/session.h"

#define RAISED	   1500000u
#define PIECES	   16 /* of 64 KiB */
#define SLOW_PARTS 4  /* of which one is pulled */
#define AIM	   6.0

struct bench {
	struct bench_rig rig;
	struct bench_session session;
	uint8_t pattern[SERIES_PATTERN_SIZE], bytes[SERIES_PATTERN_SIZE];
	double slow_s, pull_s, raised_s; /* raised_s: all of it */
	uint32_t retries;
	bool is_json;
	const char *aims_path;
	struct aims aims;
};

static const char *usage = "usage: bench-raised [--json] [--aims FILE]\n";

static int pull(struct bench *bench, int pieces, double *seconds)
{
	uint32_t crc = crc32c_update(0, bench->pattern, sizeof(bench->pattern));
	uint64_t start_us = monotonic_get_us();

	for (int i = 0; i < pieces; i++) {
		struct peer_transfer transfer;
		int rc;

		memset(bench->bytes, 0, sizeof(bench->bytes));
		peer_transfer_init(&transfer, SERIES_WINDOW_FACTS, SERIES_ID_PATTERN,
			sizeof(bench->bytes), crc, bench->bytes);
		rc = peer_pull(bench->session.peer, &transfer);
		if (rc != 0)
			return bench_session_fail(&bench->session, rc, "pulling");
		if (memcmp(bench->bytes, bench->pattern, sizeof(bench->bytes)) != 0)
			return bench_rig_fail(&bench->rig, -EILSEQ, "another pattern came");
	}
	*seconds = (double)(monotonic_get_us() - start_us) / 1e6;
	return 0;
}

static int pull_raised(struct bench *bench)
{
	struct peer *peer = bench->session.peer;
	uint64_t start_us = monotonic_get_us();
	struct message_bauded rates;
	int rc = peer_query_rates(peer, &rates);

	if (rc == 0)
		rc = peer_raise(peer, RAISED);
	if (rc == 0)
		rc = peer_prove_rate(peer);
	if (rc != 0)
		return bench_session_fail(&bench->session, rc, "raising");
	rc = pull(bench, PIECES, &bench->pull_s);
	if (rc != 0)
		return rc;
	rc = peer_lower(peer);
	bench->raised_s = (double)(monotonic_get_us() - start_us) / 1e6;
	return rc == 0 ? 0 : bench_session_fail(&bench->session, rc, "lowering");
}

static int measure(struct bench *bench)
{
	int32_t none[1] = {0};
	const struct samples samples = {.values = none, .count = 1};
	struct peer_statistics statistics = {0};
	int rc = bench_session_open(&bench->session, &bench->rig, &samples);

	for (uint32_t at = 0; at < sizeof(bench->pattern); at++)
		bench->pattern[at] = series_pattern_byte(at);
	if (rc == 0)
		rc = pull(bench, PIECES / SLOW_PARTS, &bench->slow_s);
	bench->slow_s *= SLOW_PARTS;
	if (rc == 0)
		rc = pull_raised(bench);
	if (rc == 0)
		peer_get_statistics(bench->session.peer, &statistics);
	bench->retries = statistics.retries;
	return bench_session_close(&bench->session, rc);
}

static void print_json(const struct bench *bench)
{
	cJSON *json = cJSON_CreateObject();
	char *text;

	cJSON_AddNumberToObject(json, "bytes", PIECES * SERIES_PATTERN_SIZE);
	cJSON_AddNumberToObject(json, "console_seconds", bench->slow_s);
	cJSON_AddNumberToObject(json, "raised_seconds", bench->raised_s);
	cJSON_AddNumberToObject(json, "raised_pull_seconds", bench->pull_s);
	cJSON_AddNumberToObject(json, "retries", bench->retries);
	cJSON_AddNumberToObject(json, "aims_missed", bench->aims.missed);
	text = cJSON_PrintUnformatted(json);
	puts(text ? text : "{}");
	cJSON_free(text);
	cJSON_Delete(json);
}

static int run(struct bench *bench)
{
	int rc = bench_rig_open(&bench->rig);

	if (rc == 0)
		rc = measure(bench);
	if (rc != 0)
		fprintf(stderr, "bench-raised: %s\n", bench_rig_error(&bench->rig));
	bench_rig_close(&bench->rig);
	if (rc != 0)
		return rc;
	aims_add(&bench->aims, bench->slow_s / bench->raised_s >= AIM,
		"1 MiB raised to 1.5 Mbaud, switching and proof included, %.0f x faster: %.1f x",
		AIM, bench->slow_s / bench->raised_s);
	if (bench->is_json)
		print_json(bench);
	else
		printf("1 MiB at 115200 baud %.1f s (from a quarter), raised %.1f s, of which the "
		       "pull %.1f s; %u repeated requests\n%s",
			bench->slow_s, bench->raised_s, bench->pull_s, bench->retries,
			bench->aims.text);
	return aims_append(&bench->aims, bench->aims_path);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'},
		{"aims", required_argument, NULL, 'a'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	static struct bench bench;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'j')
			bench.is_json = true;
		else if (option == 'a')
			bench.aims_path = optarg;
		else {
			fputs(usage, option == 'h' ? stdout : stderr);
			return option == 'h' ? 0 : 2;
		}
	}
	if (optind != argc) {
		fputs(usage, stderr);
		return 2;
	}
	return run(&bench) == 0 && bench.aims.missed == 0 ? 0 : 1;
}
