/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Error codes of the wire and of everything that runs on a target: negative,
 * with values pinned here and in PROTOCOL.md. They travel in ERROR.code and
 * DONE.status; functions of protocol/ return them too.
 */
#ifndef PROTOCOL_WIRE_ERROR_H
#define PROTOCOL_WIRE_ERROR_H

enum wire_error {
	WIRE_OK = 0,
	WIRE_ERROR_NO_SESSION = -1,    /* the agent (re)started and has no nonce yet */
	WIRE_ERROR_WRONG_SESSION = -2, /* the frame carries another nonce */
	WIRE_ERROR_BAD_MESSAGE = -3,   /* too short, or a length inside it lies */
	WIRE_ERROR_UNKNOWN_TYPE = -4,
	WIRE_ERROR_UNKNOWN_BENCH = -5, /* not in the catalogue */
	WIRE_ERROR_UNSUPPORTED = -6,   /* in the catalogue, not on this system */
	WIRE_ERROR_BUSY = -7,
	WIRE_ERROR_BAD_STATE = -8,  /* not allowed in this state; detail = the state */
	WIRE_ERROR_BAD_RANGE = -9,  /* window, series, offset or a parameter out of range */
	WIRE_ERROR_NO_MEMORY = -10, /* N is too large; detail = the largest N, 0 = unknown */
	WIRE_ERROR_VERSION = -11,   /* major differs; detail = major << 8 | minor */
	WIRE_ERROR_FAILED = -12,    /* the operation itself failed on the target */
	WIRE_ERROR_NO_ROOM = -13,   /* local: the caller's buffer is too small */
};

/*
 * The name of a code as PROTOCOL.md writes it ("no-session"), "ok" for 0 and
 * "unknown" for anything else. A static string.
 */
const char *wire_error_name(int code);

#endif
