/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder of a test's own.  Whatever cannot be done fails the test.
 */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <stdbool.h>
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

/*
 * A file system of its own at DIR/name, in a mount namespace of this process:
 * small enough to be filled.  False, with a word on stderr, where it is not
 * allowed to mount.  Unmount it before scratch_fini().
 */
bool scratch_mount(struct scratch *scratch, const char *name, const char *size);
void scratch_unmount(struct scratch *scratch, const char *name);

#endif
