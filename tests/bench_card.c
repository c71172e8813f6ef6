/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-card: how fast an image gets onto a card and is proven to be there,
 * beside `dd` with `cmp`. Both write the same file over another one on the same
 * disk, sync it, throw it out of memory and compare; turn by turn, and of
 * several rounds the best of each counts. dd knows no hash that the image should
 * have, so neither does the writer here.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boardctl/card.h"
#include "boardctl/monotonic.h"
#include "boardctl/subprocess.h"
#include "tests/bench/aims.h"
#include "tests/bench/rig.h"

#define ROUNDS	    3
#define AIM_SHARE   0.7 /* of dd's speed */
#define BLOCK_SIZE  (1u << 20)
#define PATIENCE_MS 1800000u

struct bench {
	char dir[BENCH_DIR_SIZE], image[BENCH_PATH_SIZE], card[BENCH_PATH_SIZE];
	unsigned mib;
	double own_s[ROUNDS], dd_s[ROUNDS];
};

static const char *usage_text = "usage: bench-card [--mib N] [--aims FILE]\n";

static int fail(const char *what, int error)
{
	fprintf(stderr, "bench-card: %s: %s\n", what, strerror(error < 0 ? -error : error));
	return error < 0 ? error : -error;
}

/* No two blocks alike, and nothing that a file system could leave out. */
static int make_file(const char *path, unsigned mib, uint64_t seed)
{
	uint64_t *block = malloc(BLOCK_SIZE);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	int error = !block ? ENOMEM : fd < 0 ? errno : 0;

	for (unsigned i = 0; error == 0 && i < mib; i++) {
		for (size_t k = 0; k < BLOCK_SIZE / sizeof(*block); k++)
			block[k] = seed = seed * 6364136223846793005u + 1442695040888963407u;
		if (write(fd, block, BLOCK_SIZE) != BLOCK_SIZE)
			error = errno ? errno : ENOSPC;
	}
	if (error == 0 && fsync(fd) != 0)
		error = errno;
	if (fd >= 0)
		close(fd);
	free(block);
	return error ? fail(path, error) : 0;
}

static int run_tool(const char *const argv[])
{
	char output[512];
	int status, rc = subprocess_run(argv, PATIENCE_MS, output, sizeof(output), &status);

	if (rc == 0 && status == 0)
		return 0;
	fprintf(stderr, "bench-card: %s ended with %d: %s\n", argv[0], status, output);
	return rc ? rc : -EIO;
}

static int time_dd(struct bench *bench, double *seconds)
{
	char from[BENCH_PATH_SIZE + 8], to[BENCH_PATH_SIZE + 8];
	const char *const write_it[] = {"dd", from, to, "bs=1M", "conv=fsync,notrunc", NULL};
	/* Nothing is copied: it only drops the cache of what was written. */
	const char *const drop[] = {
		"dd", "if=/dev/null", to, "oflag=nocache", "conv=notrunc,fdatasync", NULL};
	const char *const compare[] = {"cmp", bench->image, bench->card, NULL};
	uint64_t start_us = monotonic_get_us();
	int rc;

	snprintf(from, sizeof(from), "if=%s", bench->image);
	snprintf(to, sizeof(to), "of=%s", bench->card);
	rc = run_tool(write_it);
	if (rc == 0)
		rc = run_tool(drop);
	if (rc == 0)
		rc = run_tool(compare);
	*seconds = (double)(monotonic_get_us() - start_us) / 1e6;
	return rc;
}

static int time_own(struct bench *bench, double *seconds)
{
	const struct card_config config = {.device = bench->card};
	const struct card_image image = {.path = bench->image};
	uint64_t start_us = monotonic_get_us();
	struct card *card;
	int rc = card_open(&card, &config);

	if (rc == 0)
		rc = card_write_image(card, &image, NULL, NULL);
	*seconds = (double)(monotonic_get_us() - start_us) / 1e6;
	if (rc != 0)
		fprintf(stderr, "bench-card: %s\n", card_error(card));
	card_close(card);
	return rc;
}

static double best_of(const double *seconds)
{
	double best = seconds[0];

	for (int i = 1; i < ROUNDS; i++)
		best = seconds[i] < best ? seconds[i] : best;
	return best;
}

static int measure(struct bench *bench)
{
	int rc = bench_make_dir(bench->dir);

	if (rc != 0)
		return fail("cannot make a folder", rc);
	snprintf(bench->image, sizeof(bench->image), "%s/image", bench->dir);
	snprintf(bench->card, sizeof(bench->card), "%s/card", bench->dir);
	rc = make_file(bench->image, bench->mib, 1);
	if (rc == 0)
		rc = make_file(bench->card, bench->mib, 2);
	for (int i = 0; rc == 0 && i < ROUNDS; i++) {
		rc = time_dd(bench, &bench->dd_s[i]);
		if (rc == 0)
			rc = time_own(bench, &bench->own_s[i]);
	}
	bench_remove_dir(bench->dir);
	return rc;
}

static int report(const struct bench *bench, const char *aims_path)
{
	double dd_s = best_of(bench->dd_s), own_s = best_of(bench->own_s);
	struct aims aims = {.missed = 0};
	int rc;

	printf("%u MiB written and compared, best of %d: dd and cmp %.2f s (%.0f MiB/s), the writer %.2f "
	       "s (%.0f MiB/s): %.0f %% of the speed\n",
		bench->mib, ROUNDS, dd_s, bench->mib / dd_s, own_s, bench->mib / own_s,
		100 * dd_s / own_s);
	aims_add(&aims, dd_s / own_s >= AIM_SHARE,
		"an image written and verified at %.0f %% of the speed of dd with cmp (at least %.0f %%)",
		100 * dd_s / own_s, 100 * AIM_SHARE);
	rc = aims_append(&aims, aims_path);
	return rc == 0 && aims.missed == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"mib", required_argument, NULL, 'm'},
		{"aims", required_argument, NULL, 'a'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	static struct bench bench = {.mib = 1024};
	const char *aims_path = NULL;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'm')
			bench.mib = (unsigned)strtoul(optarg, NULL, 10);
		else if (option == 'a')
			aims_path = optarg;
		else {
			fputs(usage_text, option == 'h' ? stdout : stderr);
			return option == 'h' ? 0 : 2;
		}
	}
	if (optind != argc || bench.mib == 0 || bench.mib > 65536) {
		fputs(usage_text, stderr);
		return 2;
	}
	return measure(&bench) == 0 ? report(&bench, aims_path) : 1;
}
