/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_TOOL_H
#define BOARDCTL_TOOL_H

#include <stddef.h>

/*
 * Run a tool of the lab to its end, within timeout_ms, without a shell. What it
 * said is left in output[size], without blanks at its end. 0, or a negative
 * errno with a text in error[error_size] that has the command line and what was
 * said: -ENOENT when there is no such program, -ETIMEDOUT, -EACCES when what it
 * said is that it may not, -EIO when it failed.
 */
int tool_run(const char *const argv[], unsigned timeout_ms, char *output, size_t size, char *error,
	size_t error_size);

#endif
