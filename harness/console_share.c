/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/console_share.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define VIEWERS_MAX 16
#define RECENT_SIZE 4096u

struct console_share {
	int listener;
	int viewers[VIEWERS_MAX];
	size_t count;
	char path[PATH_MAX];
	char recent[RECENT_SIZE]; /* a ring */
	size_t recent_end, recent_size;
};

/*
 * A path of any length through its folder's descriptor: a socket's own has room
 * for 107 bytes. *folder is to be closed.
 */
static int make_address(const char *path, struct sockaddr_un *address, int *folder)
{
	const char *slash = strrchr(path, '/');
	char name[PATH_MAX];
	int length;

	*folder = -1;
	snprintf(name, sizeof(name), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
	*folder = open(name[0] ? name : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*folder < 0)
		return -errno;
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	length = snprintf(address->sun_path, sizeof(address->sun_path), "/proc/self/fd/%d/%s",
		*folder, slash ? slash + 1 : path);
	return length < (int)sizeof(address->sun_path) ? 0 : -ENAMETOOLONG;
}

int console_share_open(struct console_share **out, const char *path)
{
	struct console_share *share = calloc(1, sizeof(*share));
	struct sockaddr_un address;
	int folder = -1, ret;
	mode_t mask;

	*out = NULL;
	if (!share)
		return -ENOMEM;
	snprintf(share->path, sizeof(share->path), "%s", path);
	share->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	ret = share->listener < 0 ? -errno : make_address(path, &address, &folder);
	if (ret == 0) {
		unlink(path);
		mask = umask(0117);
		if (bind(share->listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
			listen(share->listener, VIEWERS_MAX) != 0)
			ret = -errno;
		umask(mask);
	}
	if (folder >= 0)
		close(folder);
	if (ret == 0) {
		*out = share;
		return 0;
	}
	if (share->listener >= 0)
		close(share->listener);
	free(share);
	return ret;
}

void console_share_close(struct console_share *share)
{
	if (!share)
		return;
	unlink(share->path);
	close(share->listener);
	for (size_t i = 0; i < share->count; i++)
		close(share->viewers[i]);
	free(share);
}

static bool send_all(int fd, const void *data, size_t size)
{
	return send(fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size;
}

/* What was said last, oldest first. */
static bool send_recent(const struct console_share *share, int fd)
{
	size_t start = (share->recent_end + RECENT_SIZE - share->recent_size) % RECENT_SIZE;
	size_t first =
		RECENT_SIZE - start < share->recent_size ? RECENT_SIZE - start : share->recent_size;

	return (first == 0 || send_all(fd, share->recent + start, first)) &&
	       (first == share->recent_size ||
		       send_all(fd, share->recent, share->recent_size - first));
}

void console_share_accept(struct console_share *share)
{
	int fd;

	while ((fd = accept4(share->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		if (share->count < VIEWERS_MAX && send_recent(share, fd))
			share->viewers[share->count++] = fd;
		else
			close(fd);
	}
}

static void keep_recent(struct console_share *share, const char *data, size_t size)
{
	for (size_t i = size > RECENT_SIZE ? size - RECENT_SIZE : 0; i < size; i++) {
		share->recent[share->recent_end] = data[i];
		share->recent_end = (share->recent_end + 1) % RECENT_SIZE;
		share->recent_size += share->recent_size < RECENT_SIZE;
	}
}

static void see(void *context, enum link_direction direction, uint64_t time_us, const void *data,
	size_t size)
{
	struct console_share *share = context;

	(void)time_us;
	/* What is typed comes back as the board's echo. */
	if (direction != LINK_DIRECTION_RX)
		return;
	console_share_accept(share);
	for (size_t i = 0; i < share->count;) {
		if (send_all(share->viewers[i], data, size)) {
			i++;
		} else {
			close(share->viewers[i]);
			share->viewers[i] = share->viewers[--share->count];
		}
	}
	keep_recent(share, data, size);
}

struct link_tap console_share_tap(struct console_share *share)
{
	return (struct link_tap){see, share};
}

int console_share_connect(const char *path)
{
	struct sockaddr_un address;
	int folder = -1, ret;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	ret = make_address(path, &address, &folder);
	if (ret == 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		ret = -errno;
	if (folder >= 0)
		close(folder);
	if (ret == 0)
		return fd;
	close(fd);
	return ret;
}
