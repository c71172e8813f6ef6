/* SPDX-License-Identifier: Apache-2.0 */
#include "db/mark.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

unsigned char *mark_write(const struct store_mark *marks, size_t count)
{
	unsigned char *bytes = malloc(count * MARK_SIZE + 1);

	for (size_t i = 0; bytes && i < count; i++) {
		uint64_t offset = htole64(marks[i].offset);
		uint64_t at_ms = htole64((uint64_t)marks[i].at_ms);

		memcpy(bytes + i * MARK_SIZE, &offset, 8);
		memcpy(bytes + i * MARK_SIZE + 8, &at_ms, 8);
		bytes[i * MARK_SIZE + 16] = marks[i].sent;
	}
	return bytes;
}

void mark_read(struct store_mark *marks, size_t count, const unsigned char *bytes)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t offset, at_ms;

		memcpy(&offset, bytes + i * MARK_SIZE, 8);
		memcpy(&at_ms, bytes + i * MARK_SIZE + 8, 8);
		marks[i].offset = le64toh(offset);
		marks[i].at_ms = (int64_t)le64toh(at_ms);
		marks[i].sent = bytes[i * MARK_SIZE + 16] != 0;
	}
}

size_t mark_element_size(enum store_series_kind kind)
{
	switch (kind) {
	case STORE_SERIES_COUNTS:
		return 4;
	case STORE_SERIES_STAMPS:
		return 8;
	case STORE_SERIES_TEXT:
		return 1;
	}
	return 0;
}

void mark_swap(void *data, size_t count, size_t element_size)
{
	unsigned char *bytes = data;

	if (htole16(1) == 1)
		return;
	for (size_t i = 0; i < count; i++, bytes += element_size) {
		for (size_t a = 0, b = element_size - 1; a < b; a++, b--) {
			unsigned char swapped = bytes[a];

			bytes[a] = bytes[b];
			bytes[b] = swapped;
		}
	}
}
