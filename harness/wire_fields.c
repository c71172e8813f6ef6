/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of messages by name, as PROTOCOL.md writes them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "harness/wire_decode.h"

enum form {
	FORM_DECIMAL,
	FORM_HEX,
	FORM_STRING,
	FORM_STATE,
	FORM_CODE, /* of an error, 0 = ok */
	FORM_TYPE, /* of a message */
};

struct named {
	uint8_t type;
	uint8_t form;
	uint8_t width;
	uint8_t offset; /* in struct message */
	const char *name;
};

#define FIELD(type, form, member, name)                                                            \
	{                                                                                          \
		MESSAGE_##type, FORM_##form, sizeof(((struct message *)0)->member),                \
			offsetof(struct message, member), name                                     \
	}
#define DONE_FIELDS(type, member)                                                                  \
	FIELD(type, DECIMAL, member.window, "window"), FIELD(type, CODE, member.status, "status"), \
		FIELD(type, DECIMAL, member.index_size, "index_size"),                             \
		FIELD(type, HEX, member.index_crc, "index_crc"),                                   \
		FIELD(type, DECIMAL, member.start, "start"),                                       \
		FIELD(type, DECIMAL, member.end, "end")

static const struct named fields[] = {
	FIELD(HELLO, DECIMAL, hello.proto_major, "major"),
	FIELD(HELLO, DECIMAL, hello.proto_minor, "minor"),
	FIELD(HELLO, DECIMAL, hello.max_body, "max_body"),
	FIELD(HELLO, STATE, hello.state, "state"),
	FIELD(HELLO, DECIMAL, hello.uptime, "uptime"),
	FIELD(HELLO, DECIMAL, hello.counter_hz, "counter_hz"),
	FIELD(HELLO, STRING, hello.system, "system"),
	FIELD(HELLO, STRING, hello.version, "version"),
	FIELD(SESSION, DECIMAL, session.proto_major, "major"),
	FIELD(SESSION, DECIMAL, session.proto_minor, "minor"),
	FIELD(SESSION, HEX, session.nonce, "nonce"),
	FIELD(PING, HEX, ping.cookie, "cookie"),
	FIELD(PONG, HEX, pong.cookie, "cookie"),
	FIELD(PONG, DECIMAL, pong.received, "received"),
	FIELD(PONG, DECIMAL, pong.sent, "sent"),
	FIELD(PONG, STATE, pong.state, "state"),
	DONE_FIELDS(PONG, pong.done),
	FIELD(PROBED, DECIMAL, probed.bytes, "bytes"),
	FIELD(PROBED, HEX, probed.crc, "crc"),
	FIELD(CATALOGED, DECIMAL, cataloged.bytes, "bytes"),
	FIELD(CATALOGED, HEX, cataloged.crc, "crc"),
	FIELD(ARM, DECIMAL, arm.window, "window"),
	FIELD(ARM, DECIMAL, arm.bench, "bench"),
	FIELD(ARM, DECIMAL, arm.load, "load"),
	FIELD(ARM, DECIMAL, arm.n, "n"),
	FIELD(ARM, DECIMAL, arm.period_us, "period_us"),
	FIELD(ARM, DECIMAL, arm.settle_ms, "settle_ms"),
	FIELD(ARM, DECIMAL, arm.duration_ms, "duration_ms"),
	FIELD(ARM, HEX, arm.seed, "seed"),
	FIELD(ARM, DECIMAL, arm.flags, "flags"),
	FIELD(ARMED, DECIMAL, armed.window, "window"),
	FIELD(ARMED, DECIMAL, armed.estimate_ms, "estimate_ms"),
	FIELD(GO, DECIMAL, go.window, "window"),
	DONE_FIELDS(DONE, done),
	FIELD(READ, DECIMAL, read.window, "window"),
	FIELD(READ, DECIMAL, read.series, "series"),
	FIELD(READ, DECIMAL, read.offset, "offset"),
	FIELD(READ, DECIMAL, read.length, "length"),
	FIELD(DATA, DECIMAL, data.window, "window"),
	FIELD(DATA, DECIMAL, data.series, "series"),
	FIELD(DATA, DECIMAL, data.offset, "offset"),
	FIELD(DATA, DECIMAL, data.size, "size"),
	FIELD(RELEASE, DECIMAL, release.window, "window"),
	FIELD(RELEASED, DECIMAL, released.window, "window"),
	FIELD(ERROR, CODE, error.code, "code"),
	FIELD(ERROR, TYPE, error.type, "type"),
	FIELD(ERROR, DECIMAL, error.detail, "detail"),
	FIELD(ERROR, STRING, error.text, "text"),
	FIELD(BAUD, DECIMAL, baud.baud, "baud"),
	FIELD(BAUD, DECIMAL, baud.confirm_ms, "confirm_ms"),
	FIELD(BAUD, DECIMAL, baud.idle_ms, "idle_ms"),
	FIELD(BAUDED, DECIMAL, bauded.baud, "baud"),
	FIELD(BAUDED, DECIMAL, bauded.console, "console"),
	FIELD(BAUDED, DECIMAL, bauded.base, "base"),
};

static uint64_t load(const void *member, size_t width)
{
	uint64_t u64;
	uint32_t u32;
	uint16_t u16;

	switch (width) {
	case 1:
		return *(const uint8_t *)member;
	case 2:
		memcpy(&u16, member, sizeof(u16));
		return u16;
	case 4:
		memcpy(&u32, member, sizeof(u32));
		return u32;
	default:
		memcpy(&u64, member, sizeof(u64));
		return u64;
	}
}

static void write_number(struct wire_field *field, const struct named *named)
{
	uint64_t number = field->number;
	const char *name;

	switch ((enum form)named->form) {
	case FORM_HEX:
		snprintf(field->text, sizeof(field->text), "%0*" PRIx64, named->width * 2, number);
		break;
	case FORM_STATE:
		snprintf(field->text, sizeof(field->text), "%s",
			message_state_name((uint8_t)number));
		break;
	case FORM_CODE:
		field->is_signed = true;
		field->number = (uint64_t)(int16_t)number;
		snprintf(field->text, sizeof(field->text), "%s", wire_error_name((int16_t)number));
		break;
	case FORM_TYPE:
		name = message_type_name((uint8_t)number);
		snprintf(field->text, sizeof(field->text), "%s", name ? name : "unknown");
		break;
	case FORM_STRING:
	case FORM_DECIMAL:
		snprintf(field->text, sizeof(field->text), "%" PRIu64, number);
		break;
	}
}

bool wire_decode_get_field(const struct message *message, size_t at, struct wire_field *field)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const struct named *named = &fields[i];
		const char *member = (const char *)message + named->offset;

		if (named->type != message->type || at-- > 0)
			continue;
		*field = (struct wire_field){.name = named->name};
		if (named->form == FORM_STRING) {
			snprintf(field->text, sizeof(field->text), "%.*s", (int)named->width,
				member);
			return true;
		}
		field->is_number = named->form != FORM_HEX;
		field->number = load(member, named->width);
		write_number(field, named);
		return true;
	}
	return false;
}
