/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages inside frames: one struct a message, one table that says how
 * its fields lie in the body (PROTOCOL.md, "Messages"). Freestanding; decoded
 * messages own their strings, only DATA points into the body it came from.
 * Errors are enum wire_error.
 */
#ifndef PROTOCOL_MESSAGE_H
#define PROTOCOL_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/frame.h"

#define MESSAGE_PROTO_MAJOR 1u /* differs: refused with WIRE_ERROR_VERSION */
#define MESSAGE_PROTO_MINOR 1u /* grows with every addition */

#define MESSAGE_NAME_SIZE 32u			 /* strings in messages, with their NUL */
#define MESSAGE_TEXT_SIZE 64u			 /* ERROR.text, with its NUL */
#define MESSAGE_READ_MAX  65536u		 /* READ.length */
#define MESSAGE_DATA_MAX  (FRAME_BODY_MAX - 10u) /* bytes in one DATA */

enum message_type {
	MESSAGE_HELLO = 0x01,	  /* target: unasked once at start, and answers SESSION */
	MESSAGE_SESSION = 0x02,	  /* host */
	MESSAGE_PING = 0x03,	  /* host */
	MESSAGE_PONG = 0x04,	  /* target */
	MESSAGE_PROBE = 0x05,	  /* host, no body */
	MESSAGE_PROBED = 0x06,	  /* target */
	MESSAGE_CATALOG = 0x07,	  /* host, no body */
	MESSAGE_CATALOGED = 0x08, /* target */
	MESSAGE_ARM = 0x09,	  /* host */
	MESSAGE_ARMED = 0x0a,	  /* target */
	MESSAGE_GO = 0x0b,	  /* host; never answered, not even by ERROR */
	MESSAGE_DONE = 0x0c,	  /* target, unasked, ends the silence; seq of GO */
	MESSAGE_READ = 0x0d,	  /* host */
	MESSAGE_DATA = 0x0e,	  /* target, a train of them */
	MESSAGE_RELEASE = 0x0f,	  /* host */
	MESSAGE_RELEASED = 0x10,  /* target */
	MESSAGE_QUIT = 0x11,	  /* host, no body */
	MESSAGE_BYE = 0x12,	  /* target, no body */
	MESSAGE_ERROR = 0x13,	  /* target, in place of any answer */
	MESSAGE_BAUD = 0x14,	  /* host */
	MESSAGE_BAUDED = 0x15,	  /* target */
};

enum message_state {
	MESSAGE_STATE_IDLE = 0,
	MESSAGE_STATE_ARMED = 1,
	MESSAGE_STATE_RUNNING = 2,
	MESSAGE_STATE_DONE = 3,
};

enum message_load {
	MESSAGE_LOAD_IDLE = 0,
	MESSAGE_LOAD_CPU = 1,	   /* endless integer loop over 4 kB */
	MESSAGE_LOAD_CACHE = 2,	   /* caches and address translation dirtied again and again */
	MESSAGE_LOAD_IPC = 3,	   /* ping-pong, threads created and joined, processes forked */
	MESSAGE_LOAD_LIGHT = 4,	   /* 25 % busy */
	MESSAGE_LOAD_MODERATE = 5, /* 50 % busy */
	MESSAGE_LOAD_HEAVY = 6,	   /* 75 % busy with memory and I/O */
	MESSAGE_LOAD_MIXED = 7,	   /* cpu, cache and ipc in turn, never idle */
	MESSAGE_LOAD_IO = 8,	   /* blocks to a file, each bundle of them made to last */
	MESSAGE_LOAD_RX = 9,	   /* a flood on the line: no target has it, a window is silent */
	MESSAGE_LOAD_THERMAL = 10, /* each processor kept busy without a pause */
	MESSAGE_LOADS,
};

#define MESSAGE_ARM_ARBITRARY_PHASE 0x01u /* ARM.flags: random phase from the seed */

/* Limits of BAUD's times, ms. */
#define MESSAGE_BAUD_CONFIRM_MIN 50u
#define MESSAGE_BAUD_CONFIRM_MAX 10000u
#define MESSAGE_BAUD_IDLE_MIN	 100u
#define MESSAGE_BAUD_IDLE_MAX	 60000u

struct message_hello {
	uint8_t proto_major;
	uint8_t proto_minor;
	uint16_t max_body;		 /* the longest body that this target sends */
	uint8_t state;			 /* enum message_state */
	uint64_t uptime;		 /* counts of the counter since the system started */
	uint32_t counter_hz;		 /* rate of that free-running counter */
	char system[MESSAGE_NAME_SIZE];	 /* "linux", "baremetal" */
	char version[MESSAGE_NAME_SIZE]; /* of the agent */
};

struct message_session {
	uint8_t proto_major;
	uint8_t proto_minor;
	uint32_t nonce; /* never 0 */
};

struct message_ping {
	uint64_t cookie;
};

/* How a window ended: the body of DONE, and the tail of PONG. */
struct message_done {
	uint16_t window;
	int16_t status;	     /* 0 or enum wire_error */
	uint32_t index_size; /* bytes of series 0 */
	uint32_t index_crc;  /* crc32c of it */
	uint64_t start;	     /* counter when the window began (after the settling) */
	uint64_t end;	     /* counter when it ended */
};

struct message_pong {
	uint64_t cookie;	  /* of the PING */
	uint64_t received;	  /* counter when the PING had come in */
	uint64_t sent;		  /* counter just before the PONG goes out */
	uint8_t state;		  /* enum message_state */
	struct message_done done; /* idle: all 0; armed, running: window only */
};

/* PROBED: window 0 series 1. CATALOGED: window 0 series 2. */
struct message_listed {
	uint32_t bytes;
	uint32_t crc; /* crc32c of the text */
};

struct message_arm {
	uint16_t window; /* 1 to 65535 */
	uint8_t bench;	 /* the catalogue's decimal number */
	uint8_t load;	 /* enum message_load */
	uint32_t n;	 /* samples */
	uint32_t period_us;
	uint16_t settle_ms;   /* GO to the start of the window */
	uint32_t duration_ms; /* for benches that last, 0 = the bench's default */
	uint32_t seed;
	uint8_t flags;
};

struct message_armed {
	uint16_t window;
	uint32_t estimate_ms; /* GO to DONE, settling included */
};

/* GO, RELEASE and RELEASED. */
struct message_window {
	uint16_t window;
};

struct message_read {
	uint16_t window;
	uint16_t series;
	uint32_t offset;
	uint32_t length; /* 1 to MESSAGE_READ_MAX, inside the series */
};

struct message_data {
	uint16_t window;
	uint16_t series;
	uint32_t offset;
	uint16_t size;	      /* 1 to MESSAGE_DATA_MAX */
	const uint8_t *bytes; /* decoded: points into the body */
};

struct message_error {
	int16_t code; /* enum wire_error */
	uint8_t type; /* of the frame that is answered */
	uint32_t detail;
	char text[MESSAGE_TEXT_SIZE];
};

struct message_baud {
	uint32_t baud;	     /* the rate wanted; 0 = nothing changes, only tell */
	uint16_t confirm_ms; /* so long after the switch the target waits for a frame */
	uint16_t idle_ms;    /* and so long for each one after */
};

struct message_bauded {
	uint32_t baud;	  /* the rate after this answer */
	uint32_t console; /* the rate at which the agent began */
	uint32_t base;	  /* rates are base / 1, base / 2, ...; 0 = any */
};

struct message {
	uint8_t type; /* enum message_type; says which member is meant */
	union {
		struct message_hello hello;
		struct message_session session;
		struct message_ping ping;
		struct message_pong pong;
		struct message_listed probed;
		struct message_listed cataloged;
		struct message_arm arm;
		struct message_armed armed;
		struct message_window go;
		struct message_done done;
		struct message_read read;
		struct message_data data;
		struct message_window release;
		struct message_window released;
		struct message_error error;
		struct message_baud baud;
		struct message_bauded bauded;
	};
};

/*
 * Writes the body and returns its length. WIRE_ERROR_NO_ROOM when capacity is
 * too small, WIRE_ERROR_UNKNOWN_TYPE for a type without a row,
 * WIRE_ERROR_BAD_RANGE when DATA.size is 0 or more than MESSAGE_DATA_MAX.
 * A string without a NUL inside its array is cut at the array's last byte.
 */
int message_encode(const struct message *message, uint8_t *body, size_t capacity);

/*
 * Reads a body. 0, or WIRE_ERROR_UNKNOWN_TYPE, or WIRE_ERROR_BAD_MESSAGE when
 * it is too short, a string or DATA is longer than its limit or than the
 * body, or a string has a NUL or another control character inside. Bytes
 * after the last known field are ignored: that is how messages grow.
 * message is all zeros with the type set whenever the result is not 0.
 */
int message_decode(uint8_t type, const uint8_t *body, size_t size, struct message *message);

/*
 * Encodes message into a whole frame: body and wire are the caller's work
 * buffers. Returns the length on the wire or an error of message_encode() or
 * frame_encode().
 */
int message_encode_frame(const struct message *message, uint8_t seq, uint32_t session,
	uint8_t *body, size_t body_capacity, uint8_t *wire, size_t wire_capacity);

/* Whether both ask for the same window with the same parameters. */
bool message_arm_is_equal(const struct message_arm *a, const struct message_arm *b);

/* The name of a type as PROTOCOL.md writes it ("HELLO"), or NULL. */
const char *message_type_name(uint8_t type);

/* "idle", "armed", "running", "done", or "unknown". */
const char *message_state_name(uint8_t state);

#endif
