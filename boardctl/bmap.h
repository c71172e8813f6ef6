/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_BMAP_H
#define BOARDCTL_BMAP_H

#include <stddef.h>
#include <stdint.h>

#include "boardctl/sha256.h"

/*
 * A block map (bmaptool's format 2): which blocks of an image have content, and
 * the SHA-256 of each range of them. Only these are written.
 *
 * Errors, with a text: -EINVAL for what is no such map, -EBADMSG when the map's
 * own checksum is wrong, or what the system said.
 */
struct bmap_range {
	uint64_t start, size;	      /* bytes */
	char sha256[SHA256_HEX_SIZE]; /* "" = not given */
};

struct bmap {
	uint64_t image_bytes;
	struct bmap_range *ranges; /* ascending, not overlapping */
	size_t count;
};

/* bmap_free() in every case. */
int bmap_read(struct bmap *bmap, const char *path, char *error, size_t error_size);
void bmap_free(struct bmap *bmap);

#endif
