/* SPDX-License-Identifier: Apache-2.0 */
#include "protocol/series.h"

#include <stdbool.h>

#include "protocol/memory.h"

static uint8_t *put(uint8_t *bytes, uint32_t value, size_t width)
{
	for (size_t i = 0; i < width; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	return bytes + width;
}

static uint32_t get(const uint8_t **bytes, size_t width)
{
	uint32_t value = 0;

	for (size_t i = 0; i < width; i++)
		value |= (uint32_t)(*bytes)[i] << 8 * i;
	*bytes += width;
	return value;
}

size_t series_kind_size(uint8_t kind)
{
	switch (kind) {
	case SERIES_KIND_COUNTS:
		return 4;
	case SERIES_KIND_STAMPS:
		return 8;
	case SERIES_KIND_TEXT:
		return 1;
	default:
		return 0;
	}
}

int series_encode_entry(const struct series_entry *entry, uint8_t *bytes, size_t capacity)
{
	size_t length = 0;

	while (length < MESSAGE_NAME_SIZE - 1 && entry->name[length] != '\0')
		length++;
	if (SERIES_ENTRY_FIXED + length > capacity)
		return WIRE_ERROR_NO_ROOM;
	bytes = put(bytes, (uint32_t)(SERIES_ENTRY_FIXED + length - 1), 1);
	bytes = put(bytes, entry->id, 2);
	bytes = put(bytes, entry->kind, 1);
	bytes = put(bytes, entry->encoding, 1);
	bytes = put(bytes, entry->count, 4);
	bytes = put(bytes, entry->clipped, 4);
	bytes = put(bytes, entry->bytes, 4);
	bytes = put(bytes, entry->crc, 4);
	bytes = put(bytes, (uint32_t)length, 1);
	memcpy(bytes, entry->name, length);
	return (int)(SERIES_ENTRY_FIXED + length);
}

void series_iterator_init(struct series_iterator *iterator, const uint8_t *bytes, size_t size)
{
	iterator->bytes = bytes;
	iterator->size = size;
	iterator->offset = 0;
}

static bool is_plausible(const struct series_entry *entry)
{
	size_t width = series_kind_size(entry->kind);

	if (entry->id == 0)
		return false;
	if (entry->encoding != SERIES_ENCODING_RAW || width == 0)
		return true;
	return (uint64_t)entry->count * width == entry->bytes;
}

static bool get_name(const uint8_t *bytes, size_t length, char *name)
{
	for (size_t i = 0; i < length; i++) {
		if (bytes[i] < 0x20 || bytes[i] == 0x7f)
			return false;
		name[i] = (char)bytes[i];
	}
	return true;
}

int series_iterator_next(struct series_iterator *iterator, struct series_entry *entry)
{
	size_t left = iterator->size - iterator->offset;
	const uint8_t *bytes = iterator->bytes + iterator->offset;
	size_t size, length;

	memset(entry, 0, sizeof(*entry));
	if (left == 0)
		return 0;
	size = get(&bytes, 1);
	if (size > left - 1 || size < SERIES_ENTRY_FIXED - 1)
		return WIRE_ERROR_BAD_MESSAGE;
	iterator->offset += size + 1;
	entry->id = (uint16_t)get(&bytes, 2);
	entry->kind = (uint8_t)get(&bytes, 1);
	entry->encoding = (uint8_t)get(&bytes, 1);
	entry->count = get(&bytes, 4);
	entry->clipped = get(&bytes, 4);
	entry->bytes = get(&bytes, 4);
	entry->crc = get(&bytes, 4);
	length = get(&bytes, 1);
	if (length > MESSAGE_NAME_SIZE - 1 || length > size + 1 - SERIES_ENTRY_FIXED)
		return WIRE_ERROR_BAD_MESSAGE;
	if (!get_name(bytes, length, entry->name) || !is_plausible(entry))
		return WIRE_ERROR_BAD_MESSAGE;
	return 1;
}
