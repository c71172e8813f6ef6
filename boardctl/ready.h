/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_READY_H
#define BOARDCTL_READY_H

#include <stdint.h>

/*
 * Wait until a descriptor is ready for events (of poll), or the deadline on the
 * clock of boardctl/monotonic.h has passed; interruptions are waited through.
 * 1 ready, 0 the time is over, or a negative errno.
 */
int ready_wait(int fd, short events, uint64_t deadline_us);

#endif
