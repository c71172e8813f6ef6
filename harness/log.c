/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "boardctl/monotonic.h"

static bool quiet;

void log_set_quiet(bool on)
{
	quiet = on;
}

void log_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("sameboard: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
}

void log_progress(const char *format, ...)
{
	static uint64_t start_ms;
	va_list args;

	if (start_ms == 0)
		start_ms = monotonic_get_ms();
	if (quiet)
		return;
	va_start(args, format);
	fprintf(stderr, "[%6.1f s] ", (double)(monotonic_get_ms() - start_ms) / 1e3);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
}

void log_result(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
}

void log_bytes(const void *data, size_t size)
{
	fwrite(data, 1, size, stdout);
}

int log_flush(void)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	return errno == EPIPE ? -EPIPE : -EIO;
}
