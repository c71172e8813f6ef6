/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sameboardd: owns the boards of a lab, and works on the jobs of its queue,
 * one a board.  The daemon itself touches no board: each job, and each board
 * that a dead job left behind, is given to a child process that runs
 * `sameboard work` or `sameboard recover`.  A child that crashes takes nothing
 * with it, a daemon that is killed takes its children along (they end in the
 * rest state), and what is killed with them is recovered at the next start.
 *
 * One thread, one loop: signals, children, HTTP.  Nothing in it waits for a
 * board or for a client.
 */
#ifndef SAMEBOARD_HARNESS_DAEMON_H
#define SAMEBOARD_HARNESS_DAEMON_H

#include <limits.h>
#include <poll.h>
#include <sys/types.h>

#include "db/queue.h"
#include "harness/access.h"
#include "harness/job_log.h"
#include "harness/lab.h"

struct http;

struct daemon_config {
	const char *lab;	/* NULL: where lab_open() looks */
	const char *db;		/* required */
	const char *images;	/* required */
	const char *socket;	/* required */
	const char *listen;	/* "127.0.0.1:8080", port 0: any; NULL: no TCP */
	const char *token_file; /* NULL: nothing is changed over TCP */
};

/* One board and the child that has it. */
struct daemon_worker {
	struct daemon *daemon;
	const struct lab_board *board;
	struct stream console; /* raw, from the board, of the present or the last job */
	unsigned viewers;      /* of the console */
	pid_t pid;	       /* of the child; 0: none */
	bool is_recovery;      /* it recovers the board, else it works on a job */
	int report;	       /* the child's records, -1: none */
	int64_t job;	       /* that is worked on, or that is recovered after; 0: none */
	bool is_cancelled;     /* somebody asked; the child has been told */
	uint64_t kill_ms;      /* monotonic: then it is killed; 0: never */
	bool needs_recovery;   /* before the next job */
	uint64_t retry_ms;     /* monotonic: not before */
	unsigned failures;     /* recoveries in a row that failed */
	char error[1024];      /* last that the child told */
	/* What the child's job ended with, while the store cannot take it. */
	bool is_ending, is_end_refused;
	enum queue_state end_state;
	int end_code;
	char end_error[1024];
};

struct daemon {
	struct daemon_config config;
	struct lab *lab;
	struct store *store;
	struct access access;
	struct job_logs logs;
	struct daemon_worker *workers; /* one a board of the lab, in its order */
	size_t worker_count;
	struct http *http;
	char program[PATH_MAX]; /* sameboard, beside this program */
	char lab_path[PATH_MAX], db_path[PATH_MAX], images_path[PATH_MAX]; /* absolute */
	int locks[2];		     /* of the socket and of the database */
	int signals;		     /* signalfd */
	int unix_socket, tcp_socket; /* listening; -1: none */
	int parent;		     /* process id, for children */
	bool is_bound;		     /* the socket's file is ours */
	unsigned port;		     /* of TCP */
	bool is_stopping;
	bool must_tick;	     /* a child has ended */
	uint64_t ticked_ms;  /* monotonic: when the workers were looked after */
	uint64_t reports_ms; /* monotonic: when there were records */
	char error[1024];
};

/* Lab, store, locks, sockets.  0 or an exit code with the text in daemon->error. */
int daemon_open(struct daemon *daemon, const struct daemon_config *config);

/* Until SIGTERM or SIGINT; the children are ended first.  An exit code. */
int daemon_run(struct daemon *daemon);
void daemon_close(struct daemon *daemon);

/* Writes error, returns code. */
int daemon_fail(struct daemon *daemon, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* ---------------------------------------------------------------- sockets */

/* Listening sockets and locks into daemon; 0 or an exit code. */
int daemon_socket_open(struct daemon *daemon);
void daemon_socket_close(struct daemon *daemon);

/* ---------------------------------------------------------------- workers */

/* What earlier daemons and clients left: jobs without a worker, boards. */
int daemon_worker_init(struct daemon *daemon);

/* Starts what can be started, retries what failed; once a second and when a child has ended. */
void daemon_worker_tick(struct daemon *daemon, uint64_t now_ms);

/* After SIGCHLD, and when a worker's socket has something. */
void daemon_worker_reap(struct daemon *daemon);
void daemon_worker_read(struct daemon_worker *worker);

/* Asks all children to end; true while any lives. */
bool daemon_worker_stop_all(struct daemon *daemon);

struct daemon_worker *daemon_worker_find(struct daemon *daemon, const char *board);

/*
 * Ends a job: one that waits at once, one that runs by SIGTERM to its worker.
 * 0, or a negative errno as queue_end() with store_error().
 */
int daemon_worker_cancel(struct daemon *daemon, int64_t job);

#endif
