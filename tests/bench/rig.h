/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the benchmarks of the line stand on: a folder beside the program, and in
 * it two ptys with a line of 115200 baud between them (line-pacer).  Functions
 * return 0 or a negative errno; bench_rig_error() has the text.
 */
#ifndef TESTS_BENCH_RIG_H
#define TESTS_BENCH_RIG_H

#include <stdint.h>
#include <sys/types.h>

#define BENCH_BAUD	115200
#define BENCH_BYTE_US	(10e6 / BENCH_BAUD)
#define BENCH_DIR_SIZE	512
#define BENCH_PATH_SIZE (BENCH_DIR_SIZE + 64)

struct bench_rig {
	char dir[BENCH_DIR_SIZE];
	pid_t pacer;
	int ask_fd, answer_fd;
	int host_fd, board_fd; /* the two ends, raw, kept open to the end */
	char error[512];
};

/* Bytes that have gone over the line. */
struct bench_counts {
	uint64_t to_host, to_board;
};

/* A new folder beside the running program, into dir[BENCH_DIR_SIZE]. */
int bench_make_dir(char *dir);
void bench_remove_dir(const char *dir);

/*
 * From here on this process and its children have a real-time priority, where
 * that is permitted: what else the machine does is not what is measured, and a
 * board has a processor of its own.  Close in any case.
 */
int bench_rig_open(struct bench_rig *rig);
void bench_rig_close(struct bench_rig *rig);
const char *bench_rig_error(const struct bench_rig *rig);

int bench_rig_fail(struct bench_rig *rig, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A path in the folder, in path[BENCH_PATH_SIZE]. */
const char *bench_rig_path(const struct bench_rig *rig, const char *name, char *path);

/* Both ends raw again, and the line quiet and empty. */
int bench_rig_reset(struct bench_rig *rig);

int bench_rig_count(struct bench_rig *rig, struct bench_counts *counts);

/* Waits for a child that should end by itself: -ECHILD when it failed; killed after ten seconds. */
int bench_rig_wait(struct bench_rig *rig, pid_t pid, const char *what);

#endif
