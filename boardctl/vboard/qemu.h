/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The board itself: one QEMU with OpenSBI and U-Boot, from power-on to power-off.
 *
 * Its UART, its monitor and its trace of the UART's divisor are descriptors that it inherits, so
 * nothing of it appears in the file system. It dies with vboard. Its standard output and error go
 * to the log.
 */
#ifndef VBOARD_QEMU_H
#define VBOARD_QEMU_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "boardctl/vboard/line.h"
#include "boardctl/vboard/loop.h"

/* The UART's clock in the virt board's own device tree. */
#define QEMU_UART_CLOCK_HZ 3686400

/* Strings are borrowed for the life of the qemu. */
struct qemu_config {
	const char *program; /* "qemu-system-riscv64" */
	const char *uboot, *bios, *card;
	unsigned memory_mb;
	bool is_icount; /* guest time is a function of executed instructions, and of the seed */
	uint64_t seed;
	unsigned uart_hz;
	int tree_fd; /* a device tree with that clock; -1: the emulator's own */
};

struct qemu {
	const struct qemu_config *config;
	pid_t pid; /* 0: not running */
	int monitor_fd, trace_fd;
	bool has_card;	     /* a card is in the slot */
	int answers_missing; /* to commands sent */
	char monitor_text[4096], trace_text[256];
	size_t monitor_used, trace_used;
	struct loop_watch monitor_watch, trace_watch;
	/* The machine begins to run, some time after qemu_start. */
	void (*started)(void *context);
	/* The guest has programmed its UART for this rate. */
	void (*baud_changed)(void *context, unsigned baud);
	void *context;
};

void qemu_init(struct qemu *qemu, struct loop *loop, const struct qemu_config *config);

/*
 * Start with or without the card, the UART at that end (the parent's copy is closed in any case).
 * 0 or a negative errno; a program that cannot be executed shows as an early end.
 */
int qemu_start(struct qemu *qemu, struct line_end *uart, bool with_card);

/* SIGKILL and reap; nothing happens when it does not run. */
void qemu_kill(struct qemu *qemu);

/* A child has ended: true when it was this one, which is then no longer running. */
bool qemu_reap(struct qemu *qemu, pid_t pid, int status);

/* In repeatable time its threads share a processor; from now on they need not. */
void qemu_let_threads_go(const struct qemu *qemu);

/* Commands to a running machine; without one they do nothing. */
void qemu_reset(struct qemu *qemu);
void qemu_freeze(struct qemu *qemu);

/* The same, but they wait until the machine has the card's file, or has let go of it. */
void qemu_insert_card(struct qemu *qemu);
void qemu_remove_card(struct qemu *qemu);

#endif
