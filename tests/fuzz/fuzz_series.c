/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "harness/decode.h"
#include "protocol/series.h"
#include "tests/fuzz/fuzz.h"

#define COUNT_MAX 100000u /* so that a run stays quick */

static void decode(const struct series_entry *entry, const uint8_t *bytes, size_t size)
{
	char error[160] = "";
	void *values;
	int rc;

	if (entry->bytes > size || entry->count > COUNT_MAX)
		return;
	rc = decode_series(entry, bytes, &values, error, sizeof(error));
	FUZZ_EXPECT((rc == 0) == (values != NULL));
	FUZZ_EXPECT((rc == 0) == (error[0] == '\0'));
	free(values);
}

int fuzz_series(const uint8_t *bytes, size_t size)
{
	struct series_iterator iterator;
	struct series_entry entry;
	int status;

	series_iterator_init(&iterator, bytes, size);
	for (size_t before = 0; (status = series_iterator_next(&iterator, &entry)) == 1;) {
		uint8_t again[SERIES_ENTRY_SIZE_MAX];
		int length = series_encode_entry(&entry, again, sizeof(again));

		FUZZ_EXPECT(iterator.offset > before && iterator.offset <= size);
		FUZZ_EXPECT(length > 0 && (size_t)length <= iterator.offset - before);
		/* But for its size and what it did not know. */
		FUZZ_EXPECT(memcmp(again + 1, bytes + before + 1, (size_t)length - 1) == 0);
		before = iterator.offset;
		/* What follows may as well be the series. */
		decode(&entry, bytes + before, size - before);
	}
	FUZZ_EXPECT(status == 0 ? iterator.offset == size : status == WIRE_ERROR_BAD_MESSAGE);
	return 0;
}
