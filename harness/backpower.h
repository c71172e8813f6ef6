/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a board that is switched off is really dead: one that lives on the
 * current of its UART or of a USB socket goes on talking, and a power cycle of
 * it is none.
 */
#ifndef SAMEBOARD_HARNESS_BACKPOWER_H
#define SAMEBOARD_HARNESS_BACKPOWER_H

#include "harness/board.h"

/*
 * Listens to the console of a board that has just been switched off, for
 * listen_ms behind what is on its way. 0 when it is silent; -EISCONN with text[]
 * when it talks; or the link's error.
 */
int backpower_check(struct board *board, unsigned listen_ms, char *text, size_t size);

#endif
