/* SPDX-License-Identifier: Apache-2.0 */
/*
 * B95 price: what the target itself knows of it, `ram_kib`, the memory that
 * the system has in use.  Times since power-on and the image's size are the
 * host's to know; it adds them to the window.
 */
#ifndef AGENTS_CORE_PRICE_H
#define AGENTS_CORE_PRICE_H

#include "agents/core/window.h"

const char *price_check(const struct agent_port *port);
int price_prepare(struct window *window);
uint32_t price_estimate_ms(const struct window *window);
int price_run(struct window *window);

#endif
