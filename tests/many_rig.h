/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One daemon with many recorded boards (tests/recorded_peer.h), a job for each,
 * all pulled at the same time; and what came of it.  Whatever cannot be set up
 * fails the test, as does a job that does not end.
 */
#ifndef TESTS_MANY_RIG_H
#define TESTS_MANY_RIG_H

#include "tests/daemon_rig.h"
#include "tests/recorded_peer.h"

struct many_config {
	struct recorded_options peer;
	unsigned windows;  /* of each job */
	unsigned n;	   /* samples of a window */
	const char *extra; /* keys of the suite, each with a comma behind it; NULL: none */
};

/* Of a pull of all boards: from the end of their window until the first has all of it. */
struct many_pull {
	double wall_s;
	double daemon_s, workers_s; /* processor time of sameboardd, and of its children */
	double peer_s, machine_s;   /* of the recorded boards, and of everything */
	double bytes;		    /* that came over all lines */
};

struct many_memory {
	unsigned long daemon_kb;  /* most that sameboardd ever had */
	unsigned long worker_kb;  /* most that any child had */
	unsigned long workers_kb; /* of all children together, shared pages counted once */
};

/* How the jobs ended, from the database and from the boards. */
struct many_result {
	unsigned windows;	    /* committed, every sample as its board sent it */
	unsigned passed, invalid;   /* runs */
	unsigned long long refused; /* bytes that a host's port had no room for */
	unsigned long long missing; /* bytes that a board sent and its console log has not */
	unsigned long long sent;
	unsigned damaged, retries; /* frames, requests */
	double wall_s, total_s;	   /* from the first job to the last, and processor time for it */
	char wrong[512];	   /* the first thing that is not as it should be; "" */
};

struct many_rig {
	struct many_config config;
	struct daemon_rig daemon;
	struct recording recording;
	struct recorded_peer peer;
	char suite[256];
	double begun_s;
};

void many_rig_start(struct many_rig *rig, const struct many_config *config);

/* A job for every board; back when all are taken. */
void many_rig_submit(struct many_rig *rig);

/* Waits for pull `number` (from 0) of all boards, and looks on until the first has ended it. */
void many_rig_watch_pull(
	struct many_rig *rig, unsigned number, struct many_pull *pull, struct many_memory *memory);

/* Waits until all jobs have ended, and compares. */
void many_rig_finish(struct many_rig *rig, struct many_result *result);

/* What the first run says that has ended badly, as far as is stored. */
void many_rig_explain(const struct many_rig *rig, char *text, size_t size);

void many_rig_stop(struct many_rig *rig);

#endif
