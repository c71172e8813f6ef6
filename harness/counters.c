/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/counters.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/gates.h"

bool counters_get(const char *text, const char *key, char *value, size_t size)
{
	size_t key_length = strlen(key);

	value[0] = '\0';
	while (text && *text) {
		size_t line = strcspn(text, "\n");

		if (line > key_length && strncmp(text, key, key_length) == 0 &&
			text[key_length] == '=') {
			size_t length = line - key_length - 1;

			if (length >= size)
				length = size - 1;
			memcpy(value, text + key_length + 1, length);
			value[length] = '\0';
			return true;
		}
		text += line;
		text += *text == '\n';
	}
	return false;
}

uint64_t counters_get_count(const char *text, const char *key)
{
	char value[32], *end;
	unsigned long long count;

	if (!counters_get(text, key, value, sizeof(value)))
		return GATE_COUNTER_UNKNOWN;
	if (strcmp(value, "none") == 0)
		return GATE_COUNTER_NONE;
	errno = 0;
	count = strtoull(value, &end, 10);
	if (errno || end == value || *end || !isdigit((unsigned char)value[0]) ||
		count >= GATE_COUNTER_NONE)
		return GATE_COUNTER_UNKNOWN;
	return count;
}
