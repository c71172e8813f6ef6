/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_SUBPROCESS_H
#define BOARDCTL_SUBPROCESS_H

#include <stddef.h>

/*
 * Run a program without a shell, with empty input, in a process group of its
 * own, and wait for its end. What it says on stdout and stderr is collected
 * into output[size], cut to size - 1, ended by 0. Past timeout_ms the group is
 * killed. No zombie and no descriptor is left on any path.
 *
 * 0 and *status (its exit code, or 128 + signal), or a negative errno: -ENOENT
 * when there is no such program, -ETIMEDOUT.
 */
int subprocess_run(
	const char *const argv[], unsigned timeout_ms, char *output, size_t size, int *status);

#endif
