/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/telnet.h"

#include <string.h>

enum {
	SE = 240,
	SB = 250,
	WILL = 251,
	WONT = 252,
	DO = 253,
	DONT = 254,
	IAC = 255,
};

enum {
	FLOW_SUSPEND = 8,
	FLOW_RESUME = 9,
};

static void reply(struct telnet *telnet, uint8_t verb, uint8_t option)
{
	if (telnet->reply_size + 3 > sizeof(telnet->reply))
		return; /* a peer that asks without end gets no answers */
	telnet->reply[telnet->reply_size++] = IAC;
	telnet->reply[telnet->reply_size++] = verb;
	telnet->reply[telnet->reply_size++] = option;
}

static void ask(struct telnet *telnet, uint8_t verb, uint8_t option)
{
	(verb == WILL ? telnet->will : telnet->does)[option] = TELNET_SIDE_ASKED;
	reply(telnet, verb, option);
}

void telnet_init(struct telnet *telnet)
{
	memset(telnet, 0, sizeof(*telnet));
	ask(telnet, WILL, TELNET_COM_PORT);
	ask(telnet, WILL, TELNET_BINARY);
	ask(telnet, DO, TELNET_BINARY);
	ask(telnet, WILL, TELNET_GO_AHEAD);
	ask(telnet, DO, TELNET_GO_AHEAD);
}

static bool is_wanted(uint8_t option)
{
	return option == TELNET_BINARY || option == TELNET_GO_AHEAD || option == TELNET_COM_PORT;
}

/* Only a change is answered, or two ends would agree for ever (RFC 854). */
static void agree(struct telnet *telnet, uint8_t option)
{
	bool is_own = telnet->verb == DO || telnet->verb == DONT;
	bool is_yes = telnet->verb == DO || telnet->verb == WILL;
	uint8_t *side = is_own ? &telnet->will[option] : &telnet->does[option];
	uint8_t before = *side;

	/* A server may echo what the board echoes anyway; it then says so. */
	if (is_yes && !is_wanted(option) && !(option == TELNET_ECHO && !is_own)) {
		if (before != TELNET_SIDE_REFUSED)
			reply(telnet, is_own ? WONT : DONT, option);
		*side = TELNET_SIDE_REFUSED;
		return;
	}
	*side = is_yes ? TELNET_SIDE_YES : TELNET_SIDE_REFUSED;
	if (is_yes && (before == TELNET_SIDE_NO || before == TELNET_SIDE_REFUSED))
		reply(telnet, is_own ? WILL : DO, option);
	else if (!is_yes && before == TELNET_SIDE_YES)
		reply(telnet, is_own ? WONT : DONT, option);
}

static void take_sub(struct telnet *telnet)
{
	const uint8_t *sub = telnet->sub;
	size_t size = telnet->sub_size;
	unsigned command;
	uint32_t value = 0;

	if (size < 2 || size > sizeof(telnet->sub) || sub[0] != TELNET_COM_PORT ||
		sub[1] < TELNET_ANSWER)
		return;
	command = sub[1] - TELNET_ANSWER;
	if (command == FLOW_SUSPEND || command == FLOW_RESUME)
		telnet->is_suspended = command == FLOW_SUSPEND;
	if (command >= sizeof(telnet->answers) / sizeof(telnet->answers[0]))
		return;
	for (size_t i = 2; i < size && i < 6; i++)
		value = value << 8 | sub[i];
	telnet->answers[command] = value;
	telnet->answer_count[command]++;
}

static void take_sub_byte(struct telnet *telnet, uint8_t byte)
{
	if (telnet->sub_size < sizeof(telnet->sub))
		telnet->sub[telnet->sub_size] = byte;
	if (telnet->sub_size <= sizeof(telnet->sub))
		telnet->sub_size++;
}

static void take_command(struct telnet *telnet, uint8_t byte)
{
	telnet->state = TELNET_STATE_DATA;
	if (byte >= WILL && byte <= DONT) {
		telnet->verb = byte;
		telnet->state = TELNET_STATE_OPTION;
	} else if (byte == SB) {
		telnet->sub_size = 0;
		telnet->state = TELNET_STATE_SUB;
	}
}

static bool take_byte(struct telnet *telnet, uint8_t byte)
{
	switch (telnet->state) {
	case TELNET_STATE_DATA:
		if (byte != IAC)
			return true;
		telnet->state = TELNET_STATE_IAC;
		break;
	case TELNET_STATE_IAC:
		if (byte == IAC) {
			telnet->state = TELNET_STATE_DATA;
			return true;
		}
		take_command(telnet, byte);
		break;
	case TELNET_STATE_OPTION:
		telnet->state = TELNET_STATE_DATA;
		agree(telnet, byte);
		break;
	case TELNET_STATE_SUB:
		if (byte == IAC)
			telnet->state = TELNET_STATE_SUB_IAC;
		else
			take_sub_byte(telnet, byte);
		break;
	case TELNET_STATE_SUB_IAC:
		telnet->state = TELNET_STATE_SUB;
		if (byte == IAC) {
			take_sub_byte(telnet, byte);
		} else {
			telnet->state = TELNET_STATE_DATA;
			if (byte == SE)
				take_sub(telnet);
		}
		break;
	}
	return false;
}

size_t telnet_feed(struct telnet *telnet, const uint8_t *bytes, size_t size, uint8_t *data)
{
	size_t used = 0;

	for (size_t i = 0; i < size; i++) {
		uint8_t byte = bytes[i];

		if (take_byte(telnet, byte))
			data[used++] = byte;
	}
	return used;
}

size_t telnet_escape(const uint8_t *data, size_t size, uint8_t *out)
{
	size_t used = 0;

	for (size_t i = 0; i < size; i++) {
		out[used++] = data[i];
		if (data[i] == IAC)
			out[used++] = IAC;
	}
	return used;
}

size_t telnet_com_port(
	enum telnet_com_port command, uint32_t value, size_t value_size, uint8_t *out)
{
	size_t used = 0;

	out[used++] = IAC;
	out[used++] = SB;
	out[used++] = TELNET_COM_PORT;
	out[used++] = (uint8_t)command;
	for (size_t i = value_size; i-- > 0;) {
		uint8_t byte = (uint8_t)(value >> (8 * i));

		used += telnet_escape(&byte, 1, out + used);
	}
	out[used++] = IAC;
	out[used++] = SE;
	return used;
}
