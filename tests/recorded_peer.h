/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many boards in one process of their own, each behind two ptys: a console at
 * 115200 8N1 and an LCUS relay.  They are recorded, not emulated: the boot
 * dialogue is said as it was heard once, and the samples of a window are
 * latencies that were measured once (tests/recording.h).  In between the real
 * agent core (agents/core) answers, since nonces and sequence numbers are new
 * each time.  A window takes no measurement: it ends when every board is in it,
 * so that all are pulled at once.
 *
 * Each byte takes its time on the line, in both directions; the adapter hands
 * over chunk_size of them at a time.  Like a UART, a board waits for
 * nobody: what the host's port does not take is lost, and counted.
 *
 * Whatever cannot be set up fails the test.  The process dies with the one that
 * started it.
 */
#ifndef TESTS_RECORDED_PEER_H
#define TESTS_RECORDED_PEER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "tests/recording.h"

#define RECORDED_BOARDS_MAX 256

/* Of one board, since the process began; written by it, read by all. */
struct recorded_tally {
	atomic_ullong sent;	/* bytes that the host's port took */
	atomic_ullong refused;	/* bytes that it had no room for */
	atomic_ullong received; /* bytes from the host */
	atomic_uint armed;	/* windows */
	atomic_uint ran;
	atomic_bool is_on;
};

struct recorded_shared {
	atomic_uint arrived; /* in windows, over all boards and windows */
	struct recorded_tally boards[RECORDED_BOARDS_MAX];
};

struct recorded_options {
	unsigned boards;
	unsigned chunk_size;	/* bytes that an adapter hands over at a time */
	unsigned byte_ns;	/* that a byte takes; 0: as at 115200 */
	unsigned chatter_bytes; /* that the system says before its agent announces itself */
	int32_t drift;		/* added to each sample, for each window that the board has had */
	const char *platform;	/* NULL: one whose numbers are emulated */
};

struct recorded_peer {
	const struct recording *recording;
	struct recorded_options options;
	struct recorded_shared *shared;
	pid_t pid;
};

/* Ports are DIR/uart.N and DIR/relay.N, with N from 0. */
void recorded_peer_start(struct recorded_peer *peer, const struct recording *recording,
	const char *dir, const struct recorded_options *options);
void recorded_peer_stop(struct recorded_peer *peer);

/* ------------------------------------------------------- in its process only */

struct recorded_board;

/* Opens the ports; NULL when that fails. */
struct recorded_board *recorded_board_new(
	const struct recorded_peer *peer, unsigned number, const char *dir, uint64_t counter_hz);

/* A thread's function: serves the host for ever. */
void *recorded_board_run(void *board);

#endif
