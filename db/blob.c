/* SPDX-License-Identifier: Apache-2.0 */
#include "db/blob.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

/* Words of samples gain little above this level, and it is quick. */
#define LEVEL 9

uint32_t blob_crc32c(const void *data, size_t size)
{
	/* A nibble at a time: no table to set up, quick enough for megabytes. */
	static const uint32_t table[16] = {
		0x00000000,
		0x105ec76f,
		0x20bd8ede,
		0x30e349b1,
		0x417b1dbc,
		0x5125dad3,
		0x61c69362,
		0x7198540d,
		0x82f63b78,
		0x92a8fc17,
		0xa24bb5a6,
		0xb21572c9,
		0xc38d26c4,
		0xd3d3e1ab,
		0xe330a81a,
		0xf36e6f75,
	};
	const unsigned char *bytes = data;
	uint32_t crc = ~0u;

	for (size_t i = 0; i < size; i++) {
		crc ^= bytes[i];
		crc = (crc >> 4) ^ table[crc & 15];
		crc = (crc >> 4) ^ table[crc & 15];
	}
	return ~crc;
}

int blob_pack(const void *data, size_t size, void **packed, size_t *packed_size)
{
	size_t room = ZSTD_compressBound(size);
	size_t got;

	*packed_size = 0;
	*packed = malloc(room);
	if (!*packed)
		return -ENOMEM;
	got = ZSTD_compress(*packed, room, data ? data : "", size, LEVEL);
	if (ZSTD_isError(got)) {
		free(*packed);
		*packed = NULL;
		return -ENOMEM;
	}
	*packed_size = got;
	return 0;
}

bool blob_has_size(const void *packed, size_t packed_size, size_t size)
{
	return packed && ZSTD_getFrameContentSize(packed, packed_size) == size;
}

int blob_unpack(const void *packed, size_t packed_size, void *data, size_t size, uint32_t crc)
{
	size_t got;

	if (!blob_has_size(packed, packed_size, size))
		return -EBADMSG;
	got = ZSTD_decompress(data, size, packed, packed_size);
	if (ZSTD_isError(got) || got != size || blob_crc32c(data, size) != crc)
		return -EBADMSG;
	return 0;
}
