/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_DIALOGUE_H
#define BOARDCTL_DIALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "boardctl/fail.h"
#include "boardctl/link.h"
#include "boardctl/loader.h"
#include "boardctl/watcher.h"

/*
 * The lower half of the loader's dialogue, for boardctl/ only: receiving,
 * typing with the echo compared, getting back to an empty prompt. Errors as in
 * loader.h; the text goes to error.
 */
struct dialogue {
	struct link *link;
	struct watcher *watcher;
	struct loader_config config; /* complete; prompt points to own memory */
	char error[FAIL_TEXT_SIZE];
	unsigned resets_before; /* of the watcher, when the dialogue began */
	char *text;		/* received since dialogue_forget(), without CR, ended by 0 */
	size_t used;
};

#define DIALOGUE_TEXT_SIZE (256u * 1024u)

/* Forget what was received. */
void dialogue_forget(struct dialogue *d);

/* Receive for up to wait_ms, at most limit bytes at once: 1 something came, 0
 * nothing, or an error. A reset of the board is -ECONNRESET. */
int dialogue_receive(struct dialogue *d, unsigned wait_ms, size_t limit);

int dialogue_send(struct dialogue *d, const void *bytes, size_t size);

/* The text ends with the prompt, at the start of a line. */
bool dialogue_is_at_prompt(const struct dialogue *d);

/* Give up the line and whatever runs; wait for an empty prompt. -ETIMEDOUT
 * without one. */
int dialogue_cancel(struct dialogue *d);

/*
 * Type a line at an empty prompt in small pieces, each compared with its echo.
 * -EPROTO: the echo differs or is missing; nothing was run. The caller cancels.
 */
int dialogue_type(struct dialogue *d, const char *line);

/* End the line. -EPROTO when the loader shows no new line: it may or may not
 * have run; the caller cancels. Reads nothing beyond the new line. */
int dialogue_enter(struct dialogue *d);

#endif
