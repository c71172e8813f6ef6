/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/ready.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

#include "boardctl/monotonic.h"

int ready_wait(int fd, short events, uint64_t deadline_us)
{
	for (;;) {
		uint64_t now_us = monotonic_get_us();
		uint64_t left_us = now_us < deadline_us ? deadline_us - now_us : 0;
		const struct timespec left = {
			.tv_sec = (time_t)(left_us / 1000000u),
			.tv_nsec = (long)(left_us % 1000000u) * 1000,
		};
		struct pollfd entry = {.fd = fd, .events = events};
		int ready = ppoll(&entry, 1, &left, NULL);

		if (ready > 0)
			return entry.revents & POLLNVAL ? -EBADF : 1;
		if (!ready)
			return 0;
		if (errno != EINTR)
			return -errno;
	}
}
