/* SPDX-License-Identifier: Apache-2.0 */
/* From the bytes of a series as they came over the wire to its values. */
#ifndef SAMEBOARD_HARNESS_DECODE_H
#define SAMEBOARD_HARNESS_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "protocol/series.h"

#define DECODE_VALUES_SIZE_MAX (64u << 20) /* bytes of the values of one series */

/*
 * entry->bytes bytes to entry->count values in host byte order, with a NUL
 * behind them; the caller frees *values.  0, or a negative errno with *values
 * NULL and the reason in `error`: -EPROTO (kind, encoding, or no such stream:
 * with the offset), -EMSGSIZE (more than is accepted), -ENOMEM.
 */
int decode_series(const struct series_entry *entry, const uint8_t *bytes, void **values,
	char *error, size_t error_size);

#endif
