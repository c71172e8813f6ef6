/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guard: a process that outlives vboard by a moment, whatever ends it. It waits at a pipe that
 * only vboard holds; when the pipe closes it kills the QEMU that vboard last named, removes what
 * vboard made in the directory (the log stays), and lets go of the directory's lock.
 */
#ifndef VBOARD_GUARD_H
#define VBOARD_GUARD_H

#include <sys/types.h>

struct guard {
	pid_t pid; /* 0: none */
	int pipe_fd;
};

/*
 * Fork the guard. It keeps dir_fd (with the lock on it) and closes everything else. 0 or a
 * negative errno.
 */
int guard_start(struct guard *guard, int dir_fd);

/* The QEMU that must not survive; 0 for none. */
void guard_name_qemu(struct guard *guard, pid_t pid);

/* Let the guard clean up and wait for its end. */
void guard_finish(struct guard *guard);

#endif
