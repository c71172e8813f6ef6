/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/vboard/relay.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "boardctl/vboard/log.h"

#define RELAY_BAUD  9600
#define RELAY_HEAD  0xA0
#define RELAY_QUERY 0xFF

static const struct fault_plan relay_no_faults;

static void relay_answer(struct relay *relay)
{
	char answer[RELAY_CHANNELS * 16];
	int used = 0;

	for (unsigned i = 0; i < RELAY_CHANNELS; i++)
		used += snprintf(answer + used, sizeof(answer) - (size_t)used, "CH%u:%s\r\n", i + 1,
			relay->is_on[i] ? "ON " : "OFF");
	if (write(relay->device_fd, answer, (size_t)used) != used)
		log_event("relay: answer lost");
}

static void relay_switch(struct relay *relay)
{
	const uint8_t *frame = relay->frame;
	unsigned channel = frame[1];

	log_event("relay: channel %u %s", channel, frame[2] ? "on" : "off");
	relay->is_on[channel - 1] = frame[2] == 1;
	relay->switched(relay->context, channel, frame[2] == 1);
}

static bool relay_frame_is_good(const uint8_t *frame)
{
	return (uint8_t)(frame[0] + frame[1] + frame[2]) == frame[3] && frame[1] >= 1 &&
	       frame[1] <= RELAY_CHANNELS && frame[2] <= 1;
}

/* After a bad frame the next head may already be among its bytes. */
static void relay_skip_to_head(struct relay *relay)
{
	unsigned skip = 1;

	while (skip < relay->frame_used && relay->frame[skip] != RELAY_HEAD)
		skip++;
	relay->frame_used -= skip;
	memmove(relay->frame, relay->frame + skip, relay->frame_used);
}

static void relay_take(struct relay *relay, uint8_t byte)
{
	if (relay->frame_used == 0 && byte != RELAY_HEAD) {
		if (byte == RELAY_QUERY)
			relay_answer(relay);
		return;
	}
	relay->frame[relay->frame_used++] = byte;
	if (relay->frame_used < sizeof(relay->frame))
		return;
	if (relay_frame_is_good(relay->frame)) {
		relay->frame_used = 0;
		relay_switch(relay);
		return;
	}
	log_event("relay: ignored %02x %02x %02x %02x", relay->frame[0], relay->frame[1],
		relay->frame[2], relay->frame[3]);
	relay_skip_to_head(relay);
}

static void relay_ready(void *context, short revents)
{
	struct relay *relay = context;
	uint8_t bytes[64];
	ssize_t count = read(relay->device_fd, bytes, sizeof(bytes));

	(void)revents;
	for (ssize_t i = 0; i < count; i++)
		relay_take(relay, bytes[i]);
}

int relay_open(struct relay *relay, struct loop *loop, const char *link)
{
	struct line_end line_end, device_end;
	int result;

	relay->device_fd = -1;
	relay->frame_used = 0;
	memset(relay->is_on, 0, sizeof(relay->is_on));
	result = line_open(&relay->line, loop, "relay", link);
	if (result < 0)
		return result;
	result = line_make_socket(&line_end, &device_end);
	if (result < 0)
		return result;
	relay->device_fd = device_end.in_fd;
	line_attach(&relay->line, line_end, &device_end, &relay_no_faults, 0);
	line_set_device_baud(&relay->line, RELAY_BAUD);
	relay->watch = (struct loop_watch){relay->device_fd, POLLIN, relay_ready, relay};
	loop_add_watch(loop, &relay->watch);
	return 0;
}

void relay_close(struct relay *relay)
{
	if (!relay->line.name)
		return;
	line_close(&relay->line);
	if (relay->device_fd >= 0)
		close(relay->device_fd);
	relay->device_fd = -1;
	relay->watch.fd = -1;
}
