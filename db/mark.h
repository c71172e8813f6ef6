/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to db/: marks and samples as little-endian bytes, so that a file may
 * travel between machines.
 */
#ifndef SAMEBOARD_DB_MARK_H
#define SAMEBOARD_DB_MARK_H

#include "db/store.h"

/* Offset u64, time i64, sent u8. */
#define MARK_SIZE 17

/* count * MARK_SIZE bytes (at least one), which the caller frees; NULL without memory. */
unsigned char *mark_write(const struct store_mark *marks, size_t count);
void mark_read(struct store_mark *marks, size_t count, const unsigned char *bytes);

/* Bytes of an element, 0 for no kind. */
size_t mark_element_size(enum store_series_kind kind);

/* Between host order and little-endian, in place; the same both ways. */
void mark_swap(void *data, size_t count, size_t element_size);

#endif
