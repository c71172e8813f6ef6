/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every fuzz target over its seeds, damaged in many ways, and over random
 * bytes: always the same inputs.  `make fuzz` looks further.  With SEEDS=DIR it
 * only writes the seeds to DIR/<target>/.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/fuzz/fuzz.h"
#include "tests/vectors.h"

#define INPUT_MAX     8192u
#define ROUNDS	      40 /* of each seed, and of random bytes, shared by what a run costs */
#define RANDOM_ROUNDS 4000

struct visit {
	const struct fuzz_target *target;
	uint64_t state;
	unsigned int count;
	const char *directory;
};

/* In memory of exactly that size, so that a sanitizer sees what is read behind it. */
static void run(const struct fuzz_target *target, const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	memcpy(copy, bytes, size);
	target->function(copy, size);
	free(copy);
}

static size_t damage(uint8_t *bytes, size_t size, uint64_t *state)
{
	for (uint32_t times = vectors_random(state) % 4; times && size; times--) {
		size_t at = vectors_random(state) % size;

		switch (vectors_random(state) % 5) {
		case 0:
			bytes[at] ^= (uint8_t)(1 << vectors_random(state) % 8);
			break;
		case 1:
			bytes[at] = (uint8_t)vectors_random(state);
			break;
		case 2:
			size = at;
			break;
		case 3:
			memmove(bytes + at, bytes + at + 1, size - at - 1);
			size--;
			break;
		default:
			memmove(bytes + at + 1, bytes + at, size - at);
			size++;
			break;
		}
	}
	return size;
}

static int share(const struct fuzz_target *target, int rounds)
{
	return 1 + rounds / (int)target->cost;
}

static void damage_seed(void *context, const uint8_t *seed, size_t size)
{
	static uint8_t bytes[INPUT_MAX];
	struct visit *visit = context;

	run(visit->target, seed, size);
	for (int round = 0; round < share(visit->target, ROUNDS); round++) {
		ck_assert_uint_lt(size + 8, sizeof(bytes));
		memcpy(bytes, seed, size);
		run(visit->target, bytes, damage(bytes, size, &visit->state));
	}
	visit->count++;
}

START_TEST(no_damaged_seed_breaks_a_promise)
{
	struct visit visit = {.target = &fuzz_targets[_i], .state = 1};

	fuzz_visit_seeds(visit.target, damage_seed, &visit);
	ck_assert_uint_gt(visit.count, 5);
}
END_TEST

START_TEST(no_random_bytes_break_a_promise)
{
	static uint8_t bytes[512];
	uint64_t state = 2;

	for (int round = 0; round < share(&fuzz_targets[_i], RANDOM_ROUNDS); round++) {
		size_t size = vectors_random(&state) % sizeof(bytes);
		/* Some with many zeros and small numbers. */
		uint32_t mask = round % 3 ? 0xff : 0x83;

		for (size_t i = 0; i < size; i++)
			bytes[i] = (uint8_t)(vectors_random(&state) & mask);
		run(&fuzz_targets[_i], bytes, size);
	}
}
END_TEST

static void write_seed(void *context, const uint8_t *seed, size_t size)
{
	struct visit *visit = context;
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/%u", visit->directory, visit->target->name,
		visit->count++);
	file = fopen(path, "wb");
	if (!file || fwrite(seed, 1, size, file) != size || fclose(file) != 0) {
		perror(path);
		exit(EXIT_FAILURE);
	}
}

START_TEST(seeds_are_written)
{
	struct visit visit = {.target = &fuzz_targets[_i], .directory = getenv("SEEDS")};
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", visit.directory, visit.target->name);
	mkdir(path, 0777);
	fuzz_visit_seeds(visit.target, write_seed, &visit);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fuzz");
	TCase *tcase = tcase_create("fuzz");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tcase, 60);
	if (getenv("SEEDS")) {
		tcase_add_loop_test(tcase, seeds_are_written, 0, (int)fuzz_target_count);
	} else {
		tcase_add_loop_test(
			tcase, no_damaged_seed_breaks_a_promise, 0, (int)fuzz_target_count);
		tcase_add_loop_test(
			tcase, no_random_bytes_break_a_promise, 0, (int)fuzz_target_count);
	}
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
