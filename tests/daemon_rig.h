/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lab with a daemon that owns it.  Whatever cannot be set up fails the test;
 * the daemon dies with the process that started it.
 */
#ifndef TESTS_DAEMON_RIG_H
#define TESTS_DAEMON_RIG_H

#include "tests/lab_rig.h"

#define DAEMON_RIG_TOKEN "0123456789abcdef-of-a-test"

struct daemon_rig {
	struct lab_rig lab;
	pid_t pid;
	unsigned port;
	char socket[256];
};

/* With a vboard (faults may be NULL), or with nothing behind the wires. */
void daemon_rig_start(struct daemon_rig *rig, const char *faults);
void daemon_rig_start_unplugged(struct daemon_rig *rig);

/* For a rig whose lab was started by itself: what daemon_rig_begin() needs. */
void daemon_rig_prepare(struct daemon_rig *rig);

/* The daemon alone: begin again after it was ended; kill by a signal and wait. */
void daemon_rig_begin(struct daemon_rig *rig);
int daemon_rig_kill(struct daemon_rig *rig, int signal);

/* SIGTERM, which must end it well, and everything removed. */
void daemon_rig_stop(struct daemon_rig *rig);

/* A connection to the Unix socket, or to TCP. */
int daemon_rig_connect(struct daemon_rig *rig, bool over_tcp);

/*
 * Sends these bytes and reads until the daemon closes or a whole answer with a
 * Content-Length is there: its status (0: closed without one); the answer, with
 * headers, is the caller's.
 */
int daemon_rig_send(
	struct daemon_rig *rig, bool over_tcp, const char *bytes, size_t size, char **answer);

/* One request over the Unix socket; the body of the answer as JSON is the caller's. */
int daemon_rig_ask(struct daemon_rig *rig, const char *method, const char *path, const char *body,
	cJSON **json);

/* Submits a suite file; the job's number. */
int daemon_rig_submit(struct daemon_rig *rig, const char *suite);

/* Asks until the job is in this state; the job is the caller's. */
cJSON *daemon_rig_await(struct daemon_rig *rig, int job, const char *state);

/* Reads an open connection until `text` has come, all of it so far in seen[size]. */
void daemon_rig_read_until(int fd, const char *text, char *seen, size_t size);

/* An event stream, or a console, open for reading. */
int daemon_rig_open_stream(struct daemon_rig *rig, const char *path, const char *headers);

/* The worker's process, from the board's holder; 0 if nobody has the board. */
pid_t daemon_rig_get_worker(struct daemon_rig *rig);

#endif
