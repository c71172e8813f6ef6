/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a suite asks of a board beside its numbers: facts that the agent must
 * report, like a display that came up.  No state, no errors.
 */
#ifndef SAMEBOARD_HARNESS_REQUIRE_H
#define SAMEBOARD_HARNESS_REQUIRE_H

#include <stddef.h>

#include "harness/suite.h"

/*
 * How many facts the suite asks for of this system.  `note` gets what the first
 * is that `facts` (lines `key=value`) do not have as asked, "" if they all do.
 */
size_t require_check(
	const struct suite *suite, const char *system, const char *facts, char *note, size_t size);

#endif
