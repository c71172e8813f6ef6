/* SPDX-License-Identifier: Apache-2.0 */
#include "protocol/wire_error.h"

const char *wire_error_name(int code)
{
	static const char *const names[] = {
		"ok",
		"no-session",
		"wrong-session",
		"bad-message",
		"unknown-type",
		"unknown-bench",
		"unsupported",
		"busy",
		"bad-state",
		"bad-range",
		"no-memory",
		"version",
		"failed",
		"no-room",
	};

	if (code > 0 || code < WIRE_ERROR_NO_ROOM)
		return "unknown";
	return names[-code];
}
