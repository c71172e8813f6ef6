/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts the series of a window that is over into their coded form (PROTOCOL.md,
 * "Coded series"), over their own memory.  What would not become smaller stays
 * raw.
 */
#ifndef AGENTS_CORE_PACK_H
#define AGENTS_CORE_PACK_H

#include "agents/core/window.h"
#include "protocol/codec.h"

/*
 * Once for each series; sets its encoding and encoded_size.  The model and the
 * spare memory are for this call only; a series whose coded form does not fit
 * into the spare memory stays raw.
 */
void pack_series(
	struct window_series *series, struct codec_model *model, uint8_t *spare, size_t spare_size);

/* What packing may take, in ms, for all series of a window as it was armed. */
uint32_t pack_estimate_ms(const struct window *window);

#endif
