/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's side of the protocol (PROTOCOL.md) over any byte link, in the
 * link's own time, so that tests run in simulated time.
 *
 * Every function that takes a peer returns 0 (or what it says) or a negative
 * errno; peer_error() has the text. The same errno always means the same:
 *
 *	-ETIMEDOUT        nothing came back, all tries used
 *	-EBADMSG          only garbage or damaged frames came back
 *	-EREMOTEIO        the target answered ERROR; peer_target_error() has the code
 *	-ECONNRESET       the agent has restarted (an unasked HELLO, or no-session)
 *	-ESTALE           the agent has a session with another nonce
 *	-EPROTONOSUPPORT  another major version
 *	-EPROTO           the target contradicts itself (lengths, offsets, CRC)
 *	-EMSGSIZE         the target announces more than the host accepts
 *	-ECANCELED        a callback said stop
 *	-ECOMM            a raised rate does not work; the line is as it was
 *	other             from the link (-EIO, -ENODEV, ...)
 *
 * After -ECONNRESET every call but peer_init(), peer_poll(),
 * peer_wait_hello() and peer_open_session() fails the same way: what was armed
 * or measured is gone.
 *
 * One thread at a time may use one peer. Callbacks run inside its calls and
 * must not call back into it. Nothing here prints; nothing is static.
 */
#ifndef HARNESS_PEER_H
#define HARNESS_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocol/frame.h"
#include "protocol/message.h"
#include "protocol/series.h"

#define PEER_SILENCE_KEPT 1024 /* bytes of a broken silence that are kept */
#define PEER_HOLES_MAX	  256
#define PEER_SERIES_MAX	  (64u << 20)  /* bytes of one series that a host accepts */
#define PEER_WINDOW_MAX	  (128u << 20) /* bytes of the values of all series of a window */
#define PEER_TEXT_MAX	  (256u << 10) /* bytes of facts or catalogue */

struct peer_link {
	void *context;
	/*
	 * Waits at most timeout_ms for a first byte and returns what is there:
	 * 1 to capacity, 0 when nothing came in time, or a negative errno.
	 */
	ssize_t (*read)(void *context, uint8_t *bytes, size_t capacity, int timeout_ms);
	/* Writes everything: 0 or a negative errno. */
	int (*write)(void *context, const uint8_t *bytes, size_t size);
	/* A monotonic clock. */
	uint64_t (*now_us)(void *context);
	/* Another rate of this end, 0 or a negative errno.  NULL: it has only one. */
	int (*set_baud)(void *context, uint32_t baud);
	/*
	 * Lets time pass while much is still to come, so that a byte need not be
	 * read as soon as it is there.  NULL: none passes.
	 */
	void (*rest)(void *context, uint32_t us);
};

/* Both may be NULL. What they are given is valid during the call only. */
struct peer_events {
	void *context;
	/* Bytes that belong to no frame; when_us is when the first of them came. */
	void (*text)(void *context, uint64_t when_us, const uint8_t *text, size_t size);
	/* Valid frames that answer no request: HELLO, DONE, late answers. */
	void (*frame)(void *context, uint64_t when_us, const struct frame *frame);
};

/* 0 in any field takes the default. */
struct peer_config {
	uint32_t baud;	     /* default 115200 */
	uint32_t latency_ms; /* of the adapter and of the target's scheduler, default 50 */
	uint32_t work_ms;    /* what a target may need for PROBE, CATALOG or ARM, default 2000 */
	uint32_t tries;	     /* of one request, default 5 */
	uint32_t quiet_ms;   /* what counts as a quiet line, default 200 */
};

/* One PING: the target's counter bracketed by the host's clock. */
struct peer_exchange {
	uint64_t host_sent_us;	   /* just before the request was written */
	uint64_t host_received_us; /* when the answer, or its first byte, had been read */
	uint32_t out_us;	   /* the least time that PING's bytes took on the line */
	uint32_t back_us;	   /* and what had come of PONG by then */
	struct message_pong pong;
};

/* Bytes that came between GO and the first byte of DONE. */
struct peer_silence {
	uint64_t bytes; /* all of them, 00 included; 0 = silence was kept */
	uint64_t first_us;
	uint64_t last_us; /* of the last one, or of a damaged DONE behind it */
	size_t kept;	  /* the first ones are in content */
	uint8_t content[PEER_SILENCE_KEPT];
};

struct peer_window {
	struct message_done done;
	uint64_t go_us;		  /* when GO had been written */
	uint64_t done_us;	  /* when DONE's first byte came; 0 when DONE was lost */
	bool is_resolved_by_ping; /* DONE was lost: taken from PONG */
	bool is_disturbed;	  /* the host had to send before the window had ended */
	struct peer_silence silence;
};

/*
 * What is still missing of one series. It stays valid after an error, so that
 * a pull can be resumed, also in a new session of the host with the same
 * nonce. buffer is the caller's, size bytes, kept until the pull is over.
 */
struct peer_hole {
	uint32_t offset;
	uint32_t length;
};

struct peer_transfer {
	uint16_t window;
	uint16_t series;
	uint32_t size;
	uint32_t crc; /* crc32c of the whole */
	uint8_t *buffer;
	uint32_t missing; /* bytes */
	uint32_t range;	  /* of the next READ: halves under loss, grows back */
	size_t holes_count;
	struct peer_hole holes[PEER_HOLES_MAX];
	/* Optional, before peer_pull(): done of size bytes are there; not 0 = stop. */
	int (*progress)(void *context, uint32_t done, uint32_t size);
	void *progress_context;
};

struct peer_statistics {
	struct frame_counters frames;
	uint64_t bytes_sent;
	uint64_t bytes_received;
	uint32_t requests;
	uint32_t retries; /* requests and ranges asked again */
	uint32_t stray_frames;
};

struct peer {
	/* All private; ask with the functions below. */
	struct peer_link link;
	struct peer_events events;
	struct peer_config config;
	struct frame_reader reader;
	uint8_t chunk[FRAME_CHUNK_SIZE(FRAME_BODY_MAX)];
	uint8_t input[4096];
	size_t input_used;
	size_t input_size;
	uint64_t input_us;     /* when input was read */
	uint64_t chunk_us;     /* when the first byte held back came */
	uint64_t last_byte_us; /* when anything came last */
	uint32_t rest_us;      /* before each read; 0 = none */
	uint32_t nonce;
	uint32_t console_baud; /* of this end while the line is raised; 0 = it is not */
	uint8_t seq;
	uint8_t go_seq;
	uint16_t go_window;
	bool is_open;
	bool is_reset;
	bool has_hello;	     /* an unasked HELLO came and nobody has asked for it */
	bool is_going;	     /* GO is out and neither DONE nor PONG has ended it */
	bool is_hushed;	     /* going, and the host has not sent: what comes is recorded */
	bool is_done;	     /* DONE has come: it is in current */
	size_t done_wire;    /* bytes of the last DONE on the wire */
	size_t frozen_bytes; /* of an open chunk, recorded when the host broke the silence */
	uint64_t frozen_us;  /* when that was; 0 = not yet */
	uint64_t mark_bytes; /* silence before the chunk that is being read */
	uint64_t mark_us;
	struct peer_window current;
	struct message_hello hello;
	struct message_error target_error;
	struct peer_statistics statistics;
	char error[256];
};

/*
 * Uses the caller's storage, sends nothing. link, events (may be NULL) and
 * config (may be NULL) are copied.
 */
void peer_init(struct peer *peer, const struct peer_link *link, const struct peer_events *events,
	const struct peer_config *config);

/* The text of the last error; "" when there was none. Valid until the next call. */
const char *peer_error(const struct peer *peer);

/* After -EREMOTEIO: what the target answered. */
const struct message_error *peer_target_error(const struct peer *peer);

/* Counters since peer_init(). */
void peer_get_statistics(const struct peer *peer, struct peer_statistics *statistics);

/*
 * Pumps the line for timeout_ms: text and unasked frames go to the callbacks.
 * Returns the number of bytes that came. -ECONNRESET when the agent
 * announces itself in an open session.
 */
int peer_poll(struct peer *peer, int timeout_ms);

/*
 * Pumps until the agent announces itself: 1 and *hello for a HELLO, 0 when
 * only a 00 byte told of it (the HELLO was damaged) and the line then was
 * quiet for quiet_ms; -ETIMEDOUT otherwise. Sends nothing. Call it as soon as
 * the loader has handed over: a 00 from before the call does not count (power-on
 * garbage has some), a whole HELLO does.
 */
int peer_wait_hello(struct peer *peer, int timeout_ms, struct message_hello *hello);

/* Pumps until nothing has come for quiet_ms; -EBUSY when that takes over timeout_ms. */
int peer_wait_quiet(struct peer *peer, int timeout_ms);

/*
 * SESSION: gives the agent this nonce (not 0) and fetches its HELLO. An agent
 * with another session gives it up, with its window. Call it after
 * peer_wait_hello() only: a boot loader takes frames as typing.
 */
int peer_open_session(struct peer *peer, uint32_t nonce, struct message_hello *hello);

/*
 * After a crash of the host: one PING with the nonce of the job. 0 and the
 * agent's state when it is still the same session; -ECONNRESET or -ESTALE
 * when it is not.
 */
int peer_resume_session(struct peer *peer, uint32_t nonce, struct message_pong *pong);

/* PING. The exchange is the one of the try that was answered. */
int peer_ping(struct peer *peer, struct peer_exchange *exchange);

/* The same with a cookie of the caller's: eight bytes that come back as they went. */
int peer_echo(struct peer *peer, uint64_t cookie, struct peer_exchange *exchange);

/*
 * PROBE / CATALOG and the text behind them. *text is NUL-terminated, *size
 * without that NUL; the caller frees it. NULL and 0 on error.
 */
int peer_probe(struct peer *peer, char **text, size_t *size);
int peer_catalog(struct peer *peer, char **text, size_t *size);

/* ARM. *estimate_ms: from GO to DONE. */
int peer_arm(struct peer *peer, const struct message_arm *arm, uint32_t *estimate_ms);

/*
 * Waits until the line is quiet (-EBUSY after timeout_ms), then sends GO, once.
 * From here on every byte before DONE is a breach of silence.
 */
int peer_go(struct peer *peer, uint16_t window, int timeout_ms);

/*
 * Waits for the DONE of the window of peer_go() and sends nothing until
 * deadline_ms after GO; then a PING decides:
 * 0 = the window is done (a status below 0 in done is the target's verdict on
 * the benchmark, not an error of this call); -EAGAIN = GO never arrived, the
 * window is still armed: peer_go() again. -ETIMEDOUT: no DONE, no PONG.
 * *window is filled on every path with what is known.
 */
int peer_wait_done(struct peer *peer, uint32_t deadline_ms, struct peer_window *window);

/* -EMSGSIZE when size is more than PEER_SERIES_MAX. size 0 is complete at once. */
int peer_transfer_init(struct peer_transfer *transfer, uint16_t window, uint16_t series,
	uint32_t size, uint32_t crc, uint8_t *buffer);

/*
 * Reads what is missing. 0 when all is there and the CRC of the whole fits;
 * -EPROTO when it does not fit after a second complete pull. Can be called
 * again after any error that is not -EPROTO or -ECONNRESET.
 */
int peer_pull(struct peer *peer, struct peer_transfer *transfer);

/*
 * The index of a window that is done: *entries is allocated, *count of them;
 * the caller frees it. NULL and 0 on error. Ids are unique, sizes within
 * PEER_SERIES_MAX, values together within PEER_WINDOW_MAX: coded ones may take
 * a thousand times less on the line.
 */
int peer_pull_index(struct peer *peer, const struct message_done *done,
	struct series_entry **entries, size_t *count);

/* ---------------------------------------------------------- a faster line */

#define PEER_RATES_MAX 16

/* BAUD, asking only: what the target's UART can do.  -EREMOTEIO when its rate is fixed. */
int peer_query_rates(struct peer *peer, struct message_bauded *rates);

/*
 * The rates worth trying, fastest first: those that the UART makes exactly, at
 * most max_baud, at least 3/2 of the console's.  Their number.
 */
size_t peer_list_rates(
	const struct message_bauded *rates, uint32_t max_baud, uint32_t list[PEER_RATES_MAX]);

/*
 * Both ends to this rate, confirmed by a PING.  -ECOMM: it does not work, and
 * the line is at the console's rate again with the session alive.  Any other
 * error: the session could not be reached at either rate.  While the line is
 * raised only peer_ping(), peer_pull(), peer_prove_rate() and peer_lower() work.
 * -ENOTSUP: the link has only one rate.
 */
int peer_raise(struct peer *peer, uint32_t baud);

/*
 * On a raised line: the target's 64 KiB test pattern must come without one
 * damaged byte, and PINGs of full length must all arrive.  -EBADMSG when not.
 */
int peer_prove_rate(struct peer *peer);

/*
 * Back to the console's rate: by BAUD, or, where that is not heard, by the
 * silence after which both ends go back alone.  0 when the session is alive;
 * nothing happens when the line is not raised.
 */
int peer_lower(struct peer *peer);

bool peer_is_raised(const struct peer *peer);

/* RELEASE: the window's data are given up. */
int peer_release(struct peer *peer, uint16_t window);

/* QUIT: the agent leaves, the console is the system's again. */
int peer_quit(struct peer *peer);

#endif
