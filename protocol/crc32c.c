/* SPDX-License-Identifier: Apache-2.0 */
#include "protocol/crc32c.h"

/* A nibble at a time: 64 bytes of table suit a target's cache and flash. */
static const uint32_t crc32c_table[16] = {
	0x00000000u,
	0x105ec76fu,
	0x20bd8edeu,
	0x30e349b1u,
	0x417b1dbcu,
	0x5125dad3u,
	0x61c69362u,
	0x7198540du,
	0x82f63b78u,
	0x92a8fc17u,
	0xa24bb5a6u,
	0xb21572c9u,
	0xc38d26c4u,
	0xd3d3e1abu,
	0xe330a81au,
	0xf36e6f75u,
};

uint32_t crc32c_update(uint32_t crc, const void *bytes, size_t size)
{
	const uint8_t *byte = bytes;

	crc = ~crc;
	for (size_t i = 0; i < size; i++) {
		crc ^= byte[i];
		crc = crc >> 4 ^ crc32c_table[crc & 15u];
		crc = crc >> 4 ^ crc32c_table[crc & 15u];
	}
	return ~crc;
}
