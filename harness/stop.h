/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stop asked for by SIGINT, SIGTERM or SIGHUP: long work looks here and ends
 * in the rest state.  A second signal changes nothing: nothing is left powered.
 */
#ifndef SAMEBOARD_HARNESS_STOP_H
#define SAMEBOARD_HARNESS_STOP_H

#include <stdbool.h>

/* Once, at the start of the program. */
void stop_init(void);

/* The signal's number that asked, or 0. */
int stop_requested(void);

#endif
