/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults on demand: what the --fault list means, and the seeded damage to bytes on a line.
 *
 * Each stream draws from its own generators, seeded by --seed, the number of the power-on, the
 * direction and the kind of damage: the same bytes are damaged the same way in the same place,
 * whatever else happens, and a second power-on has other damage than the first.
 */
#ifndef VBOARD_FAULT_H
#define VBOARD_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A probability, from power-on or only from the guest's first frame (its first byte 00). */
struct fault_rate {
	double probability;
	bool from_frame;
};

enum fault_card { FAULT_CARD_NONE, FAULT_CARD_DUT, FAULT_CARD_HOST };
enum fault_relay { FAULT_RELAY_NONE, FAULT_RELAY_OPEN, FAULT_RELAY_CLOSED };

struct fault_plan {
	uint64_t seed;
	struct fault_rate noise; /* a bit */
	struct fault_rate drop;	 /* a byte */
	unsigned
		eaten_bytes; /* so many of the board's first never come: an adapter that wakes up */
	double reset_after_s;	  /* 0: never */
	double reset_in_window_s; /* 0: never */
	double cut_uart_s;	  /* 0: never */
	bool hangs_uboot;
	bool bounces;		  /* the contacts open once more just after closing */
	unsigned usb_latency_ms;  /* of the console's adapter; 0: none */
	unsigned usb_chunk_bytes; /* it delivers so many at once without waiting */
	enum fault_card card;	  /* which side finds no card */
	enum fault_relay relay;	  /* contacts that never close, or never open again */
};

#define FAULT_USB_CHUNK_BYTES 62 /* a full-speed packet of an FTDI chip without its status */
#define FAULT_USB_CHUNK_MAX   512

/*
 * Parse a comma-separated list into the plan, which is not cleared. Returns 0, or -EINVAL with a
 * text in error that names the item and the known faults.
 */
int fault_parse(struct fault_plan *plan, const char *list, char *error, size_t error_size);

/* The known faults, one "form  what it does" a line, ends with an empty entry (NULL). */
struct fault_help {
	const char *form, *text;
};
const struct fault_help *fault_get_help(unsigned index);

struct fault_stream {
	uint64_t noise_state, drop_state, garble_state;
	uint64_t noise_limit, drop_limit; /* of 2^64 */
	unsigned eats;			  /* so many more are lost */
	uint64_t flipped_bits, dropped_bytes;
	bool is_armed; /* the first frame has been seen */
	const struct fault_plan *plan;
};

/* Begin a power-on; direction 0 is to the host, 1 to the device. Counts of bits and bytes stay. */
void fault_stream_start(struct fault_stream *stream, const struct fault_plan *plan,
	unsigned power_on, unsigned direction);

/* The guest's first frame has begun: rates "@frame" count from here. */
void fault_stream_arm(struct fault_stream *stream);

/* Damage one byte in place; false when the byte is lost. */
bool fault_stream_pass(struct fault_stream *stream, uint8_t *byte);

/* What a receiver at a wrong rate makes of the byte: always another one. */
uint8_t fault_stream_garble(struct fault_stream *stream, uint8_t byte);

#endif
