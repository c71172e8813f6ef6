/* SPDX-License-Identifier: Apache-2.0 */
#include "protocol/message.h"

#include "protocol/memory.h"

enum field_kind {
	FIELD_NUMBER, /* width bytes, little-endian */
	FIELD_STRING, /* u8 length, then that many; width is the array's size */
	FIELD_BYTES,  /* u16 length, then that many: DATA */
};

struct field {
	uint8_t kind;
	uint8_t width;
	uint8_t offset; /* in struct message */
};

struct layout {
	const char *name;
	const struct field *fields;
	size_t count;
};

#define FIELD(kind, member)                                                                        \
	{                                                                                          \
		(kind), sizeof(((struct message *)0)->member), offsetof(struct message, member)    \
	}
#define NUMBER(member) FIELD(FIELD_NUMBER, member)
#define STRING(member) FIELD(FIELD_STRING, member)
#define LAYOUT(name, fields)                                                                       \
	{                                                                                          \
		(name), (fields), sizeof(fields) / sizeof((fields)[0])                             \
	}

static const struct field hello_fields[] = {
	NUMBER(hello.proto_major),
	NUMBER(hello.proto_minor),
	NUMBER(hello.max_body),
	NUMBER(hello.state),
	NUMBER(hello.uptime),
	NUMBER(hello.counter_hz),
	STRING(hello.system),
	STRING(hello.version),
};

static const struct field session_fields[] = {
	NUMBER(session.proto_major),
	NUMBER(session.proto_minor),
	NUMBER(session.nonce),
};

static const struct field ping_fields[] = {
	NUMBER(ping.cookie),
};

static const struct field pong_fields[] = {
	NUMBER(pong.cookie),
	NUMBER(pong.received),
	NUMBER(pong.sent),
	NUMBER(pong.state),
	NUMBER(pong.done.window),
	NUMBER(pong.done.status),
	NUMBER(pong.done.index_size),
	NUMBER(pong.done.index_crc),
	NUMBER(pong.done.start),
	NUMBER(pong.done.end),
};

static const struct field listed_fields[] = {
	NUMBER(probed.bytes),
	NUMBER(probed.crc),
};

static const struct field arm_fields[] = {
	NUMBER(arm.window),
	NUMBER(arm.bench),
	NUMBER(arm.load),
	NUMBER(arm.n),
	NUMBER(arm.period_us),
	NUMBER(arm.settle_ms),
	NUMBER(arm.duration_ms),
	NUMBER(arm.seed),
	NUMBER(arm.flags),
};

static const struct field armed_fields[] = {
	NUMBER(armed.window),
	NUMBER(armed.estimate_ms),
};

static const struct field window_fields[] = {
	NUMBER(go.window),
};

static const struct field done_fields[] = {
	NUMBER(done.window),
	NUMBER(done.status),
	NUMBER(done.index_size),
	NUMBER(done.index_crc),
	NUMBER(done.start),
	NUMBER(done.end),
};

static const struct field read_fields[] = {
	NUMBER(read.window),
	NUMBER(read.series),
	NUMBER(read.offset),
	NUMBER(read.length),
};

static const struct field data_fields[] = {
	NUMBER(data.window),
	NUMBER(data.series),
	NUMBER(data.offset),
	FIELD(FIELD_BYTES, data.size),
};

static const struct field error_fields[] = {
	NUMBER(error.code),
	NUMBER(error.type),
	NUMBER(error.detail),
	STRING(error.text),
};

static const struct field baud_fields[] = {
	NUMBER(baud.baud),
	NUMBER(baud.confirm_ms),
	NUMBER(baud.idle_ms),
};

static const struct field bauded_fields[] = {
	NUMBER(bauded.baud),
	NUMBER(bauded.console),
	NUMBER(bauded.base),
};

static const struct layout layouts[] = {
	[MESSAGE_HELLO] = LAYOUT("HELLO", hello_fields),
	[MESSAGE_SESSION] = LAYOUT("SESSION", session_fields),
	[MESSAGE_PING] = LAYOUT("PING", ping_fields),
	[MESSAGE_PONG] = LAYOUT("PONG", pong_fields),
	[MESSAGE_PROBE] = {"PROBE", NULL, 0},
	[MESSAGE_PROBED] = LAYOUT("PROBED", listed_fields),
	[MESSAGE_CATALOG] = {"CATALOG", NULL, 0},
	[MESSAGE_CATALOGED] = LAYOUT("CATALOGED", listed_fields),
	[MESSAGE_ARM] = LAYOUT("ARM", arm_fields),
	[MESSAGE_ARMED] = LAYOUT("ARMED", armed_fields),
	[MESSAGE_GO] = LAYOUT("GO", window_fields),
	[MESSAGE_DONE] = LAYOUT("DONE", done_fields),
	[MESSAGE_READ] = LAYOUT("READ", read_fields),
	[MESSAGE_DATA] = LAYOUT("DATA", data_fields),
	[MESSAGE_RELEASE] = LAYOUT("RELEASE", window_fields),
	[MESSAGE_RELEASED] = LAYOUT("RELEASED", window_fields),
	[MESSAGE_QUIT] = {"QUIT", NULL, 0},
	[MESSAGE_BYE] = {"BYE", NULL, 0},
	[MESSAGE_ERROR] = LAYOUT("ERROR", error_fields),
	[MESSAGE_BAUD] = LAYOUT("BAUD", baud_fields),
	[MESSAGE_BAUDED] = LAYOUT("BAUDED", bauded_fields),
};

static const struct layout *find_layout(uint8_t type)
{
	if (type >= sizeof(layouts) / sizeof(layouts[0]) || layouts[type].name == NULL)
		return NULL;
	return &layouts[type];
}

/* ------------------------------------------------------------ encoding */

struct writer {
	uint8_t *bytes;
	size_t capacity;
	size_t used;
	bool is_short_of_room;
};

static void put_byte(struct writer *writer, uint8_t byte)
{
	if (writer->used == writer->capacity)
		writer->is_short_of_room = true;
	else
		writer->bytes[writer->used++] = byte;
}

static void put_number(struct writer *writer, uint64_t value, size_t width)
{
	for (size_t i = 0; i < width; i++)
		put_byte(writer, (uint8_t)(value >> 8 * i));
}

static bool is_control(uint8_t byte)
{
	return byte < 0x20 || byte == 0x7f;
}

static void put_string(struct writer *writer, const char *string, size_t array_size)
{
	size_t length = 0;

	while (length < array_size - 1 && string[length] != '\0')
		length++;
	put_byte(writer, (uint8_t)length);
	for (size_t i = 0; i < length; i++) {
		uint8_t byte = (uint8_t)string[i];

		/* What this side sends, the other must be able to read. */
		put_byte(writer, is_control(byte) ? '?' : byte);
	}
}

/* The members are integers of the machine's own byte order. */
static uint64_t load_number(const void *member, size_t width)
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

static void store_number(void *member, size_t width, uint64_t value)
{
	uint32_t u32 = (uint32_t)value;
	uint16_t u16 = (uint16_t)value;

	switch (width) {
	case 1:
		*(uint8_t *)member = (uint8_t)value;
		break;
	case 2:
		memcpy(member, &u16, sizeof(u16));
		break;
	case 4:
		memcpy(member, &u32, sizeof(u32));
		break;
	default:
		memcpy(member, &value, sizeof(value));
		break;
	}
}

int message_encode(const struct message *message, uint8_t *body, size_t capacity)
{
	const struct layout *layout = find_layout(message->type);
	struct writer writer = {.bytes = body, .capacity = capacity};

	if (!layout)
		return WIRE_ERROR_UNKNOWN_TYPE;
	for (size_t i = 0; i < layout->count; i++) {
		const struct field *field = &layout->fields[i];
		const uint8_t *member = (const uint8_t *)message + field->offset;

		if (field->kind == FIELD_STRING) {
			put_string(&writer, (const char *)member, field->width);
			continue;
		}
		put_number(&writer, load_number(member, field->width), field->width);
		if (field->kind != FIELD_BYTES)
			continue;
		if (message->data.size == 0 || message->data.size > MESSAGE_DATA_MAX)
			return WIRE_ERROR_BAD_RANGE;
		if (message->data.size > writer.capacity - writer.used)
			return WIRE_ERROR_NO_ROOM;
		memcpy(writer.bytes + writer.used, message->data.bytes, message->data.size);
		writer.used += message->data.size;
	}
	return writer.is_short_of_room ? WIRE_ERROR_NO_ROOM : (int)writer.used;
}

int message_encode_frame(const struct message *message, uint8_t seq, uint32_t session,
	uint8_t *body, size_t body_capacity, uint8_t *wire, size_t wire_capacity)
{
	struct frame frame = {.type = message->type, .seq = seq, .session = session, .body = body};
	int size = message_encode(message, body, body_capacity);

	if (size < 0)
		return size;
	frame.size = (size_t)size;
	return frame_encode(&frame, wire, wire_capacity);
}

/* ------------------------------------------------------------ decoding */

struct reader {
	const uint8_t *bytes;
	size_t size;
	size_t at;
};

static bool get_number(struct reader *reader, size_t width, uint64_t *value)
{
	*value = 0;
	if (width > reader->size - reader->at)
		return false;
	for (size_t i = 0; i < width; i++)
		*value |= (uint64_t)reader->bytes[reader->at++] << 8 * i;
	return true;
}

static bool get_string(struct reader *reader, char *string, size_t array_size)
{
	uint64_t length;

	if (!get_number(reader, 1, &length) || length > array_size - 1 ||
		length > reader->size - reader->at)
		return false;
	for (size_t i = 0; i < length; i++) {
		uint8_t byte = reader->bytes[reader->at++];

		if (is_control(byte))
			return false;
		string[i] = (char)byte;
	}
	string[length] = '\0';
	return true;
}

static bool get_bytes(struct reader *reader, struct message_data *data)
{
	uint64_t size;

	if (!get_number(reader, 2, &size) || size == 0 || size > MESSAGE_DATA_MAX ||
		size > reader->size - reader->at)
		return false;
	data->size = (uint16_t)size;
	data->bytes = reader->bytes + reader->at;
	reader->at += size;
	return true;
}

static bool get_field(struct reader *reader, const struct field *field, struct message *message)
{
	uint8_t *member = (uint8_t *)message + field->offset;
	uint64_t value;

	switch (field->kind) {
	case FIELD_STRING:
		return get_string(reader, (char *)member, field->width);
	case FIELD_BYTES:
		return get_bytes(reader, &message->data);
	default:
		if (!get_number(reader, field->width, &value))
			return false;
		store_number(member, field->width, value);
		return true;
	}
}

int message_decode(uint8_t type, const uint8_t *body, size_t size, struct message *message)
{
	const struct layout *layout = find_layout(type);
	struct reader reader = {.bytes = body, .size = size};

	memset(message, 0, sizeof(*message));
	message->type = type;
	if (!layout)
		return WIRE_ERROR_UNKNOWN_TYPE;
	for (size_t i = 0; i < layout->count; i++) {
		if (!get_field(&reader, &layout->fields[i], message)) {
			memset(message, 0, sizeof(*message));
			message->type = type;
			return WIRE_ERROR_BAD_MESSAGE;
		}
	}
	return 0;
}

/* --------------------------------------------------------------- names */

bool message_arm_is_equal(const struct message_arm *a, const struct message_arm *b)
{
	return a->window == b->window && a->bench == b->bench && a->load == b->load &&
	       a->n == b->n && a->period_us == b->period_us && a->settle_ms == b->settle_ms &&
	       a->duration_ms == b->duration_ms && a->seed == b->seed && a->flags == b->flags;
}

const char *message_type_name(uint8_t type)
{
	const struct layout *layout = find_layout(type);

	return layout ? layout->name : NULL;
}

const char *message_state_name(uint8_t state)
{
	static const char *const names[] = {"idle", "armed", "running", "done"};

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "unknown";
}
