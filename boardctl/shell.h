/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_SHELL_H
#define BOARDCTL_SHELL_H

#include "boardctl/link.h"
#include "boardctl/watcher.h"

/*
 * The dialogue with a system's shell: waits for its prompt, logs in where it is
 * asked to, proves the prompt by a nonce in a command's output, and types one line.
 * It alone reads the link until shell_start() has returned; every byte received
 * goes to the watcher (with monotonic_get_ms()). Not thread-safe.
 *
 * Nothing is typed before a prompt or a login shows; only when a system that has
 * shown itself is silent for quiet_ms is an empty line sent, since a prompt may be hidden
 * behind what a kernel said. A line goes in pieces of 8, each compared with its echo
 * before the next (small systems keep 64 bytes), and CR when all of it came back.
 * Neither TAB nor BS is ever sent: a damaged line is ended by CR and typed anew.
 *
 * Errors, with their text in shell_error():
 *   -ETIMEDOUT   no prompt in time
 *   -EPROTO      lines could not be typed or read without damage, retries included
 *   -EACCES      the login was refused, or one is asked for and none is configured
 *   -ENODEV ...  the link's own
 *   -EINVAL      configuration or line can't be typed
 */
struct shell;

#define SHELL_LINE_MAX 79 /* of the smallest shell known, RT-Thread's */

/* Strings are copied by shell_new(). Zero = the default. */
struct shell_config {
	const char *prompt; /* with its blanks; must be given */
	const char *user;   /* NULL: no login is expected */
	const char *password;
	unsigned quiet_ms;   /* of silence before an empty line; default 2000 */
	unsigned echo_ms;    /* for the echo of a piece; default 1000 */
	unsigned command_ms; /* for the output of echo; default 3000 */
	unsigned retries;    /* of a line whose echo was damaged; default 5 */
};

/* Borrows link and watcher until shell_free(). -ENOMEM (*shell NULL) or
 * -EINVAL; shell_free() in every case. */
int shell_new(struct shell **shell, struct link *link, struct watcher *watcher,
	const struct shell_config *config);
void shell_free(struct shell *shell);
const char *shell_error(const struct shell *shell);

/* Until a prompt has proven to answer. timeout_ms from now. */
int shell_wait_prompt(struct shell *shell, unsigned timeout_ms);

/*
 * Type the line at the proven prompt, prove its echo, send CR, return. From here
 * on the caller reads the link and feeds the watcher.
 */
int shell_start(struct shell *shell, const char *line);

/*
 * Run the line at the proven prompt until the prompt is back. output gets what
 * was printed, lines ended by '\n', cut to size - 1 and ended by 0. -ETIMEDOUT
 * without a prompt after timeout_ms.
 */
int shell_run(
	struct shell *shell, const char *line, char *output, size_t size, unsigned timeout_ms);

/* Until nothing has come for quiet_ms; -ETIMEDOUT when that takes over timeout_ms. */
int shell_wait_quiet(struct shell *shell, unsigned quiet_ms, unsigned timeout_ms);

/* Receives for so long. */
int shell_pause(struct shell *shell, unsigned pause_ms);

/* After shell_start(): until this text has come; -ETIMEDOUT without it. */
int shell_wait_text(struct shell *shell, const char *text, unsigned timeout_ms);

#endif
