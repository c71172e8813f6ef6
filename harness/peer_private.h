/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the peer share. For nobody else: use harness/peer.h. */
#ifndef HARNESS_PEER_PRIVATE_H
#define HARNESS_PEER_PRIVATE_H

#include "harness/peer.h"

/* A frame as it came; valid until the next call. */
struct peer_arrival {
	struct frame frame;
	uint64_t first_us; /* when its first byte came */
	uint64_t last_us;  /* when its last byte had been read */
};

/* One request with its answer. */
struct peer_request {
	struct message request;
	uint8_t answer_type;
	size_t answer_body; /* bytes of the longest expected answer */
	uint32_t work_ms;   /* what the target needs before it answers */
	uint32_t tries;	    /* 0 = as configured */
	size_t padding;	    /* bytes behind the request's body, which nobody reads */
	struct message answer;
	uint64_t sent_us;		/* of the last try */
	uint64_t began_us, received_us; /* first and last byte of the answer */
};

int peer_fail(struct peer *peer, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

uint64_t peer_now_us(const struct peer *peer);

/*
 * Pumps the line until a frame comes: 1; or until deadline_us: 0; or a
 * negative errno of the link. Text goes to the callback.
 */
int peer_next_frame(struct peer *peer, uint64_t deadline_us, struct peer_arrival *arrival);

/* For a frame that nobody waits for: notes HELLO and DONE, tells the callback. */
void peer_note_frame(struct peer *peer, const struct peer_arrival *arrival);

/* 0 when a session is open and the agent was not reset. */
int peer_check_open(struct peer *peer);

/* A fresh seq and the frame on its way; *seq tells which. */
int peer_send(struct peer *peer, const struct message *message, uint32_t session, uint8_t *seq);

/* The time for size bytes on the line, and the time until an answer is late. */
uint64_t peer_line_us(const struct peer *peer, size_t size);
uint64_t peer_timeout_us(const struct peer *peer, size_t request_body, size_t answer_body);

/* Maps an ERROR to an errno, its text to peer_error(). */
int peer_take_error(struct peer *peer, const struct frame *frame);

/* Sends and waits, with retries; the answer's type and body are checked. */
int peer_ask(struct peer *peer, struct peer_request *ask);

/* Pumps for that long and sends nothing. */
int peer_pause(struct peer *peer, uint32_t ms);

/* Damaged chunks so far. */
uint64_t peer_get_damage(const struct peer *peer);

#endif
