/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of other tools as results: cyclictest --json, histograms as text
 * (cyclictest -h and those that print "value count" lines), and our own shape
 * of summaries (harness/results.h).
 *
 * A histogram is counts per value: percentiles are exact to its unit, nearest
 * rank.  What lies beyond its last line is counted where the file says so, and a
 * percentile that lies there is left out.  0 or a negative errno with a text.
 */
#ifndef SAMEBOARD_HARNESS_IMPORT_H
#define SAMEBOARD_HARNESS_IMPORT_H

#include <stddef.h>

struct import_request {
	const char *path;     /* for messages */
	const char *name;     /* of the results */
	const char *citation; /* NULL: a line that names the file */
	const char *unit;     /* of a histogram as text; NULL: us */
};

/*
 * The text of a file as results in JSON (free() it), and the word for its format.
 * -EINVAL where it is none of these.
 */
int import_convert(const struct import_request *request, const char *text, size_t size,
	char **results, const char **format, char *error, size_t error_size);

#endif
