/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decision sheet: six comparisons that answer when Linux is justified, when
 * an RTOS, when less.  It stands on top of every comparison of systems; what a
 * run did not measure says so.  No errors but memory, which shows in the table.
 */
#ifndef SAMEBOARD_HARNESS_SHEET_H
#define SAMEBOARD_HARNESS_SHEET_H

#include "harness/compare.h"
#include "harness/table.h"

/* Systems beyond these have no column. */
#define SHEET_SYSTEMS_MAX (TABLE_COLUMNS_MAX - 1)

/* A column a system behind the questions; table_fini() is the caller's, `align` must outlive it. */
void sheet_fill(
	struct table *table, char align[TABLE_COLUMNS_MAX + 1], const struct compare *compare);

/* The same as JSON: an array of {"question", "answers": {system: text}}. */
cJSON *sheet_to_json(const struct compare *compare);

#endif
