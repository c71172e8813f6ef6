/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes at rest: Zstandard frames with a CRC-32C (Castagnoli) of what is
 * inside.  No hidden state; safe from any thread.
 */
#ifndef SAMEBOARD_DB_BLOB_H
#define SAMEBOARD_DB_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of no bytes it is 0; of "123456789" 0xe3069283. */
uint32_t blob_crc32c(const void *data, size_t size);

/* 0 and *packed of *packed_size bytes, which the caller frees; -ENOMEM. */
int blob_pack(const void *data, size_t size, void **packed, size_t *packed_size);

/* Whether the frame says that it holds `size` bytes: ask before taking memory for them. */
bool blob_has_size(const void *packed, size_t packed_size, size_t size);

/*
 * Exactly `size` bytes into `data`; -EBADMSG if the frame is damaged, of
 * another length, or its bytes do not have this CRC.
 */
int blob_unpack(const void *packed, size_t packed_size, void *data, size_t size, uint32_t crc);

#endif
