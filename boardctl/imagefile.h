/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_IMAGEFILE_H
#define BOARDCTL_IMAGEFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "boardctl/fail.h"
#include "boardctl/sha256.h"

/*
 * An image of a card as a file: raw, or compressed by gzip, xz or zstd, which
 * its first bytes tell and not its name. Read from the beginning to the end.
 *
 * Errors, with their text in imagefile_error():
 *   -EINVAL   it is empty or no regular file
 *   -EBADMSG  it is damaged, breaks off, has bytes behind its end, or changed
 *   -ENOMEM ... what the system said
 */
struct imagefile;

/* *image is set even on failure (NULL only without memory); always close it. */
int imagefile_open(struct imagefile **image, const char *path);
void imagefile_close(struct imagefile *image);
const char *imagefile_error(const struct imagefile *image);

/* "raw", "gzip", "xz", "zstd" */
const char *imagefile_format(const struct imagefile *image);
bool imagefile_is_raw(const struct imagefile *image);

/* Of the file, and how many of these were read so far. */
uint64_t imagefile_size(const struct imagefile *image);
uint64_t imagefile_position(const struct imagefile *image);

/* Back to the beginning. */
int imagefile_rewind(struct imagefile *image);

/*
 * The next bytes of the content: size of them, less only at the end. The file's
 * own bytes go to hash (may be NULL) on the way; at the end all of them have.
 */
ssize_t imagefile_read(struct imagefile *image, void *buffer, size_t size, struct sha256 *hash);

/*
 * Whether the content begins as a card does that a board can boot from: whole
 * sectors, and a partition table or a boot loader where boot ROMs look for it.
 * 0, or -EINVAL with the reason. Rewinds.
 */
int imagefile_check_card(struct imagefile *image);

#endif
