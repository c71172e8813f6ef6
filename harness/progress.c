/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "harness/log.h"

static bool send_record(struct progress *progress, char kind, const void *data, size_t size)
{
	struct iovec parts[] = {{&kind, 1}, {(void *)(uintptr_t)data, size}};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};

	return sendmsg(progress->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

static void tell(struct progress *progress, char kind, const void *data, size_t size)
{
	const char *at = data;

	if (progress->lost) {
		char count[16];

		snprintf(count, sizeof(count), "%u", progress->lost);
		if (!send_record(progress, PROGRESS_LOST, count, strlen(count))) {
			progress->lost++;
			return;
		}
		progress->lost = 0;
	}
	do {
		size_t part = size < PROGRESS_SIZE_MAX - 1 ? size : PROGRESS_SIZE_MAX - 1;

		if (!send_record(progress, kind, at, part))
			progress->lost++;
		at += part;
		size -= part;
	} while (size > 0);
}

static void see_log(void *context, enum log_kind kind, const char *text)
{
	tell(context, kind == LOG_KIND_ERROR ? PROGRESS_ERROR : PROGRESS_LINE, text, strlen(text));
}

static void see_console(void *context, enum link_direction direction, uint64_t time_us,
	const void *data, size_t size)
{
	(void)time_us;
	tell(context, direction == LINK_DIRECTION_TX ? PROGRESS_TX : PROGRESS_RX, data, size);
}

void progress_begin(struct progress *progress, int fd)
{
	*progress = (struct progress){.fd = fd};
	log_set_sink(see_log, progress);
}

void progress_end(struct progress *progress)
{
	log_set_sink(NULL, NULL);
	progress->fd = -1;
}

struct link_tap progress_tap(struct progress *progress)
{
	return (struct link_tap){see_console, progress};
}
