/* SPDX-License-Identifier: Apache-2.0 */
/* A Check program whose tests are cases of their own, each with its time. */
#ifndef TESTS_CASE_TABLE_H
#define TESTS_CASE_TABLE_H

#include <check.h>
#include <stddef.h>

struct case_row {
	const char *name; /* for CK_RUN_CASE */
	const TTest *test;
	int timeout_s;
};

/* The program's exit code. */
int case_table_run(const char *name, const struct case_row *rows, size_t count);

#endif
