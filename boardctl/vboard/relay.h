/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A two-channel LCUS relay on its own serial line, 9600 8N1: "A0 channel state sum" switches, a
 * single FF asks and is answered "CH1:ON \r\n" or "CH1:OFF\r\n" for each channel. Frames with a
 * wrong sum, channel or state are ignored without an answer, as the real one does.
 */
#ifndef VBOARD_RELAY_H
#define VBOARD_RELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "boardctl/vboard/line.h"
#include "boardctl/vboard/loop.h"

#define RELAY_CHANNELS 2

struct relay {
	struct line line;
	int device_fd;
	uint8_t frame[4];
	unsigned frame_used;
	bool is_on[RELAY_CHANNELS];
	struct loop_watch watch;
	/* A frame has switched the channel, which counts from 1; it may have been so before. */
	void (*switched)(void *context, unsigned channel, bool is_on);
	void *context;
};

/* Make the pty and the link to it, all channels off. 0 or a negative errno; close in any case. */
int relay_open(struct relay *relay, struct loop *loop, const char *link);
void relay_close(struct relay *relay);

#endif
