/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder of a test's own.  Whatever cannot be done fails the test.
 */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <stddef.h>

struct scratch {
	char dir[64];
	char path[256]; /* of the last scratch_path() */
};

void scratch_init(struct scratch *scratch);

/* Removes the folder with everything in it. */
void scratch_fini(struct scratch *scratch);

/* DIR/name; valid until the next call. */
const char *scratch_path(struct scratch *scratch, const char *name);

/* Writes a file; its path as of scratch_path(). */
const char *scratch_write(
	struct scratch *scratch, const char *name, const void *bytes, size_t size);

#endif
