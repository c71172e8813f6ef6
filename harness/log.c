/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boardctl/monotonic.h"
#include "boardctl/utf8.h"

static bool quiet;
static void (*sink)(void *context, enum log_kind kind, const char *text);
static void *sink_context;
static bool is_incomplete; /* a result could not be printed */
static int write_error;	   /* the first errno of writing results */

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
	utf8_mend_text(text);
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
	if (line)
		utf8_mend_text(line);
	if (line && sink)
		sink(sink_context, LOG_KIND_PROGRESS, line);
	else if (line)
		fprintf(stderr, "%s\n", line);
	free(line);
	free(text);
}

void log_relay(const char *text)
{
	char *line = quiet ? NULL : strdup(text);

	if (!line)
		return;
	utf8_mend_text(line);
	fprintf(stderr, "%s\n", line);
	free(line);
}

void log_result(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (!text) {
		is_incomplete = true;
		return;
	}
	utf8_mend_text(text);
	log_bytes(text, strlen(text));
	free(text);
}

void log_bytes(const void *data, size_t size)
{
	if (fwrite(data, 1, size, stdout) != size && !write_error)
		write_error = errno;
}

int log_flush(void)
{
	if (fflush(stdout) != 0 && !write_error)
		write_error = errno;
	if (!write_error && !ferror(stdout) && !is_incomplete)
		return 0;
	errno = write_error ? write_error : EIO;
	return errno == EPIPE ? -EPIPE : -EIO;
}
