/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A serial line between a pty, which the host opens, and a device behind a socket, at the real
 * pace of 8N1: ten bits a byte at the sender's rate, in both directions.
 *
 * The device's socket holds half a millisecond of bytes only, and the line takes a byte from
 * either side no sooner than its last bit would have left: nothing is read ahead, so the line falls
 * silent when a real one does. Bytes move in small groups; none is early, and a burst is never
 * faster than the line counted from the burst's first byte. Where the rates of the two sides differ
 * by more than 2.5 %, each byte arrives as another one. What nobody listens to is lost.
 */
#ifndef VBOARD_LINE_H
#define VBOARD_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "boardctl/vboard/fault.h"
#include "boardctl/vboard/loop.h"
#include "boardctl/vboard/pty.h"

/* What one side of a wire reads from and writes to; both may be one descriptor. */
struct line_end {
	int in_fd, out_fd;
};

struct line_counts {
	uint64_t bytes;	  /* handed over, garbled ones included */
	uint64_t garbled; /* by differing rates */
	uint64_t dropped; /* no power, nobody listening, wires cut, receiver full, faults */
};

struct line;

/* One direction. */
struct line_lane {
	struct line *line;
	bool is_to_host;
	bool is_busy;
	int source_fd;	      /* -1: none */
	uint64_t free_ns;     /* when the last byte's stop bit ended */
	uint64_t dry_ns;      /* when the source was found empty */
	unsigned burst_bytes; /* since the line was idle */
	struct loop_timer timer;
	struct fault_stream fault;
	struct line_counts counts;
};

struct line {
	const char *name;
	struct pty pty;
	struct line_end device; /* the line's end of the wires; -1: no power */
	int device_end_fd;	/* of the other end, to change what the socket holds */
	unsigned socket_bytes;	/* which is so many */
	unsigned device_baud, host_baud;
	unsigned next_device_baud;  /* 0: none waits */
	unsigned next_device_bytes; /* at most so many bytes are still of the old rate */
	uint64_t next_rate_ns;	    /* when to ask for the host's rate again */
	bool is_listened;
	bool is_cut;
	bool has_sent;	     /* the device, since it was attached */
	bool is_rate_unused; /* nor since its rate is what it is */
	struct line_lane to_host, to_device;
	struct loop_watch device_watch, master_watch, inotify_watch;
	struct loop_timer reopen_timer;
	/* What the host's adapter does to bytes on their way to it; 0: nothing. */
	unsigned adapter_latency_ms, adapter_chunk;
	uint8_t held[FAULT_USB_CHUNK_MAX];
	size_t held_count;
	struct loop_timer held_timer;
	/* Told every byte of both sides before any damage; NULL: nobody. */
	void (*tap)(void *context, bool is_to_host, uint8_t byte);
	void *tap_context;
};

/*
 * A pair of sockets for line_attach and the device, the smallest that the kernel has, so that the
 * device waits for the line as for a real one; all without blocking, closed on exec. 0 or a
 * negative errno.
 */
int line_make_socket(struct line_end *line_end, struct line_end *device_end);

/*
 * The same of pipes that hold LINE_PIPE_BYTES: the device does not wait until they are full, so its
 * time is its own, and only the host sees the line's pace.
 */
#define LINE_PIPE_BYTES (1 << 20)
int line_make_pipes(struct line_end *line_end, struct line_end *device_end);

void line_close_end(struct line_end *end);

/*
 * Make the pty and the link to it, with no device yet. 0 or a negative errno; close in any case (a
 * zeroed line that was never opened may be closed too). The link is not removed at close.
 */
int line_open(struct line *line, struct loop *loop, const char *name, const char *link);
void line_close(struct line *line);

/*
 * Power to the device at the other end, which the line closes at detach; of device_end, which
 * stays the caller's, it keeps a copy. Faults, if any, start anew for the given power-on. The
 * device's rate is unknown (all garbage) until it is set.
 */
void line_attach(struct line *line, struct line_end end, const struct line_end *device_end,
	const struct fault_plan *plan, unsigned power_on);

/* Power off: what was on its way is lost. */
void line_detach(struct line *line);

/* A new rate of the device; it takes effect once the bytes that may precede it have left. */
void line_set_device_baud(struct line *line, unsigned baud);

/*
 * The host's adapter keeps what it has received until there are chunk bytes of it (at most
 * FAULT_USB_CHUNK_MAX), or latency_ms after the first of them.
 */
void line_set_adapter(struct line *line, unsigned latency_ms, unsigned chunk);

/* The wires break until the next line_attach. */
void line_cut(struct line *line);

#endif
