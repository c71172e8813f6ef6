/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One window of one benchmark without a host: `sameboard-agent bench wake.cpu`
 * prints a table for a person, or JSON.  The same code measures as for a host.
 */
#ifndef AGENTS_LINUX_BENCH_H
#define AGENTS_LINUX_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "agents/linux/port.h"

struct bench_request {
	const char *name; /* of the catalogue, "wake.cpu" */
	uint32_t n;
	uint32_t period_us;
	uint32_t duration_ms;
	uint32_t seed;
	bool is_arbitrary; /* phase */
	bool is_json;
};

/* What a person gets who names no numbers. */
extern const struct bench_request bench_defaults;

/*
 * 0, or a negative enum wire_error with what is wrong printed to `errors`.  The
 * port is set up with its memory.
 */
int bench_run(
	struct linux_port *port, const struct bench_request *request, FILE *out, FILE *errors);

#endif
