/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/fail.h"

#include <stdarg.h>
#include <stdio.h>

#include "boardctl/utf8.h"

int fail_format(char *text, size_t size, int code, const char *format, ...)
{
	va_list args;

	if (!size)
		return code;
	va_start(args, format);
	vsnprintf(text, size, format, args);
	va_end(args);
	utf8_mend_line(text);
	return code;
}
