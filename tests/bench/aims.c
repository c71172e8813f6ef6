/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/aims.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

void aims_add(struct aims *aims, bool is_held, const char *format, ...)
{
	size_t room = sizeof(aims->text) - aims->size;
	char what[256];
	va_list args;
	int length;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	length = snprintf(
		aims->text + aims->size, room, "%-6s  %s\n", is_held ? "held" : "missed", what);
	aims->size += length > 0 && (size_t)length < room ? (size_t)length : 0;
	aims->missed += !is_held;
}

int aims_append(const struct aims *aims, const char *path)
{
	FILE *file = path ? fopen(path, "a") : NULL;
	int rc;

	if (!path)
		return 0;
	if (!file)
		return -errno;
	rc = fputs(aims->text, file) < 0 ? -EIO : 0;
	return fclose(file) == 0 ? rc : -EIO;
}
