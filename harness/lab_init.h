/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lab file from what is plugged in: serial ports, HID relays, muxes and card
 * readers by their stable names.  Only looked at: nothing is opened, asked or
 * switched, so which CH340 is the relay is a guess that its comments name.
 */
#ifndef SAMEBOARD_HARNESS_LAB_INIT_H
#define SAMEBOARD_HARNESS_LAB_INIT_H

#include "boardctl/portmatch.h"

#define LAB_INIT_PORTS_MAX 32
#define LAB_INIT_NAMES_MAX 8

struct lab_init {
	struct portmatch_candidate ports[LAB_INIT_PORTS_MAX];
	size_t port_count;
	char muxes[LAB_INIT_NAMES_MAX][64]; /* below /dev/usb-sd-mux */
	size_t mux_count;
	char cards[1024];     /* removable disks, as cardcheck_list() has them; "" = none */
	char first_card[256]; /* the path of the first of them */
	bool has_hid_relay;   /* a DCT one: 16c0:05df */
};

/* Looks around on this machine. */
void lab_init_find(struct lab_init *found);

/* The text of a lab file; the caller's, NULL without memory.  It can be read by lab_parse(). */
char *lab_init_write(const struct lab_init *found);

#endif
