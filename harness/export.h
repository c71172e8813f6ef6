/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run as one file of evidence: raw samples, raw console, hashes,
 * configurations, gates and what they were judged by.  README, "Evidence",
 * has its shape; harness/verify.h reads it without lab and database.
 */
#ifndef SAMEBOARD_HARNESS_EXPORT_H
#define SAMEBOARD_HARNESS_EXPORT_H

#include "db/query.h"

#define EXPORT_FORMAT  "sameboard-evidence"
#define EXPORT_VERSION 1

/*
 * The file's text, which the caller frees.  0, or an error of the store with
 * store_error(), or -ENOMEM.
 */
int export_run(struct store *store, int64_t run_id, char **text);

/* Bytes as base64 of zstd, and back: free() both.  NULL without memory, or for what is neither. */
char *export_pack(const void *data, size_t size);
void *export_unpack(const char *text, size_t *size);

#endif
