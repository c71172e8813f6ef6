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

struct watcher_rules;

#define FUZZ_EXPECT(condition) ((condition) ? (void)0 : fuzz_fail(__FILE__, __LINE__, #condition))

/* Says so, and aborts. */
void fuzz_fail(const char *file, int line, const char *condition) __attribute__((noreturn));

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
/* Files that people write: lab, suite, manifest, any document; errors name file, line and key. */
fuzz_function fuzz_document;
/* `wire decode`: every byte is explained once, however the capture is cut. */
fuzz_function fuzz_wire;
/* The console's line to text and frames, and on to the watcher: no cut changes them. */
fuzz_function fuzz_console;
/* A target that answers what it likes, and a host that must end with what it was told or an error.
 */
fuzz_function fuzz_peer;
/* The boot watcher and its rules: no cut changes the verdict. */
fuzz_function fuzz_watcher;
/* What a loader, or a relay, may answer. */
fuzz_function fuzz_loader;
/* A damaged or foreign database: read to its end, or an error. */
fuzz_function fuzz_store;
/* The daemon's HTTP, the real library with it: no change without the token. */
fuzz_function fuzz_http;

/* Takes one seed after the other, which stay the caller's. */
typedef void fuzz_visit(void *context, const uint8_t *seed, size_t size);
typedef void fuzz_seeder(fuzz_visit *visit, void *context);

fuzz_seeder fuzz_document_seeds;
fuzz_seeder fuzz_console_seeds;
fuzz_seeder fuzz_peer_seeds;
fuzz_seeder fuzz_watcher_seeds;
fuzz_seeder fuzz_loader_seeds;
fuzz_seeder fuzz_store_seeds;
fuzz_seeder fuzz_http_seeds;

#define FUZZ_KINDS_MAX 4

struct fuzz_target {
	const char *name;
	fuzz_function *function;
	const char *kinds[FUZZ_KINDS_MAX]; /* of vectors.txt that are its seeds; NULL: no more */
	fuzz_seeder *seeds;		   /* others; NULL: none */
	unsigned int cost;		   /* of one run, beside that of a quick one, at least 1 */
};

extern const struct fuzz_target fuzz_targets[];
extern const size_t fuzz_target_count;

/* Calls visit for every seed of the target: vectors in the form of its input, and its own. */
void fuzz_visit_seeds(const struct fuzz_target *target, fuzz_visit *visit, void *context);

/* An input that is taken apart; past its end everything is 0. */
struct fuzz_input {
	const uint8_t *bytes;
	size_t left;
};

uint8_t fuzz_take_byte(struct fuzz_input *input);
uint16_t fuzz_take_half(struct fuzz_input *input);
uint32_t fuzz_take_word(struct fuzz_input *input);
/* At most `size` bytes, *got of them, which stay part of the input. */
const uint8_t *fuzz_take_bytes(struct fuzz_input *input, size_t size, size_t *got);

/*
 * From begin to end the time that boardctl/ sees is the target's own: it passes
 * only as it says, and by sleeping.
 */
void fuzz_clock_begin(void);
void fuzz_clock_pass(uint64_t us);
void fuzz_clock_end(void);

/* Fails unless the text is UTF-8 without control characters: fit for a terminal and for JSON. */
void fuzz_expect_line(const char *text);

/* The built-in rules of the boot watcher, opened once. */
const struct watcher_rules *fuzz_rules(void);

/*
 * A piece of at most `left` bytes, its size taken from the input itself; 0 is
 * possible.  *state starts with anything.
 */
size_t fuzz_piece(uint32_t *state, size_t left);

#endif
