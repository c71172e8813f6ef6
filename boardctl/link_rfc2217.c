/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boardctl/drivers.h"
#include "boardctl/monotonic.h"
#include "boardctl/net.h"
#include "boardctl/telnet.h"

#define CONNECT_MS 5000u
#define ANSWER_MS  2000u
#define STUCK_MS   5000u
#define CHUNK	   2048u

/* Values of SET-CONTROL (RFC 2217). */
enum {
	CONTROL_NO_FLOW = 1,
	CONTROL_BREAK_ON = 5,
	CONTROL_BREAK_OFF = 6,
	CONTROL_DTR_ON = 8,
	CONTROL_DTR_OFF = 9,
	CONTROL_RTS_ON = 11,
	CONTROL_RTS_OFF = 12,
};

#define PURGE_RECEIVED 1u

/* A serial port behind a server that speaks RFC 2217 (ser2net and others). */
struct link_rfc2217 {
	struct link base;
	int fd;
	struct telnet telnet;
	uint8_t waiting[CHUNK]; /* data that came while an answer was awaited */
	size_t waiting_size;
};

static struct link_rfc2217 *port_of(struct link *link)
{
	return (struct link_rfc2217 *)link;
}

static int say(struct link *link, int ret, const char *what)
{
	return fail_format(link->error, sizeof(link->error), ret, "cannot %s %s: %s", what,
		link->path,
		ret == -ENODEV ? "the connection is gone (the server ended it, or the network did)"
			       : strerror(-ret));
}

static int send_bytes(struct link *link, const uint8_t *bytes, size_t size)
{
	int ret = net_write(port_of(link)->fd, bytes, size, STUCK_MS);

	return ret ? say(link, ret, "write to") : 0;
}

static int send_replies(struct link *link)
{
	struct telnet *telnet = &port_of(link)->telnet;
	size_t size = telnet->reply_size;

	telnet->reply_size = 0;
	return size ? send_bytes(link, telnet->reply, size) : 0;
}

/* One read from the socket; how many bytes of data that were, 0 also for none. */
static ssize_t receive(struct link *link, uint8_t *data, size_t size, unsigned timeout_ms)
{
	struct link_rfc2217 *port = port_of(link);
	ssize_t got = net_read(port->fd, data, size, timeout_ms);
	int ret;

	if (got < 0)
		return say(link, (int)got, "read from");
	if (!got)
		return 0;
	got = (ssize_t)telnet_feed(&port->telnet, data, (size_t)got, data);
	ret = send_replies(link);
	return ret ? ret : got;
}

/* Data that comes meanwhile is kept, as far as there is room. */
static int wait_for(
	struct link *link, bool (*is_done)(const struct link *link, unsigned what), unsigned what)
{
	struct link_rfc2217 *port = port_of(link);
	uint64_t deadline_us = monotonic_get_us() + ANSWER_MS * 1000u;

	while (!is_done(link, what)) {
		uint8_t rest[CHUNK];
		size_t room = sizeof(port->waiting) - port->waiting_size;
		uint64_t now_us = monotonic_get_us();
		ssize_t got;

		if (now_us >= deadline_us)
			return -ETIMEDOUT;
		got = receive(link, room ? port->waiting + port->waiting_size : rest,
			room ? room : sizeof(rest), (unsigned)((deadline_us - now_us) / 1000u) + 1);
		if (got < 0)
			return (int)got;
		if (room)
			port->waiting_size += (size_t)got;
	}
	return 0;
}

static bool is_decided(const struct link *link, unsigned what)
{
	const struct telnet *telnet = &((const struct link_rfc2217 *)link)->telnet;

	(void)what;
	return telnet->will[TELNET_COM_PORT] != TELNET_SIDE_ASKED &&
	       telnet->will[TELNET_BINARY] != TELNET_SIDE_ASKED &&
	       telnet->does[TELNET_BINARY] != TELNET_SIDE_ASKED;
}

static bool is_free_to_send(const struct link *link, unsigned what)
{
	(void)what;
	return !((const struct link_rfc2217 *)link)->telnet.is_suspended;
}

static bool is_answered(const struct link *link, unsigned what)
{
	return ((const struct link_rfc2217 *)link)->telnet.answer_count[what] != 0;
}

static int negotiate(struct link *link)
{
	struct telnet *telnet = &port_of(link)->telnet;
	int ret;

	telnet_init(telnet);
	ret = send_replies(link);
	if (!ret)
		ret = wait_for(link, is_decided, 0);
	if (ret == -ETIMEDOUT || (!ret && telnet->will[TELNET_COM_PORT] != TELNET_SIDE_YES))
		return fail_format(link->error, sizeof(link->error), -EPROTO,
			"the server at %s %s the com port option of RFC 2217; let it offer that "
			"(ser2net: `telnet(rfc2217)`), or use the tcp driver",
			link->path, ret ? "does not answer to" : "refuses");
	if (!ret && (telnet->will[TELNET_BINARY] != TELNET_SIDE_YES ||
			    telnet->does[TELNET_BINARY] != TELNET_SIDE_YES))
		return fail_format(link->error, sizeof(link->error), -EPROTO,
			"the server at %s refuses 8-bit data (telnet's binary option)", link->path);
	return ret;
}

static int command(struct link *link, enum telnet_com_port what, uint32_t value, size_t size)
{
	uint8_t bytes[16];

	port_of(link)->telnet.answer_count[what] = 0;
	return send_bytes(link, bytes, telnet_com_port(what, value, size, bytes));
}

/* Send and wait for the server's answer, which says what the port has then. */
static int set_value(
	struct link *link, enum telnet_com_port what, uint32_t value, size_t size, const char *noun)
{
	int ret = command(link, what, value, size);
	uint32_t answer;

	if (!ret)
		ret = wait_for(link, is_answered, what);
	if (ret == -ETIMEDOUT)
		return fail_format(link->error, sizeof(link->error), ret,
			"the server at %s did not answer within %u ms to a change of the %s",
			link->path, ANSWER_MS, noun);
	if (ret)
		return ret;
	answer = port_of(link)->telnet.answers[what];
	/* A divisor makes 115384 of 115200. */
	if (what == TELNET_SET_BAUDRATE
			? answer / 40 < (answer > value ? answer - value : value - answer)
			: answer != value)
		return fail_format(link->error, sizeof(link->error), -EINVAL,
			"the server at %s was told a %s of %" PRIu32 " and has %" PRIu32,
			link->path, noun, value, answer);
	return 0;
}

static int set_up(struct link *link)
{
	static const struct {
		enum telnet_com_port what;
		uint32_t value;
		const char *noun;
	} frame[] = {
		{TELNET_SET_DATASIZE, 8, "data size"},
		{TELNET_SET_PARITY, 1, "parity"},
		{TELNET_SET_STOPSIZE, 1, "stop size"},
	};
	int ret = negotiate(link);

	if (!ret)
		ret = set_value(link, TELNET_SET_BAUDRATE, link->baud, 4, "rate");
	for (size_t i = 0; !ret && i < sizeof(frame) / sizeof(frame[0]); i++)
		ret = set_value(link, frame[i].what, frame[i].value, 1, frame[i].noun);
	/* Many servers cannot do these on every port, and say nothing. */
	if (!ret)
		ret = command(link, TELNET_SET_CONTROL, CONTROL_NO_FLOW, 1);
	if (!ret)
		ret = command(link, TELNET_SET_CONTROL,
			link->config.dtr ? CONTROL_DTR_ON : CONTROL_DTR_OFF, 1);
	if (!ret)
		ret = command(link, TELNET_SET_CONTROL,
			link->config.rts ? CONTROL_RTS_ON : CONTROL_RTS_OFF, 1);
	if (!ret)
		ret = command(link, TELNET_SET_LINESTATE_MASK, 0, 1);
	if (!ret)
		ret = command(link, TELNET_SET_MODEMSTATE_MASK, 0, 1);
	port_of(link)->waiting_size = 0;
	return ret;
}

static int rfc2217_open(struct link *link)
{
	struct link_rfc2217 *port = port_of(link);
	int ret = net_connect(link->config.address, CONNECT_MS, link->error, sizeof(link->error));

	if (ret < 0)
		return ret;
	port->fd = ret;
	port->waiting_size = 0;
	ret = set_up(link);
	if (ret)
		close(port->fd);
	return ret;
}

static void rfc2217_close(struct link *link)
{
	close(port_of(link)->fd);
}

static ssize_t rfc2217_read(struct link *link, void *buffer, size_t size, unsigned timeout_ms)
{
	struct link_rfc2217 *port = port_of(link);
	uint64_t deadline_us = monotonic_get_us() + (uint64_t)timeout_ms * 1000u;
	size_t take = port->waiting_size < size ? port->waiting_size : size;

	if (take) {
		memcpy(buffer, port->waiting, take);
		port->waiting_size -= take;
		memmove(port->waiting, port->waiting + take, port->waiting_size);
		return (ssize_t)take;
	}
	for (;;) {
		uint64_t now_us = monotonic_get_us();
		uint64_t left_us = now_us < deadline_us ? deadline_us - now_us : 0;
		ssize_t got = receive(link, buffer, size, (unsigned)((left_us + 999u) / 1000u));

		/* What came may have been no data. */
		if (got || !left_us)
			return got;
	}
}

static int rfc2217_write(struct link *link, const void *data, size_t size)
{
	const uint8_t *bytes = data;
	uint8_t escaped[2 * CHUNK];
	int ret = 0;

	while (!ret && size) {
		size_t piece = size < CHUNK ? size : CHUNK;

		ret = wait_for(link, is_free_to_send, 0);
		if (ret == -ETIMEDOUT)
			return say(link, ret, "write to");
		if (!ret)
			ret = send_bytes(link, escaped, telnet_escape(bytes, piece, escaped));
		bytes += piece;
		size -= piece;
	}
	return ret;
}

static int rfc2217_drain(struct link *link)
{
	int ret = net_drain(port_of(link)->fd, STUCK_MS);

	return ret ? say(link, ret, "drain") : 0;
}

static int rfc2217_set_baud(struct link *link, uint32_t baud)
{
	return set_value(link, TELNET_SET_BAUDRATE, baud, 4, "rate");
}

static int rfc2217_flush(struct link *link)
{
	struct link_rfc2217 *port = port_of(link);
	int ret = command(link, TELNET_PURGE_DATA, PURGE_RECEIVED, 1);
	uint8_t rest[CHUNK];
	ssize_t got = 0;

	/* Once it has answered, what it held is gone; some never answer. */
	if (!ret)
		ret = wait_for(link, is_answered, TELNET_PURGE_DATA);
	if (ret && ret != -ETIMEDOUT)
		return ret;
	port->waiting_size = 0;
	while ((got = receive(link, rest, sizeof(rest), 0)) > 0)
		;
	return (int)got;
}

static int rfc2217_set_break(struct link *link, bool on)
{
	return command(link, TELNET_SET_CONTROL, on ? CONTROL_BREAK_ON : CONTROL_BREAK_OFF, 1);
}

static int rfc2217_resolve(
	const struct link_config *config, char *path, size_t size, char *error, size_t error_size)
{
	return link_tcp_driver.resolve(config, path, size, error, error_size);
}

const struct link_driver link_rfc2217_driver = {
	.name = "rfc2217",
	.instance_size = sizeof(struct link_rfc2217),
	.place = LINK_PLACE_ADDRESS,
	.resolve = rfc2217_resolve,
	.open = rfc2217_open,
	.close = rfc2217_close,
	.read = rfc2217_read,
	.write = rfc2217_write,
	.drain = rfc2217_drain,
	.set_baud = rfc2217_set_baud,
	.flush = rfc2217_flush,
	.set_break = rfc2217_set_break,
};
