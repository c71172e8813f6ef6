/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/decode.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/codec.h"

static void decode_raw(const struct series_entry *entry, const uint8_t *bytes, void *values)
{
	memcpy(values, bytes, entry->bytes);
	if (entry->kind == SERIES_KIND_COUNTS)
		for (uint32_t i = 0; i < entry->count; i++)
			((uint32_t *)values)[i] = le32toh(((uint32_t *)values)[i]);
	if (entry->kind == SERIES_KIND_STAMPS)
		for (uint32_t i = 0; i < entry->count; i++)
			((uint64_t *)values)[i] = le64toh(((uint64_t *)values)[i]);
}

/* 0, or -EPROTO and *offset within bytes. */
static int decode_counts(
	const uint8_t *bytes, uint32_t size, int32_t *values, uint32_t count, uint32_t *offset)
{
	struct codec_model model;
	struct codec_decoder decoder;
	size_t used;

	codec_decoder_init(&decoder, &model, count, size);
	codec_decode(&decoder, bytes, size, &used, values, count);
	*offset = decoder.offset;
	return decoder.is_ended ? 0 : -EPROTO;
}

static int decode_steps(
	const struct series_entry *entry, const uint8_t *bytes, uint64_t *values, uint32_t *offset)
{
	/* The steps are put at the end of the memory that the stamps then fill from the front. */
	int32_t *steps = (int32_t *)values + entry->count + 1;
	uint64_t stamp;
	int rc;

	*offset = entry->bytes;
	if (entry->count == 0 || entry->bytes < sizeof(stamp))
		return -EPROTO;
	memcpy(&stamp, bytes, sizeof(stamp));
	rc = decode_counts(bytes + sizeof(stamp), entry->bytes - (uint32_t)sizeof(stamp), steps,
		entry->count - 1, offset);
	*offset += (uint32_t)sizeof(stamp);
	stamp = le64toh(stamp);
	for (uint32_t i = 0; rc == 0 && i < entry->count; i++) {
		uint64_t step = i + 1 < entry->count ? (uint64_t)(int64_t)steps[i] : 0;

		values[i] = stamp;
		stamp += step;
	}
	return rc;
}

static int decode(
	const struct series_entry *entry, const uint8_t *bytes, void *values, uint32_t *offset)
{
	*offset = 0;
	if (entry->encoding == SERIES_ENCODING_CODED)
		return decode_counts(bytes, entry->bytes, values, entry->count, offset);
	if (entry->encoding == SERIES_ENCODING_STEPS)
		return decode_steps(entry, bytes, values, offset);
	decode_raw(entry, bytes, values);
	return 0;
}

static bool is_known(const struct series_entry *entry)
{
	switch (entry->encoding) {
	case SERIES_ENCODING_RAW:
		return entry->bytes == (uint64_t)entry->count * series_kind_size(entry->kind);
	case SERIES_ENCODING_CODED:
		return entry->kind == SERIES_KIND_COUNTS;
	case SERIES_ENCODING_STEPS:
		return entry->kind == SERIES_KIND_STAMPS;
	default:
		return false;
	}
}

int decode_series(const struct series_entry *entry, const uint8_t *bytes, void **values,
	char *error, size_t error_size)
{
	size_t width = series_kind_size(entry->kind);
	uint32_t offset;
	int rc;

	*values = NULL;
	if (width == 0 || !is_known(entry)) {
		snprintf(error, error_size, "%s: unknown kind %u or encoding %u", entry->name,
			entry->kind, entry->encoding);
		return -EPROTO;
	}
	if (entry->count > DECODE_VALUES_SIZE_MAX / width) {
		snprintf(error, error_size, "%s: %u values, at most %zu are taken", entry->name,
			entry->count, DECODE_VALUES_SIZE_MAX / width);
		return -EMSGSIZE;
	}
	*values = calloc(1, entry->count * width + sizeof(uint64_t));
	if (!*values) {
		snprintf(error, error_size, "%s: out of memory", entry->name);
		return -ENOMEM;
	}
	rc = decode(entry, bytes, *values, &offset);
	if (rc != 0) {
		snprintf(error, error_size, "%s: %u bytes are no %u values: wrong at byte %u",
			entry->name, entry->bytes, entry->count, offset);
		free(*values);
		*values = NULL;
	}
	return rc;
}
