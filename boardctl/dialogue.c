/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/dialogue.h"

#include <errno.h>
#include <string.h>

#include "boardctl/monotonic.h"

/* Less than a 16550's FIFO, so that a polling loader loses nothing. */
#define PIECE_SIZE   8u
#define CANCEL_KEY   "\x03"
#define CANCEL_TRIES 8u /* so long may a busy board be deaf */
#define QUIET_MS     50u
#define QUIET_TRIES  20u

void dialogue_forget(struct dialogue *d)
{
	d->used = 0;
	d->text[0] = '\0';
}

static void append(struct dialogue *d, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] == '\r')
			continue;
		if (d->used == DIALOGUE_TEXT_SIZE - 1) {
			/* Ends matter more than beginnings. */
			d->used = DIALOGUE_TEXT_SIZE / 2;
			memmove(d->text, d->text + DIALOGUE_TEXT_SIZE / 2 - 1, d->used);
		}
		d->text[d->used++] = bytes[i] ? bytes[i] : '?';
	}
	d->text[d->used] = '\0';
}

static int check_reset(struct dialogue *d)
{
	const struct watcher_verdict *verdict = watcher_verdict(d->watcher);

	if (d->watcher->resets == d->resets_before &&
		verdict->cause != WATCHER_CAUSE_LOADER_CRASH &&
		verdict->cause != WATCHER_CAUSE_LOADER_HALTED)
		return 0;
	return fail_format(d->error, sizeof(d->error), -ECONNRESET,
		"%s while the loader was spoken to: line %u: %s",
		watcher_cause_name(verdict->cause), verdict->line, verdict->text);
}

int dialogue_receive(struct dialogue *d, unsigned wait_ms, size_t limit)
{
	char bytes[512];
	ssize_t got =
		link_read(d->link, bytes, limit < sizeof(bytes) ? limit : sizeof(bytes), wait_ms);
	int ret;

	if (got < 0)
		return fail_format(d->error, sizeof(d->error), (int)got, "%s", link_error(d->link));
	if (!got)
		return 0;
	watcher_feed(d->watcher, monotonic_get_ms(), bytes, (size_t)got);
	append(d, bytes, (size_t)got);
	ret = check_reset(d);
	return ret ? ret : 1;
}

int dialogue_send(struct dialogue *d, const void *bytes, size_t size)
{
	int ret = link_write(d->link, bytes, size);

	return ret ? fail_format(d->error, sizeof(d->error), ret, "%s", link_error(d->link)) : 0;
}

bool dialogue_is_at_prompt(const struct dialogue *d)
{
	size_t size = strlen(d->config.prompt);

	if (d->used < size || strcmp(d->text + d->used - size, d->config.prompt))
		return false;
	return d->used == size || d->text[d->used - size - 1] == '\n';
}

/* Until the line is quiet. A board that never is isn't waited for. */
static int settle(struct dialogue *d)
{
	int ret = 1;

	for (unsigned i = 0; ret > 0 && i < QUIET_TRIES; i++)
		ret = dialogue_receive(d, QUIET_MS, SIZE_MAX);
	return ret < 0 ? ret : 0;
}

int dialogue_cancel(struct dialogue *d)
{
	for (unsigned i = 0; i < CANCEL_TRIES; i++) {
		uint64_t deadline_us;
		int ret = settle(d);

		dialogue_forget(d);
		if (!ret)
			ret = dialogue_send(d, CANCEL_KEY, strlen(CANCEL_KEY));
		deadline_us = monotonic_get_us() + d->config.echo_ms * UINT64_C(1000);
		while (ret >= 0 && monotonic_get_us() < deadline_us) {
			ret = dialogue_receive(d, QUIET_MS, SIZE_MAX);
			if (!ret && dialogue_is_at_prompt(d))
				return 0;
		}
		if (ret < 0)
			return ret;
	}
	return fail_format(d->error, sizeof(d->error), -ETIMEDOUT,
		"the loader does not come back to its prompt \"%s\" after Ctrl-C; last line: "
		"\"%.80s\"",
		d->config.prompt, d->watcher->last);
}

static int wait_echo(struct dialogue *d, size_t mark, const char *piece, size_t size)
{
	uint64_t deadline_us = monotonic_get_us() + d->config.echo_ms * UINT64_C(1000);
	int ret;

	for (;;) {
		size_t have = d->used - mark < size ? d->used - mark : size;
		uint64_t now_us = monotonic_get_us();

		if (memcmp(d->text + mark, piece, have) || d->used - mark > size)
			return fail_format(d->error, sizeof(d->error), -EPROTO,
				"typed \"%.*s\" and the loader's echo is \"%.40s\"", (int)size,
				piece, d->text + mark);
		if (have == size)
			return 0;
		if (now_us >= deadline_us)
			return fail_format(d->error, sizeof(d->error), -EPROTO,
				"typed \"%.*s\" and got only the echo \"%.40s\" within %u ms",
				(int)size, piece, d->text + mark, d->config.echo_ms);
		ret = dialogue_receive(
			d, (unsigned)((deadline_us - now_us) / 1000u) + 1u, SIZE_MAX);
		if (ret < 0)
			return ret;
	}
}

int dialogue_type(struct dialogue *d, const char *line)
{
	size_t left = strlen(line);

	dialogue_forget(d);
	while (left) {
		size_t size = left < PIECE_SIZE ? left : PIECE_SIZE;
		size_t mark = d->used;
		int ret = dialogue_send(d, line, size);

		if (!ret)
			ret = wait_echo(d, mark, line, size);
		if (ret)
			return ret;
		line += size;
		left -= size;
	}
	return 0;
}

int dialogue_enter(struct dialogue *d)
{
	uint64_t deadline_us = monotonic_get_us() + d->config.echo_ms * UINT64_C(1000);
	uint64_t now_us;
	int ret;

	dialogue_forget(d);
	ret = dialogue_send(d, "\r", 1);
	while (!ret && (now_us = monotonic_get_us()) < deadline_us) {
		ret = dialogue_receive(d, (unsigned)((deadline_us - now_us) / 1000u) + 1u, 1);
		if (ret < 0)
			return ret;
		ret = 0;
		if (d->used)
			break;
	}
	if (ret)
		return ret;
	if (d->text[0] == '\n') {
		dialogue_forget(d);
		return 0;
	}
	return fail_format(d->error, sizeof(d->error), -EPROTO,
		"the loader did not begin a new line after CR: \"%.40s\"", d->text);
}
