/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/vboard/log.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "boardctl/vboard/loop.h"

static int log_file = -1;
static uint64_t log_start_ns;

void log_init(int fd)
{
	log_file = fd;
	log_start_ns = loop_now_ns();
}

int log_fd(void)
{
	return log_file;
}

static void log_write(const char *text)
{
	uint64_t age_us = (loop_now_ns() - log_start_ns) / 1000;

	if (log_file >= 0)
		dprintf(log_file, "%6llu.%06llu %s\n", (unsigned long long)(age_us / 1000000),
			(unsigned long long)(age_us % 1000000), text);
}

void log_event(const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	log_write(text);
}

void log_error(const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	log_write(text);
	fprintf(stderr, "vboard: %s\n", text);
}
