/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_DOWNLOAD_H
#define BOARDCTL_DOWNLOAD_H

#include <stddef.h>
#include <stdint.h>

/*
 * An image from the network, by libcurl, into a cache by its SHA-256: what is
 * there with the right hash is not fetched again, what broke off goes on where
 * it was, also in a later call. Nothing is trusted but the hash.
 */
struct download {
	const char *url;    /* http or https */
	const char *sha256; /* 64 hex digits, required */
	const char *folder; /* of the cache; it is made */
	unsigned stall_ms;  /* give up when nothing comes for so long; 0 = 60000 */
	void (*see)(void *ctx, uint64_t done_bytes, uint64_t total_bytes); /* may be NULL */
	void *ctx;
	int (*check)(void *ctx); /* a negative errno ends it; may be NULL */
};

/*
 * The file's path to path[size]. 0, or with a text in error[error_size], which
 * has no password of the url:
 *   -EINVAL     no such url, or no SHA-256
 *   -EBADMSG    what came has another SHA-256; it is thrown away
 *   -ENOENT     the server has no such file
 *   -EACCES     it refuses
 *   -ETIMEDOUT  it stalled; -EIO it broke off again and again
 *   -EBUSY      another process is fetching it
 */
int download_fetch(
	const struct download *download, char *path, size_t size, char *error, size_t error_size);

#endif
