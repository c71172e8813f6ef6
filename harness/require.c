/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/require.h"

#include <stdio.h>
#include <string.h>

#include "harness/counters.h"

/* The fact that is asked of this system; NULL where it is another's. */
static const char *fact_of(const struct suite_required *required, const char *system)
{
	const char *colon = strchr(required->fact, ':');
	size_t length = colon ? (size_t)(colon - required->fact) : 0;

	if (!colon)
		return required->fact;
	return strlen(system) == length && strncmp(required->fact, system, length) == 0 ? colon + 1
											: NULL;
}

static bool is_as_asked(const char *value, const char *asked)
{
	if (strcmp(asked, "*") != 0)
		return strcmp(value, asked) == 0;
	return value[0] && strcmp(value, "none") != 0 && strcmp(value, "unknown") != 0;
}

size_t require_check(
	const struct suite *suite, const char *system, const char *facts, char *note, size_t size)
{
	size_t count = 0;

	note[0] = '\0';
	for (size_t i = 0; i < suite->required_count; i++) {
		const struct suite_required *required = &suite->required[i];
		const char *fact = fact_of(required, system);
		char value[128] = "";

		if (!fact)
			continue;
		count++;
		if (note[0])
			continue;
		if (!counters_get(facts, fact, value, sizeof(value)))
			snprintf(note, size, "%s: \"%s\" is required, the system reports nothing",
				fact, required->value);
		else if (!is_as_asked(value, required->value))
			snprintf(note, size, "%s: \"%s\" is required, the system reports \"%s\"",
				fact, required->value, value);
	}
	return count;
}
