/* SPDX-License-Identifier: Apache-2.0 */
/* Aims of a benchmark, a line each: "held" or "missed", what, and the value reached. */
#ifndef TESTS_BENCH_AIMS_H
#define TESTS_BENCH_AIMS_H

#include <stdbool.h>
#include <stddef.h>

struct aims {
	char text[4096];
	size_t size;
	unsigned missed;
};

void aims_add(struct aims *aims, bool is_held, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Appends them to a file (NULL: nothing); 0 or a negative errno. */
int aims_append(const struct aims *aims, const char *path);

#endif
