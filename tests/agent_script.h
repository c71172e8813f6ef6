/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An agent without any system: its port reads a script of host bytes, keeps
 * what it writes as decoded frames, and lets a test choose every lateness.
 * One static instance of a few MB; check runs each case in a process of its own.
 */
#ifndef TESTS_AGENT_SCRIPT_H
#define TESTS_AGENT_SCRIPT_H

#include "agents/core/agent.h"
#include "protocol/frame.h"

#define SCRIPT_CHUNKS_MAX  512
#define SCRIPT_ANSWERS_MAX 2048
#define SCRIPT_NONCE	   0x1badb002u

struct script_chunk {
	size_t begin;
	size_t end;
	bool at_once; /* there already while the agent still answers */
};

struct script_answer {
	uint8_t seq;
	uint32_t session;
	struct message message;
	uint8_t data[FRAME_BODY_MAX]; /* of DATA; message.data.bytes points here */
};

struct script {
	struct agent_port port; /* first */
	uint8_t host[65536];
	size_t host_size;
	struct script_chunk chunks[SCRIPT_CHUNKS_MAX];
	size_t chunk_count;
	size_t chunk_at;
	uint8_t seq; /* of the last request */

	struct script_answer answers[SCRIPT_ANSWERS_MAX];
	size_t answer_count;
	struct frame_reader reader;
	uint8_t reader_chunk[FRAME_CHUNK_SIZE(FRAME_BODY_MAX)];
	size_t text_bytes; /* written outside frames */
	size_t run_writes; /* writes while a window ran: must stay 0 */
	bool window_is_open;
	bool is_quiet;
	size_t loud_windows; /* windows that began without quiet(true) */
	size_t quiet_dones;  /* DONE that went out before quiet(false) */

	const int64_t *lateness; /* of wait_until, cyclic; NULL: 0 */
	size_t lateness_count;
	size_t waits;
	uint64_t now; /* what the sleeping clock says, counts */
	uint32_t probes;
	uint32_t begins;
	uint8_t arena[2 * 1024 * 1024];
};

extern struct script script;

/* Start anew. */
void script_reset(void);

/* A request with a fresh seq (or the last one again) in the nonce's session. */
void script_send(const struct message *message);
void script_repeat(const struct message *message);
void script_send_as(const struct message *message, uint8_t seq, uint32_t session);
/* Bytes as they are. */
void script_send_bytes(const void *bytes, size_t size);
/* The last chunk is already waiting when the agent looks without patience. */
void script_hurry(void);

/* Requests that need only a few fields. */
void script_session(void);
void script_ping(uint64_t cookie);
void script_simple(uint8_t type);
void script_arm(uint16_t window, uint8_t bench, uint32_t n);
void script_go(uint16_t window);
void script_release(uint16_t window);
void script_read(uint16_t window, uint16_t series, uint32_t offset, uint32_t length);

/* Run the agent over the script; the console is gone at its end. */
enum agent_end script_run(void);

/* The answer at that place, which must be of that type. */
const struct script_answer *script_answer(size_t index, uint8_t type);
/* The answer at that place is an ERROR with that code and detail. */
void script_expect_error(size_t index, int code, uint32_t detail);

/* All DATA of a window's series put together; the size, at most `capacity`. */
size_t script_collect(uint16_t window, uint16_t series, uint8_t *bytes, size_t capacity);

#endif
