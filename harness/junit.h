/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs and their verdicts as JUnit XML, in the subset that GitLab and Jenkins
 * both take: a test case a run and a test case a judged row.  What the lab did is
 * an `error`, what the system did a `failure`.  No character that XML forbids
 * gets through, whatever a board has printed.
 */
#ifndef SAMEBOARD_HARNESS_JUNIT_H
#define SAMEBOARD_HARNESS_JUNIT_H

#include <stdio.h>

#include "harness/against.h"
#include "harness/compare.h"

struct junit {
	const char *suite;	       /* its name */
	const struct compare *compare; /* NULL: there are no runs */
	const struct against *against; /* NULL: nothing was judged */
	const char *error;	       /* what ended the job before its runs did; "" if nothing */
	const char *const *confirmed;  /* suspects of the job before, NULL-terminated; or NULL */
};

/* False when the stream failed or memory ran out. */
bool junit_write(FILE *out, const struct junit *junit);

#endif
