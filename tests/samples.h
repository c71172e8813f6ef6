/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Series of samples from text files, and what they come to in the codec: for
 * tests and benchmarks.  Functions return 0 or a negative errno; samples_error()
 * says what was wrong.
 */
#ifndef TESTS_SAMPLES_H
#define TESTS_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

struct samples {
	int32_t *values; /* counts, allocated */
	size_t count;
	size_t clipped; /* did not fit an int32 */
	char error[256];
};

/*
 * One value in ns a line, as floor(ns * hz / 1e9) counts.  Empty lines and what
 * follows a # are skipped.  Call samples_free() in every case.
 */
int samples_read(struct samples *samples, const char *path, uint64_t hz);
void samples_free(struct samples *samples);
const char *samples_error(const struct samples *samples);

/* Order-0 entropy of all values together, in bits; negative when there is no memory. */
double samples_entropy_bits(const int32_t *values, size_t count);

/* An upper bound of the bytes that `count` values may take. */
size_t samples_bound(size_t count);

/* The whole series at once: bytes written, at most samples_bound(count). */
size_t samples_encode(const int32_t *values, size_t count, int32_t base, uint8_t *bytes);

/*
 * The whole stream at once.  The number of values, which is count, or a
 * negative enum wire_error and *offset.
 */
int samples_decode(
	const uint8_t *bytes, size_t size, int32_t *values, size_t count, uint32_t *offset);

#endif
