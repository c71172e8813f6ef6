/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which series of a window are rows of a report, and what such a row is
 * called.  No errors, no state.
 */
#ifndef SAMEBOARD_HARNESS_ROWS_H
#define SAMEBOARD_HARNESS_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/query.h"

/* Samples that the window was made for: not its floors, warm-up, brackets or instructions. */
bool rows_is_measured(const char *series);

/* Samples that are lateness against a release: only they can miss or be early. */
bool rows_is_lateness(const char *series);

/* What a series is in that is not in counts of the counter ("ms", "KiB", "of 1"); NULL: counts. */
const char *rows_unit(const char *series);

/* The period of a series that has one of its own ("period.100us"), else 0. */
uint32_t rows_period_us(const char *series);

/* A bench that every run has, for its gates: no row of a comparison. */
bool rows_is_gate_bench(unsigned bench_id);

/* Whether a series is a row of a comparison. */
bool rows_is_compared(unsigned bench_id, const char *series);

/* "wake.idle aligned", "mutex.pair plain", "irq.split isr"; phase may be "". */
void rows_name(char *name, size_t size, const char *bench, const char *phase, const char *series);

/*
 * The same of stored figures, with what tells windows of one benchmark apart:
 * "wake.idle aligned heavy", "wake.idle aligned 250 us".
 */
void rows_name_figures(char *name, size_t size, const struct query_figures *figures);

/* Whether two series answer the same question: benchmark, phase, load, period and name. */
bool rows_is_same(const struct query_figures *a, const struct query_figures *b);

#endif
