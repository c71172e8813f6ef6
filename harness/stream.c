/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void stream_fini(struct stream *stream)
{
	free(stream->data);
	*stream = (struct stream){0};
}

uint64_t stream_end(const struct stream *stream)
{
	return stream->start + stream->size;
}

static void drop(struct stream *stream, size_t count)
{
	memmove(stream->data, stream->data + count, stream->size - count);
	stream->size -= count;
	stream->start += count;
}

static bool make_room(struct stream *stream, size_t size)
{
	size_t room = stream->room ? stream->room : 4096;
	char *grown;

	/* A quarter more than needed, so that not every byte moves all the others. */
	if (stream->size + size > STREAM_LIMIT) {
		size_t excess = stream->size + size - STREAM_LIMIT + STREAM_LIMIT / 4;

		drop(stream, excess < stream->size ? excess : stream->size);
	}
	while (room < stream->size + size)
		room *= 2;
	if (room == stream->room)
		return true;
	grown = realloc(stream->data, room);
	if (!grown)
		return false;
	stream->data = grown;
	stream->room = room;
	return true;
}

void stream_append(struct stream *stream, const void *data, size_t size)
{
	if (size > STREAM_LIMIT || !make_room(stream, size)) {
		stream->start += stream->size + size;
		stream->size = 0;
		return;
	}
	memcpy(stream->data + stream->size, data, size);
	stream->size += size;
}

void stream_clear(struct stream *stream)
{
	stream->start += stream->size;
	stream->size = 0;
}

ssize_t stream_read(const struct stream *stream, uint64_t *at, char *buffer, size_t size)
{
	size_t offset, left;

	if (*at < stream->start || *at > stream_end(stream))
		return -ESTALE;
	offset = (size_t)(*at - stream->start);
	left = stream->size - offset;
	if (left == 0)
		return stream->is_ended ? -ENODATA : 0;
	if (size > left)
		size = left;
	memcpy(buffer, stream->data + offset, size);
	*at += size;
	return (ssize_t)size;
}
