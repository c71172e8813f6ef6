/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_TELNET_H
#define BOARDCTL_TELNET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The client's side of telnet (RFC 854, 855, 856) with the com port option (RFC
 * 2217): bytes only, no socket. What comes is split into data and into answers
 * of the com port; what is to be sent is put into a buffer of the caller.
 */
enum {
	TELNET_BINARY = 0,
	TELNET_ECHO = 1,
	TELNET_GO_AHEAD = 3, /* its suppression */
	TELNET_COM_PORT = 44,
};

/* RFC 2217, 3: from the client; the server's answers are 100 more. */
enum telnet_com_port {
	TELNET_SET_BAUDRATE = 1,
	TELNET_SET_DATASIZE = 2,
	TELNET_SET_PARITY = 3,
	TELNET_SET_STOPSIZE = 4,
	TELNET_SET_CONTROL = 5,
	TELNET_SET_LINESTATE_MASK = 10,
	TELNET_SET_MODEMSTATE_MASK = 11,
	TELNET_PURGE_DATA = 12,
	TELNET_ANSWER = 100,
};

#define TELNET_OPTIONS	 256
#define TELNET_SUB_MAX	 32
#define TELNET_REPLY_MAX 512

struct telnet {
	enum {
		TELNET_STATE_DATA,
		TELNET_STATE_IAC,
		TELNET_STATE_OPTION,
		TELNET_STATE_SUB,
		TELNET_STATE_SUB_IAC,
	} state;
	uint8_t verb; /* that awaits its option */
	uint8_t sub[TELNET_SUB_MAX];
	size_t sub_size;		 /* may be more than fits: then it is dropped */
	uint8_t will[TELNET_OPTIONS];	 /* of this end: enum telnet_side */
	uint8_t does[TELNET_OPTIONS];	 /* of the other end */
	uint8_t reply[TELNET_REPLY_MAX]; /* what must be sent; take it, set reply_size to 0 */
	size_t reply_size;
	/* The last answer to each command that came, and how many. */
	uint32_t answers[16];
	unsigned answer_count[16];
	bool is_suspended; /* the server's buffer is full: FLOWCONTROL-SUSPEND */
};

enum telnet_side {
	TELNET_SIDE_NO,
	TELNET_SIDE_ASKED,
	TELNET_SIDE_YES,
	TELNET_SIDE_REFUSED,
};

/* Asks for the com port, for 8 bits both ways and for no go-ahead, in `reply`. */
void telnet_init(struct telnet *telnet);

/*
 * Takes bytes[size] and leaves the data among them in data[size]; how many
 * these are. data may be bytes.
 */
size_t telnet_feed(struct telnet *telnet, const uint8_t *bytes, size_t size, uint8_t *data);

/* Data as it goes over the line: out has room for 2 * size. Its length. */
size_t telnet_escape(const uint8_t *data, size_t size, uint8_t *out);

/* A command of the com port with a value of 1 or 4 bytes: at most 16 bytes in out. Its length. */
size_t telnet_com_port(
	enum telnet_com_port command, uint32_t value, size_t value_size, uint8_t *out);

#endif
