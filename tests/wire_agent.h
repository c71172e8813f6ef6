/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The real agent core (agents/core) at the far end of a simulated line. It
 * runs in a thread of its own, but never at the same time as the line: they
 * hand over to each other, so runs repeat and time is the line's. Its UART has
 * a 24 MHz clock; the board around it can be reset.
 */
#ifndef TESTS_WIRE_AGENT_H
#define TESTS_WIRE_AGENT_H

#include <pthread.h>

#include "agents/core/agent.h"
#include "tests/wire_line.h"

#define WIRE_AGENT_BENCH 77u	  /* fills `latency` with n seeded values */
#define WIRE_AGENT_BASE	 1500000u /* the UART makes this / n */

struct wire_agent {
	struct agent_port port; /* first: the port's operations cast back */
	struct wire_line *line;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t turned;
	bool is_agents_turn;
	bool is_closing;
	bool is_over;
	bool wants_bytes;
	uint64_t reset_ns; /* when the board is reset; 0 = never */
	uint64_t boot_ns;  /* when the agent starts after it; 0 = it runs */
	uint32_t resets;
	uint64_t wake_ns; /* when the agent waits no longer */
	uint8_t input[4096];
	size_t input_size;
	uint32_t overruns; /* bytes that a 64-byte receive buffer would have lost */
	void *arena;
};

/* Starts the agent: its HELLO is on the line as soon as the line runs. */
void wire_agent_init(struct wire_agent *agent, struct wire_line *line);
void wire_agent_fini(struct wire_agent *agent);

/* The value that the bench stores at that place. */
int32_t wire_agent_value(uint32_t seed, uint32_t at);

#endif
