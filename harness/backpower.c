/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/backpower.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "boardctl/monotonic.h"

#define ENOUGH	 16 /* an open line and a contact's spark make some bytes */
#define QUOTED	 60
#define DECAY_MS 300 /* capacitors, and what adapters still hold */

struct heard {
	unsigned count;
	char quote[QUOTED + 1];
};

static void hear(struct heard *heard, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] < ' ' || bytes[i] > '~')
			continue;
		if (heard->count < QUOTED)
			heard->quote[heard->count] = (char)bytes[i];
		heard->count++;
	}
}

/* Bytes of that time to heard (NULL: to nobody). */
static int listen_for(struct board *board, unsigned ms, struct heard *heard)
{
	uint64_t end_ms = monotonic_get_ms() + ms, now_ms;
	uint8_t bytes[512];

	while ((now_ms = monotonic_get_ms()) < end_ms) {
		ssize_t got = link_read(
			board->console, bytes, sizeof(bytes), (unsigned)(end_ms - now_ms));

		if (got < 0)
			return (int)got;
		if (heard)
			hear(heard, bytes, (size_t)got);
	}
	return 0;
}

int backpower_check(struct board *board, unsigned listen_ms, char *text, size_t size)
{
	struct heard heard = {0};
	int rc = link_flush(board->console);

	text[0] = '\0';
	if (rc == 0)
		rc = listen_for(board, DECAY_MS, NULL);
	if (rc == 0)
		rc = listen_for(board, listen_ms, &heard);
	if (rc != 0 || heard.count < ENOUGH)
		return rc;
	snprintf(text, size,
		"BACKPOWER: the board is switched off and still talks (\"%s\"): the contact is not in "
		"its supply, or it lives on its UART or a USB socket; cut the + line, leave the "
		"adapter's VCC open",
		heard.quote);
	return -EISCONN;
}
