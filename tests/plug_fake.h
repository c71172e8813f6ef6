/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Imitations of plugs in a network, from their vendors' protocols: what each
 * answers to what it is asked, and what it does not understand.
 */
#ifndef TESTS_PLUG_FAKE_H
#define TESTS_PLUG_FAKE_H

#include <stdbool.h>

#include "tests/http_fake.h"

struct plug_fake {
	_Atomic bool is_on[4]; /* by the plug's own number, from 0 */
	bool is_stuck;
	bool is_single;	    /* Tasmota with one relay: "POWER" */
	bool ignores_query; /* Tasmota: no answer to a bare "Power1" */
	bool measures;
	const char *password; /* NULL: none wanted */
	unsigned refused;     /* requests that it could not make sense of */
};

http_fake_handler plug_fake_tasmota, plug_fake_shelly1, plug_fake_shelly2, plug_fake_pdudaemon;

#endif
