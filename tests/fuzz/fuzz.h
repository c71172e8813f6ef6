/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz targets: each takes any bytes and ends the process by abort() when a
 * promise is broken.  tests/check_fuzz.c gives them many small inputs, `make
 * fuzz` links each to libFuzzer.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define FUZZ_EXPECT(condition) ((condition) ? (void)0 : abort())

/* As libFuzzer's: always 0. */
typedef int fuzz_function(const uint8_t *bytes, size_t size);

/* The sample codec, both ways, in pieces; an accepted stream is the only one of its values. */
fuzz_function fuzz_codec;
/* The frame reader: how a line is cut changes nothing, no byte is lost. */
fuzz_function fuzz_frame;
/* The message decoder: what it accepts is encoded to what it accepts again. */
fuzz_function fuzz_message;
/* The index, and the decoder of whole series that the host uses. */
fuzz_function fuzz_series;

#define FUZZ_KINDS_MAX 4

struct fuzz_target {
	const char *name;
	fuzz_function *function;
	const char *kinds[FUZZ_KINDS_MAX]; /* of vectors.txt that are its seeds; NULL: no more */
};

extern const struct fuzz_target fuzz_targets[];
extern const size_t fuzz_target_count;

/* Calls visit for every vector that suits the target, in the form of its input. */
void fuzz_visit_seeds(const struct fuzz_target *target,
	void (*visit)(void *context, const uint8_t *seed, size_t size), void *context);

/*
 * A piece of at most `left` bytes, its size taken from the input itself; 0 is
 * possible.  *state starts with anything.
 */
size_t fuzz_piece(uint32_t *state, size_t left);

#endif
