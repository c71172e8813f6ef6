/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads tests/data/vectors.txt and puts decoded messages into its words. For
 * tests only: anything wrong with the file ends the test.
 */
#ifndef TESTS_VECTORS_H
#define TESTS_VECTORS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "protocol/message.h"
#include "protocol/series.h"

struct vector {
	char kind[16]; /* "frame", "bad-body", ... */
	char type[16]; /* of bad-body */
	uint8_t bytes[4096];
	size_t size;
	char text[8192]; /* right of the bar */
	int line;
};

/* Opens the file; the caller closes it. */
FILE *vectors_open(void);

/* The next vector of that kind: 1, or 0 at the end. */
int vectors_next(FILE *file, const char *kind, struct vector *vector);

/* "HELLO seq=0 session=... field=..." */
void vectors_print_message(
	const struct frame *frame, const struct message *message, char *text, size_t capacity);

/* "id/kind/encoding/count/clipped/bytes/crc/name" */
void vectors_print_entry(const struct series_entry *entry, char *text, size_t capacity);

/* A small generator with a seed, the same everywhere. */
uint32_t vectors_random(uint64_t *state);

#endif
