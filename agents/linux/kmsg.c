/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/linux/kmsg.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/klog.h>
#include <unistd.h>

#include "agents/linux/file.h"

#define ACTION_CONSOLE_LEVEL 8 /* syslog(2) */
#define QUIET_LEVEL	     1
#define RECORD_MAX	     8192

static int read_level(void)
{
	char text[64];

	if (file_read_text("/proc/sys/kernel/printk", text, sizeof(text)) <= 0)
		return -1;
	return atoi(text);
}

void kmsg_open(struct kmsg *kmsg)
{
	kmsg->fd = file_open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	kmsg->level_before = -1;
	kmsg->level = read_level();
}

void kmsg_close(struct kmsg *kmsg)
{
	kmsg_restore(kmsg);
	if (kmsg->fd >= 0)
		close(kmsg->fd);
	kmsg->fd = -1;
}

void kmsg_quiet(struct kmsg *kmsg)
{
	int before = read_level();

	if (before < 0 || klogctl(ACTION_CONSOLE_LEVEL, NULL, QUIET_LEVEL) != 0)
		return;
	kmsg->level_before = before;
	kmsg->level = read_level();
}

void kmsg_restore(struct kmsg *kmsg)
{
	if (kmsg->level_before < 0)
		return;
	klogctl(ACTION_CONSOLE_LEVEL, NULL, kmsg->level_before);
	kmsg->level_before = -1;
}

void kmsg_mark(struct kmsg *kmsg)
{
	if (kmsg->fd >= 0)
		lseek(kmsg->fd, 0, SEEK_END);
}

int64_t kmsg_count(struct kmsg *kmsg)
{
	char record[RECORD_MAX];
	uint64_t first = 0;
	uint64_t last = 0;
	bool any = false;

	if (kmsg->fd < 0)
		return -1;
	for (;;) {
		ssize_t got = read(kmsg->fd, record, sizeof(record) - 1);
		uint64_t sequence;

		/* EPIPE: the oldest were overwritten; the numbers still tell. */
		if (got < 0 && (errno == EPIPE || errno == EINTR))
			continue;
		if (got <= 0)
			break;
		record[got] = '\0';
		if (sscanf(record, "%*u,%ju,", (uintmax_t *)&sequence) != 1)
			return -1;
		if (!any)
			first = sequence;
		last = sequence;
		any = true;
	}
	return any ? (int64_t)(last - first + 1) : 0;
}
