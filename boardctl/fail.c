/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/fail.h"

#include <stdarg.h>
#include <stdio.h>

int fail_format(char *text, size_t size, int code, const char *format, ...)
{
	va_list args;

	if (!size)
		return code;
	va_start(args, format);
	vsnprintf(text, size, format, args);
	va_end(args);
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	return code;
}
