/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A serial line in simulated time, with a peer's link at one end and a target
 * at the other: bytes take their 8N1 time at the sender's rate, come garbled
 * where the receiver has another, get lost or flipped with a seed, and whole
 * frames can be made to vanish. Nothing here waits for real time.
 */
#ifndef TESTS_WIRE_LINE_H
#define TESTS_WIRE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/peer.h"

#define WIRE_NEVER UINT64_MAX
#define WIRE_CHUNK 62u /* bytes that an adapter moves together */

struct wire_byte {
	uint64_t at_ns; /* when its stop bit is over */
	uint32_t baud;	/* the sender's */
	uint8_t byte;
};

struct wire_queue {
	struct wire_byte *bytes;
	size_t head;
	size_t tail;
	size_t capacity;
	uint64_t free_ns; /* when the sender's shift register is empty */
};

/* What stands at the far end. */
struct wire_end {
	void *context;
	void (*receive)(void *context, uint8_t byte);
	uint64_t (*wake_ns)(void *context); /* when it wants to act, or WIRE_NEVER */
	void (*act)(void *context);
};

struct wire_line {
	uint64_t now_ns;
	uint32_t host_baud;
	uint32_t target_baud;
	uint32_t max_baud; /* above it everything is garbled: a bad adapter; 0 = none */
	bool is_one_rate;  /* the host's port refuses any other */
	struct wire_queue to_host;
	struct wire_queue to_target;
	struct wire_end end;
	uint64_t random;
	uint32_t noise_in;     /* one bit in so many flips; 0 = none */
	uint32_t drop_in;      /* one byte in so many is lost; 0 = none */
	uint32_t duplicate_in; /* one chunk in so many comes twice; 0 = none */
	uint32_t reorder_in;   /* one in so many changes places with the next; 0 = none */
	uint64_t cut_from_ns;  /* nothing comes through from here */
	uint64_t cut_until_ns; /* to here */
	uint64_t timer_ns;     /* the host gets bytes when its adapter's timer ticks; 0 = at once */
	unsigned int lose_host; /* the next so many frames of lose_host_type vanish */
	uint8_t lose_host_type;
	unsigned int lose_target; /* the same for the target's frames */
	uint8_t lose_target_type;
	unsigned int damage_target; /* one byte of it changes instead */
	size_t damage_at;	    /* which one; 0 = the one in the middle */
	uint8_t damage_mask;	    /* which bits; 0 = 0x41 */
	uint8_t damage_target_type;
	bool is_cut;	/* nothing comes through at all */
	int read_error; /* negative errno */
	int write_error;
	unsigned int frames_from_host;
};

void wire_line_init(struct wire_line *line, uint32_t baud, uint64_t seed);
void wire_line_fini(struct wire_line *line);

/* A link for peer_init(). */
struct peer_link wire_line_get_link(struct wire_line *line);

/* The target's own rate. */
void wire_line_set_target_baud(struct wire_line *line, uint32_t baud);

/* The target sends: a frame or text. */
void wire_line_send(struct wire_line *line, const uint8_t *bytes, size_t size);

#endif
