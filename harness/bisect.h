/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `git bisect run` over images: each commit is built, measured against a
 * baseline, and called good or bad.  A commit that does not build and a lab that
 * failed are passed over; wrong usage ends it.  Suspects are measured again before
 * they count.  The work tree is put back in every case.
 *
 * Errors: an exit code (2 wrong usage, 3 the lab) with the text in bisect->error.
 */
#ifndef SAMEBOARD_HARNESS_BISECT_H
#define SAMEBOARD_HARNESS_BISECT_H

#include <stddef.h>

#define BISECT_ARGUMENTS_MAX 24

struct bisect {
	const char *good, *bad; /* commits */
	const char *build;	/* for a shell */
	/* What measures and says 0 good, 1 bad, 125 passed over; NULL-terminated. */
	const char *measure[BISECT_ARGUMENTS_MAX + 1];
	char first_bad[64]; /* commit; "" where none could be named */
	char subject[256];  /* its first line */
	char error[320];
};

/* 0 and first_bad, 1 where only passed over commits are left, else as above. */
int bisect_run(struct bisect *bisect);

#endif
