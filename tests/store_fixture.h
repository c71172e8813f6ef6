/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store with known content for tests.  Whatever cannot be done fails the test.
 */
#ifndef TESTS_STORE_FIXTURE_H
#define TESTS_STORE_FIXTURE_H

#include "db/query.h"
#include "db/store.h"

#define FIXTURE_T0 1700000000000

/* Opens or fails with the store's text. */
struct store *fixture_open(const char *path);

int64_t fixture_job(struct store *store, const char *suite);

/* A run that started at FIXTURE_T0 + at_ms. */
int64_t fixture_run(struct store *store, int64_t job, const char *system, int64_t at_ms);

/* A plain window description. */
struct store_window fixture_window(unsigned number);

/*
 * Begins, fills and commits window `number`: one series "latency" of `count`
 * values that depend on the number only.  0 or the store's error.
 */
int fixture_store_window(struct store *store, int64_t run, unsigned number, size_t count);

/* Fails unless window `number` of the run is there and whole. */
void fixture_check_window(struct store *store, int64_t run, unsigned number, size_t count);

/* Runs SQL on the file behind the store's back. */
void fixture_sql(const char *path, const char *sql);

/* One integer of it. */
int64_t fixture_get(const char *path, const char *sql);

#endif
