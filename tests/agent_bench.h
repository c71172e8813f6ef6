/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `sameboard-agent bench` run by tests: with an overlay of files that it is to
 * believe, and with a library of lies.  Whatever cannot be run fails the test.
 */
#ifndef TESTS_AGENT_BENCH_H
#define TESTS_AGENT_BENCH_H

#include <cjson/cJSON.h>

struct agent_bench {
	const char *overlay;		  /* a folder, NULL: none */
	const char *lie;		  /* a word of tests/preload/linux_lies.c, NULL: none */
	const char *const *arguments;	  /* "bench", ..., NULL */
	void (*meanwhile)(void *context); /* while it runs, again and again; NULL: nothing */
	void *context;
};

/* Its JSON; the caller deletes it. */
cJSON *agent_bench_run(const struct agent_bench *bench);

/* A string of "facts" or "counters"; "" where there is none. */
const char *agent_bench_get(const cJSON *json, const char *part, const char *key);

#endif
