/* SPDX-License-Identifier: Apache-2.0 */
#include "db/blob.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

/* Five times as quick as level 9, which makes words of samples a twentieth smaller. */
#define LEVEL 1

/* Eight bytes at a time; below this the tables would take longer than the bytes. */
#define SLICES	  8
#define SLICE_MIN 4096

static uint32_t crc_bytes(uint32_t crc, const unsigned char *bytes, size_t size)
{
	/* A nibble at a time: no table to set up. */
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

	for (size_t i = 0; i < size; i++) {
		crc ^= bytes[i];
		crc = (crc >> 4) ^ table[crc & 15];
		crc = (crc >> 4) ^ table[crc & 15];
	}
	return crc;
}

/* tables[n][byte]: what the byte becomes after n more of 00. */
static void make_tables(uint32_t tables[SLICES][256])
{
	for (unsigned i = 0; i < 256; i++) {
		unsigned char byte = (unsigned char)i;

		tables[0][i] = crc_bytes(0, &byte, 1);
	}
	for (unsigned slice = 1; slice < SLICES; slice++)
		for (unsigned i = 0; i < 256; i++) {
			uint32_t crc = tables[slice - 1][i];

			tables[slice][i] = (crc >> 8) ^ tables[0][crc & 255];
		}
}

/* A multiple of SLICES bytes. */
static uint32_t crc_slices(uint32_t crc, const unsigned char *bytes, size_t size)
{
	uint32_t tables[SLICES][256];

	make_tables(tables);
	for (size_t i = 0; i < size; i += SLICES) {
		const unsigned char *at = bytes + i;
		uint32_t sum = 0;

		for (unsigned j = 0; j < SLICES; j++) {
			uint32_t byte = at[j] ^ (j < 4 ? crc >> (8 * j) & 255 : 0);

			sum ^= tables[SLICES - 1 - j][byte];
		}
		crc = sum;
	}
	return crc;
}

uint32_t blob_crc32c(const void *data, size_t size)
{
	const unsigned char *bytes = data;
	size_t sliced = size < SLICE_MIN ? 0 : size - size % SLICES;
	uint32_t crc = ~0u;

	if (sliced)
		crc = crc_slices(crc, bytes, sliced);
	return ~crc_bytes(crc, bytes + sliced, size - sliced);
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
