/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/report.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "harness/log.h"

static bool send_record(struct report *report, char kind, const void *data, size_t size)
{
	struct iovec parts[] = {{&kind, 1}, {(void *)(uintptr_t)data, size}};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};

	return sendmsg(report->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

static void tell(struct report *report, char kind, const void *data, size_t size)
{
	const char *at = data;

	if (report->lost) {
		char count[16];

		snprintf(count, sizeof(count), "%u", report->lost);
		if (!send_record(report, REPORT_LOST, count, strlen(count))) {
			report->lost++;
			return;
		}
		report->lost = 0;
	}
	do {
		size_t part = size < REPORT_SIZE_MAX - 1 ? size : REPORT_SIZE_MAX - 1;

		if (!send_record(report, kind, at, part))
			report->lost++;
		at += part;
		size -= part;
	} while (size > 0);
}

static void see_log(void *context, enum log_kind kind, const char *text)
{
	tell(context, kind == LOG_KIND_ERROR ? REPORT_ERROR : REPORT_PROGRESS, text, strlen(text));
}

static void see_console(void *context, enum link_direction direction, uint64_t time_us,
	const void *data, size_t size)
{
	(void)time_us;
	tell(context, direction == LINK_DIRECTION_TX ? REPORT_TX : REPORT_RX, data, size);
}

void report_begin(struct report *report, int fd)
{
	*report = (struct report){.fd = fd};
	log_set_sink(see_log, report);
}

void report_end(struct report *report)
{
	log_set_sink(NULL, NULL);
	report->fd = -1;
}

struct link_tap report_tap(struct report *report)
{
	return (struct link_tap){see_console, report};
}
