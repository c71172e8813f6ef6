/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real servers of a lab, started by tests on free ports of the loopback: ser2net
 * in front of a terminal, PDUDaemon in front of shell commands.  They die with
 * the test.  Whatever cannot be set up fails it.
 */
#ifndef TESTS_SERVER_RIG_H
#define TESTS_SERVER_RIG_H

#include <sys/types.h>

#include "tests/scratch.h"

struct server_rig {
	pid_t pid;
	unsigned port;
	char address[32]; /* "127.0.0.1:PORT" */
};

/* ser2net for the terminal at path; protocol is "tcp" or "telnet(rfc2217),tcp". */
void server_rig_start_ser2net(
	struct server_rig *rig, struct scratch *scratch, const char *path, const char *protocol);

/* PDUDaemon with one PDU "rack", whose commands run in a shell; %s is the outlet. */
void server_rig_start_pdudaemon(
	struct server_rig *rig, struct scratch *scratch, const char *on, const char *off);

/* SIGTERM, and its end awaited. */
void server_rig_stop(struct server_rig *rig);

/* A port of the loopback that nobody had a moment ago. */
unsigned server_rig_find_port(void);

#endif
