/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_LOADER_H
#define BOARDCTL_LOADER_H

#include <stddef.h>
#include <stdint.h>

#include "boardctl/link.h"
#include "boardctl/watcher.h"

/*
 * The dialogue with U-Boot. It alone reads the link until loader_boot() has
 * returned; every byte received goes to the watcher (with monotonic_get_ms())
 * and, through the link, to the tap. Not thread-safe.
 *
 * Errors, with their text in loader_error():
 *   -ENODATA     not one known banner came: power, wiring, card or rate
 *   -ETIMEDOUT   a banner came, no prompt (or a command didn't end) in time
 *   -EPROTO      lines could not be typed or read without damage, retries included
 *   -EIO         the command failed; the text carries its line
 *   -EBADMSG     memory isn't what it should be
 *   -ECONNRESET  the board started anew in the dialogue, or the loader crashed
 *   -ENODEV ...  the link's own
 *   -EINVAL      configuration or command can't be typed
 */
struct loader;

/* Strings and bytes are copied by loader_new(). Zero = the default. */
struct loader_config {
	const char *prompt;	    /* "=> " */
	unsigned char interrupt[8]; /* the key that stops autoboot; default one space */
	size_t interrupt_size;
	unsigned interrupt_ms; /* between two keys; default 50 */
	unsigned command_ms;   /* for one command; default 30000 */
	unsigned echo_ms;      /* for the echo of a piece; default 1000 */
	unsigned retries;      /* of a line whose echo was damaged; default 5 */
};

/* Borrows link and watcher until loader_free(). -ENOMEM (*loader NULL) or
 * -EINVAL; loader_free() in every case. */
int loader_new(struct loader **loader, struct link *link, struct watcher *watcher,
	const struct loader_config *config);
void loader_free(struct loader *loader);
const char *loader_error(const struct loader *loader);

/*
 * Wait for the loader's banner (nothing is sent before it), stop autoboot,
 * and prove the prompt by a nonce in a command's output. timeout_ms from now.
 * Call right after power-on, after watcher_restart(). One beginning again before
 * the loader's banner is taken for contacts that bounce.
 */
int loader_wait_prompt(struct loader *loader, unsigned timeout_ms);

/*
 * Run one command line and wait for its end; a command whose end was damaged on
 * the line is run again. output (may be NULL) gets what it
 * printed, lines ended by '\n', without echo and prompt, cut to size - 1 and
 * ended by 0. timeout_ms 0 = command_ms. Where the loader knows $? its status
 * decides; else its words do.
 */
int loader_run(
	struct loader *loader, const char *command, char *output, size_t size, unsigned timeout_ms);

/* CRC-32 of memory as the board sees it: address is anything the loader
 * accepts ("${kernel_addr_r}", "80200000"). A digit damaged on the line isn't
 * noticed here: to compare, use the next one. */
int loader_crc32(struct loader *loader, const char *address, uint64_t size, uint32_t *crc);

/* Whether memory has the CRC-32 that it should have: 0, or -EBADMSG with both in
 * the text after asking three times, since noise makes no sum right. */
int loader_check_crc32(
	struct loader *loader, const char *address, uint64_t size, uint32_t expected);

/*
 * Type the command that starts the system, prove its echo, send CR, return.
 * From here on the caller reads the link and feeds the watcher.
 */
int loader_boot(struct loader *loader, const char *command);

#endif
