/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line-pacer DIR: a serial line between two ptys, DIR/host and DIR/board, with the pace of the
 * virtual panel's UART: 8N1, at first 115200 baud, then the rates that the two are set to. Says
 * "ready" when they are there; answers each line on standard input by the bytes handed over so far,
 * to the host and to the board; ends with it.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boardctl/vboard/line.h"

#define BAUD	115200
#define RATE_NS (2 * LOOP_MS) /* the board's rate is looked at so often */

struct pacer {
	struct loop loop;
	struct line line;
	struct pty board;
	struct loop_watch asked;
	struct loop_timer rate_timer;
	unsigned board_baud;
};

/* The board's UART has no divisor to see here, only a terminal's setting. */
static void note_rate(void *context, uint64_t now_ns)
{
	struct pacer *pacer = context;
	unsigned baud = pty_get_baud(&pacer->board);

	if (baud != pacer->board_baud)
		line_set_device_baud(&pacer->line, baud);
	pacer->board_baud = baud;
	pacer->rate_timer.due_ns = now_ns + RATE_NS;
}

static void answer(void *context, short revents)
{
	struct pacer *pacer = context;
	char question[16];

	(void)revents;
	if (read(STDIN_FILENO, question, sizeof(question)) <= 0) {
		loop_end(&pacer->loop);
		return;
	}
	printf("%llu %llu\n", (unsigned long long)pacer->line.to_host.counts.bytes,
		(unsigned long long)pacer->line.to_device.counts.bytes);
	fflush(stdout);
}

static int fail(const char *what, int error)
{
	fprintf(stderr, "line-pacer: %s: %s\n", what, strerror(-error));
	return 1;
}

int main(int argc, char **argv)
{
	static const struct fault_plan no_faults;
	static const struct line_end no_socket = {-1, -1};
	static struct pacer pacer;
	char path[4096];
	int rc;

	if (argc != 2 || strlen(argv[1]) + sizeof("/board") > sizeof(path)) {
		fputs("usage: line-pacer DIR\n", stderr);
		return 2;
	}
	snprintf(path, sizeof(path), "%s/board", argv[1]);
	rc = pty_open(&pacer.board, path, BAUD);
	if (rc < 0)
		return fail(path, rc);
	snprintf(path, sizeof(path), "%s/host", argv[1]);
	rc = line_open(&pacer.line, &pacer.loop, "line", path);
	if (rc < 0)
		return fail(path, rc);
	line_attach(&pacer.line, (struct line_end){pacer.board.master_fd, pacer.board.master_fd},
		&no_socket, &no_faults, 1);
	pacer.rate_timer.expired = note_rate;
	pacer.rate_timer.context = &pacer;
	loop_add_timer(&pacer.loop, &pacer.rate_timer);
	note_rate(&pacer, loop_now_ns());
	pacer.asked = (struct loop_watch){STDIN_FILENO, POLLIN, answer, &pacer};
	loop_add_watch(&pacer.loop, &pacer.asked);
	/* Above the two sides: wires do not wait for processors. */
	sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 2});
	puts("ready");
	fflush(stdout);
	rc = loop_run(&pacer.loop);
	return rc < 0 ? fail("waiting", rc) : 0;
}
