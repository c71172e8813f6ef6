/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent at the board's end of the rig's line, the harness at the host's, a
 * new database, and a session between the two.  Functions return 0 or a
 * negative errno with bench_rig_error().
 */
#ifndef TESTS_BENCH_SESSION_H
#define TESTS_BENCH_SESSION_H

#include "tests/bench/rig.h"
#include "tests/bench/served.h"
#include "tests/bench/stored.h"

struct bench_session {
	struct bench_rig *rig;
	struct served *served; /* shared with the agent */
	struct stored stored;
	struct peer *peer;
	pid_t agent;
};

/* For windows of these samples, which must outlive it.  Close in any case. */
int bench_session_open(
	struct bench_session *session, struct bench_rig *rig, const struct samples *samples);

/* Sends the agent away if rc is 0, else ends it; returns rc, or how that failed. */
int bench_session_close(struct bench_session *session, int rc);

/* With the peer's text. */
int bench_session_fail(struct bench_session *session, int rc, const char *doing);

#endif
