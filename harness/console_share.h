/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The console of a board that somebody holds, for those who only look on: a
 * Unix socket beside the board's lock. Whoever holds the line sends what the
 * board says to every viewer that has connected; viewers send nothing. New ones
 * are noticed when bytes come, and first get the last of what was said. One
 * that reads too slowly is dropped, so that no viewer can delay a run.
 *
 * 0 or a negative errno. One thread.
 */
#ifndef SAMEBOARD_HARNESS_CONSOLE_SHARE_H
#define SAMEBOARD_HARNESS_CONSOLE_SHARE_H

#include "boardctl/link.h"

struct console_share;

/* Listen at path; what is there already is of a process that is gone, for the
 * caller holds the board's lock. *share is NULL on failure. */
int console_share_open(struct console_share **share, const char *path);
void console_share_close(struct console_share *share);

/* To be set as the console's monitor; lives as long as the share. */
struct link_tap console_share_tap(struct console_share *share);

/* Let new viewers in while the line is silent. */
void console_share_accept(struct console_share *share);

/* A viewer's end: a descriptor, or -ENOENT and -ECONNREFUSED when nobody shares. */
int console_share_connect(const char *path);

#endif
