/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An agent as a program behind a pty, and the host's side of the protocol at
 * the other end.  Whatever cannot be set up fails the test.
 */
#ifndef TESTS_PTY_AGENT_H
#define TESTS_PTY_AGENT_H

#include <sys/types.h>

#include "harness/peer.h"

struct pty_agent {
	int host;
	int console; /* kept open here too, so that its settings outlive the agent */
	pid_t pid;
	uint32_t baud;	   /* what the peer has asked for; a pty has no rate */
	size_t text_bytes; /* that belonged to no frame */
	struct peer peer;
};

/* argv ends with NULL; an argument "@" becomes the pty's path. */
void pty_agent_start(struct pty_agent *agent, const char *const argv[]);

/* Waits until it has ended by itself: its status as of waitpid(). */
int pty_agent_wait(struct pty_agent *agent);

/* Ends it if it still runs. */
void pty_agent_stop(struct pty_agent *agent);

#endif
