/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_SHA256_H
#define BOARDCTL_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_HEX_SIZE 65 /* 64 lower-case digits and the end */

struct sha256;

/* NULL without memory. sha256_free() it. */
struct sha256 *sha256_new(void);
void sha256_free(struct sha256 *hash);
void sha256_update(struct sha256 *hash, const void *data, size_t size);

/* The hash of all that was given; then starts anew. */
void sha256_finish(struct sha256 *hash, char hex[SHA256_HEX_SIZE]);

/* Of a buffer. 0 or -ENOMEM. */
int sha256_buffer(const void *data, size_t size, char hex[SHA256_HEX_SIZE]);

/* Of a whole file; *size (may be NULL) gets its length in bytes. 0, or the
 * negative errno of opening or reading it. */
int sha256_file(const char *path, char hex[SHA256_HEX_SIZE], uint64_t *size);

#endif
