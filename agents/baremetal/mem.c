/* SPDX-License-Identifier: Apache-2.0 */
/* What a freestanding compiler may call on its own (C11 4, GCC's manual 2.1). */
#include "agents/baremetal/mem.h"

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
	uint8_t *out = to;
	const uint8_t *in = from;

	while (size--)
		*out++ = *in++;
	return to;
}

void *memmove(void *to, const void *from, size_t size)
{
	uint8_t *out = to;
	const uint8_t *in = from;

	if (out <= in) {
		for (size_t i = 0; i < size; i++)
			out[i] = in[i];
		return to;
	}
	while (size--)
		out[size] = in[size];
	return to;
}

void *memset(void *to, int value, size_t size)
{
	uint8_t *out = to;

	while (size--)
		*out++ = (uint8_t)value;
	return to;
}

int memcmp(const void *left, const void *right, size_t size)
{
	const uint8_t *a = left;
	const uint8_t *b = right;

	for (size_t i = 0; i < size; i++)
		if (a[i] != b[i])
			return a[i] - b[i];
	return 0;
}
