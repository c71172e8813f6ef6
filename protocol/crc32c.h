/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRC-32C (Castagnoli, reflected, initial value and final xor all ones; RFC
 * 3720 appendix B.4): frames, series and the index are checked with it. The
 * CRC of the nine ASCII digits "123456789" is 0xe3069283.
 */
#ifndef PROTOCOL_CRC32C_H
#define PROTOCOL_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/*
 * The CRC of what was hashed before followed by size bytes. Begin with crc 0;
 * the value returned is final after every call. bytes may be NULL when size
 * is 0.
 */
uint32_t crc32c_update(uint32_t crc, const void *bytes, size_t size);

#endif
