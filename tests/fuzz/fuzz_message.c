/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "protocol/message.h"
#include "tests/fuzz/fuzz.h"

int fuzz_message(const uint8_t *bytes, size_t size)
{
	uint8_t first[FRAME_BODY_MAX], second[FRAME_BODY_MAX];
	struct message message, again;
	int length;

	if (size < 1 || size > 1 + FRAME_BODY_MAX)
		return 0;
	if (message_decode(bytes[0], bytes + 1, size - 1, &message) != 0) {
		FUZZ_EXPECT(message.type == bytes[0]);
		return 0;
	}
	length = message_encode(&message, first, sizeof(first));
	/* What it did not know is left out. */
	FUZZ_EXPECT(length >= 0 && (size_t)length <= size - 1);
	FUZZ_EXPECT(memcmp(first, bytes + 1, (size_t)length) == 0);
	FUZZ_EXPECT(message_decode(bytes[0], first, (size_t)length, &again) == 0);
	FUZZ_EXPECT(message_encode(&again, second, sizeof(second)) == length);
	FUZZ_EXPECT(memcmp(first, second, (size_t)length) == 0);
	return 0;
}
