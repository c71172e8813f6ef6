/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "boardctl/monotonic.h"

static bool quiet;
static void (*sink)(void *context, enum log_kind kind, const char *text);
static void *sink_context;

void log_set_quiet(bool on)
{
	quiet = on;
}

void log_set_sink(void (*to)(void *context, enum log_kind kind, const char *text), void *context)
{
	sink = to;
	sink_context = context;
}

void log_error(const char *format, ...)
{
	char text[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (sink)
		sink(sink_context, LOG_KIND_ERROR, text);
	else
		fprintf(stderr, "sameboard: %s\n", text);
}

void log_progress(const char *format, ...)
{
	static uint64_t start_ms;
	char *text, *line = NULL;
	va_list args;

	if (start_ms == 0)
		start_ms = monotonic_get_ms();
	if (quiet)
		return;
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (text && asprintf(&line, "[%6.1f s] %s", (double)(monotonic_get_ms() - start_ms) / 1e3,
			    text) < 0)
		line = NULL;
	if (line && sink)
		sink(sink_context, LOG_KIND_PROGRESS, line);
	else if (line)
		fprintf(stderr, "%s\n", line);
	free(line);
	free(text);
}

void log_relay(const char *text)
{
	if (!quiet)
		fprintf(stderr, "%s\n", text);
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
