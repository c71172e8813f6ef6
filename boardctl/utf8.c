/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/utf8.h"

#include <stdbool.h>
#include <string.h>

size_t utf8_measure(const char *bytes, size_t left)
{
	const unsigned char *c = (const unsigned char *)bytes;
	size_t length;

	if (!left)
		return 0;
	length = c[0] < 0x80   ? 1
		 : c[0] < 0xc2 ? 0
		 : c[0] < 0xe0 ? 2
		 : c[0] < 0xf0 ? 3
		 : c[0] < 0xf5 ? 4
			       : 0;
	if (length > left)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	}
	if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f) ||
		(c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] > 0x8f))
		return 0;
	return length;
}

/* U+0000 to U+001F, U+007F to U+009F, but those of `kept`. */
static bool is_control(const char *bytes, size_t length, const char *kept)
{
	unsigned char byte = (unsigned char)bytes[0];

	if (length == 2)
		return byte == 0xc2 && (unsigned char)bytes[1] < 0xa0;
	return length == 1 && (byte < ' ' || byte == 0x7f) && !strchr(kept, byte);
}

/* kept NULL: all control characters are. */
static void mend(char *text, const char *kept)
{
	size_t left = strlen(text);

	while (left) {
		size_t length = utf8_measure(text, left);

		if (!length) {
			*text = '?';
			length = 1;
		} else if (kept && is_control(text, length, kept)) {
			memset(text, '?', length);
		}
		text += length;
		left -= length;
	}
}

void utf8_mend(char *text)
{
	mend(text, NULL);
}

void utf8_mend_text(char *text)
{
	mend(text, "\n\t");
}

void utf8_mend_line(char *text)
{
	mend(text, "");
}
