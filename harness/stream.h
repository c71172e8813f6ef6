/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last bytes of something that grows, for readers that come and go: each
 * reader has its own place, counted from the first byte there ever was.  The
 * writer never waits; a reader that falls behind what is kept is told so.
 * Memory only; one thread.
 */
#ifndef SAMEBOARD_HARNESS_STREAM_H
#define SAMEBOARD_HARNESS_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define STREAM_LIMIT (1024 * 1024) /* bytes that are kept */

struct stream {
	char *data;
	size_t size, room;
	uint64_t start; /* place of the first byte that is kept */
	bool is_ended;
};

void stream_fini(struct stream *stream);

/* Place behind the last byte. */
uint64_t stream_end(const struct stream *stream);

/* Without memory, or when size is over STREAM_LIMIT, the bytes are skipped: readers see a gap. */
void stream_append(struct stream *stream, const void *data, size_t size);

/* Forgets what is kept; places go on. */
void stream_clear(struct stream *stream);

/*
 * Copies what is there from *at on and moves it: a count; 0 when there is
 * nothing yet; -ENODATA when nothing will come any more; -ESTALE when the
 * reader was too slow.
 */
ssize_t stream_read(const struct stream *stream, uint64_t *at, char *buffer, size_t size);

#endif
