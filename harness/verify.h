/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of evidence judged again, by what is in it alone: hashes, the figures
 * from the samples, every gate from samples, counters and what the host saw, and
 * the verdict that follows.  Where a file was changed and its hashes made to fit
 * again, what is reckoned anew still differs from what stands there.
 *
 * 0 or a negative errno: -EINVAL where it is no such file.
 */
#ifndef SAMEBOARD_HARNESS_VERIFY_H
#define SAMEBOARD_HARNESS_VERIFY_H

#include <cjson/cJSON.h>
#include <stdbool.h>

struct verify_check {
	const char *what; /* "gates" */
	unsigned done, wrong;
	char detail[320]; /* of the first that was wrong; or why nothing was done */
};

enum verify_kind {
	VERIFY_FILE,
	VERIFY_SERIES,
	VERIFY_FIGURES,
	VERIFY_CONSOLE,
	VERIFY_CONFIGURATION,
	VERIFY_GATES,
	VERIFY_VERDICT,
	VERIFY_CHECKS,
};

struct verify {
	struct verify_check checks[VERIFY_CHECKS];
	char title[160]; /* "run 3, linux, pass" */
	char error[256];
};

int verify_file(struct verify *verify, const char *path);
int verify_text(struct verify *verify, const char *text, size_t size);

/* Whether nothing was wrong, and something was done. */
bool verify_holds(const struct verify *verify);

#endif
