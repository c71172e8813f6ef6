/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the panel came up as a whole: display, touch, Wi-Fi and address, as
 * facts that a suite may require.  What is not there is `none`.
 */
#ifndef AGENTS_LINUX_PANEL_H
#define AGENTS_LINUX_PANEL_H

#include "agents/core/text.h"

/* display, display.mode, display.rate_hz, touch, wifi, wifi.state, ip. */
void panel_write_facts(struct text *text);

#endif
